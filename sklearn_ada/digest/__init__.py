"""Digests of what models and rows hold: the same content has the same digest, in every process and session.

A digest stands for a model in the identity of a question, and for the rows of a holdout in its ledger's name.
"""

from sklearn_ada.digest.canonical import Floats, Undigestible, canonical_digest
from sklearn_ada.digest.rows import content_digest, rows_digest

__all__ = ["Floats", "Undigestible", "canonical_digest", "content_digest", "rows_digest"]
