"""Tell whether training rows reappear in the holdout more often than chance allows.

An alarm at any shared row would tell an asker whether a given row is in the holdout, and would be false for
discrete data, where rows are equal by chance. So two tests ask whether a random split would share as many
rows, each at half of the probability of a false alarm.

*Twins.* Take the values that occur exactly twice in training and holdout together. In a random split each
copy is in either place by chance, which gives the law of how many pairs have one copy in each. Leaked rows
that were oversampled occur more than twice, so this test does not see them.

*Lone values*, those that the holdout has exactly once and the training rows have too. However many copies are
added to the training rows, the holdout's count of a value stays the same. Let each row be in the holdout
independently with probability f. A value that the data had m > 1 times and that is in
the holdout at all is there just once with probability ``m s^(m-1) / (1 + s + ... + s^(m-1))``, s = 1 - f: the
inverse of the mean of ``s^-i``, i < m, so at most ``2s / (1 + s)``, the probability for m = 2. So of T values
that are shared or repeated within the holdout, the number of lone ones is at most binomial,
``Bin(T, 2s / (1 + s))``. Training rows that were added make f look smaller, which makes the bound larger and
the test no less valid. A split has a fixed size: what has some probability if rows are placed independently
at f = k/N is at most ``sqrt(8 k (N - k) / N)`` times as probable given that k of N rows are in the holdout
(MacWilliams, Sloane 1977, Lemma 10.7).
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammaln, logsumexp

from sklearn_ada.data.labels import n_rows

FALSE_ALARM = 1e-9

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def is_leak(train_hashes: NDArray[np.uint64], holdout_hashes: NDArray[np.uint64]) -> bool:
    """Return whether far more rows are shared than a random split would share.

    The probability of a false alarm is at most 1e-9 for every exchangeable split. Leaked rows are found if
    there are about 35 or more and each occurs once on either side. If they were oversampled, it takes more:
    about 60 if there are as many training rows as holdout rows, 220 if there are four times as many, 480 if
    nine times.
    """
    pooled = np.concatenate([train_hashes, holdout_hashes])
    values, inverse, counts = np.unique(pooled, return_inverse=True, return_counts=True)
    in_holdout = np.bincount(inverse[len(train_hashes) :], minlength=len(values))
    twins = in_holdout[counts == 2]
    lone = int(((in_holdout == 1) & (counts > 1)).sum())
    touched = lone + int((in_holdout > 1).sum())
    probabilities = (
        math.exp(ln_tail_of_cross_pairs(len(twins), int(twins.sum()), int((twins == 1).sum()))),
        tail_of_lone_values(touched, lone, len(train_hashes), len(holdout_hashes)),
    )
    return min(probabilities) < FALSE_ALARM / len(probabilities)


def row_hashes(X: Any) -> NDArray[np.uint64]:
    """Return a 64-bit hash of the content of every row, the same in every process and container.

    Examples
    --------
    >>> hashes = row_hashes(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]]))
    >>> bool(hashes[0] == hashes[2]), bool(hashes[0] == hashes[1])
    (True, False)
    """
    total = np.zeros(n_rows(X), dtype=np.uint64)
    with np.errstate(over="ignore"):
        if hasattr(X, "tocsr"):
            matrix = X.tocsr()
            entries = _entries(matrix.data, matrix.indices)
            np.add.at(total, np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), entries)
            return total
        for j, column in enumerate(_columns(X)):
            total += _entries(column, np.array([j]))
    return total


def ln_tail_of_cross_pairs(pairs: int, members_in_holdout: int, cross: int) -> float:
    """Return ``ln P[C >= cross]`` for the number C of pairs with one member on each side.

    Given that ``members_in_holdout`` of the ``2 * pairs`` members, chosen at random, are in the
    holdout: ``P[C = c]`` is ``pairs! / (b! c! rest!) * 2^c / C(2 pairs, members)`` with b pairs inside.

    Examples
    --------
    >>> round(math.exp(ln_tail_of_cross_pairs(2, 2, 2)), 4)
    0.6667
    """
    most = min(members_in_holdout, 2 * pairs - members_in_holdout)
    c = np.arange(cross, most + 1)
    c = c[(members_in_holdout - c) % 2 == 0]
    if len(c) == 0:
        return -math.inf
    both = (members_in_holdout - c) // 2
    ln_ways = gammaln(pairs + 1) - gammaln(both + 1) - gammaln(c + 1) - gammaln(pairs - both - c + 1)
    ln_all = gammaln(2 * pairs + 1) - gammaln(members_in_holdout + 1)
    ln_all -= gammaln(2 * pairs - members_in_holdout + 1)
    return float(logsumexp(ln_ways + c * math.log(2.0)) - ln_all)


def tail_of_lone_values(touched: int, lone: int, n_train: int, n_holdout: int) -> float:
    """Return a bound, at most 1, on the probability of so many lone values (see the module) or more.

    ``touched`` is T, the number of values that are shared or repeated within the holdout.

    Examples
    --------
    >>> tail_of_lone_values(100, 60, 1000, 1000)
    1.0
    >>> tail_of_lone_values(100, 100, 1000, 1000) < 1e-15
    True
    """
    if lone == 0:
        return 1.0
    in_training = n_train / (n_train + n_holdout)
    tail = betainc(lone, touched - lone + 1.0, 2.0 * in_training / (1.0 + in_training))
    return min(1.0, float(tail) * math.sqrt(8.0 * n_holdout * in_training))


def _entries(values: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.uint64]:
    """Return what each value adds to its row's hash; zeros add nothing, so sparse and dense rows agree."""
    mixed = _mix(_bits(values) + (columns.astype(np.uint64) + np.uint64(1)) * _GOLDEN)
    if values.dtype.kind in "biuf":
        mixed[values == 0] = 0
    return mixed


def _columns(X: Any) -> list[NDArray[Any]]:
    if hasattr(X, "iloc") and X.ndim == 2:
        return [np.asarray(X.iloc[:, j]) for j in range(X.shape[1])]
    if hasattr(X, "get_columns"):
        return [np.asarray(column) for column in X.get_columns()]
    array = np.asarray(X)
    return list(array.reshape(len(array), -1).T)


def _bits(column: NDArray[Any]) -> NDArray[np.uint64]:
    """Return 64 bits for every value, equal for equal values of any numeric type."""
    if column.dtype.kind in "biuf":
        plain = column.astype(np.float64) + 0.0  # turns -0.0 into 0.0
        plain[np.isnan(plain)] = np.nan
        return plain.view(np.uint64)
    texts = list(map(repr, column.tolist()))
    bits: dict[str, int] = {}
    for text in set(texts):
        digest = hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=8).digest()
        bits[text] = int.from_bytes(digest, "little")
    return np.array([bits[text] for text in texts], dtype=np.uint64)


def _mix(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Finalise as splitmix64 does, so that a sum over columns tells rows apart."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
