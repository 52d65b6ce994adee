"""The transcript as a test: what was said, and how likely the code took it to be, excludes populations.

Universal inference compares a probability fixed in advance with the likelihood of what was seen. Here what
was seen is the whole conversation with a holdout, and the probability that of its code, so the price of an
answer itself takes the place of weights, of a horizon and of the size of a round. `theorem` has statement
and proof; `counts`, `ratio` and `exact_count` invert it for counts, ratios, and next to one exact count.
"""
