"""Digests of the content of models and of rows: the same content has the same digest in every process.

The digest of a model is part of the key of a question, by which a recorded answer is found again. The digest
of the labels tells whether a ledger belongs to a holdout.
"""

from sklearn_ada.digest.canonical import Floats, Undigestible, canonical_digest
from sklearn_ada.digest.ids import id_hashes, part_of_each
from sklearn_ada.digest.rows import content_digest, labels_digest, rows_digest

__all__ = [
    "Floats",
    "Undigestible",
    "canonical_digest",
    "content_digest",
    "id_hashes",
    "labels_digest",
    "part_of_each",
    "rows_digest",
]
