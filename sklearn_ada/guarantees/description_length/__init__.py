"""Certificates by description length: what was said about the holdout bounds what can be exploited.

The *description length* of a conversation is the number of nats (``-ln`` of a probability) that a code, fixed
before each answer, needs for all that was revealed. `theorem` says what follows from it; `weights` and
`wealth` share the failure probability out among questions; `sealed` and `locked_candidates` say what keeps
the level of its asking; `shares` joins two theorems; `cell_width` and `planned_checks` plan before anything
is asked.
"""
