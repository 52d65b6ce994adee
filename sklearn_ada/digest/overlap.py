"""Find rows of the holdout in another table, whatever was done to its columns.

**Training rows in the holdout**, more of them than chance allows, are a leak (`is_leak`). An alarm at any
shared row would tell an asker whether a given row is in the holdout, and would be false for discrete data,
where rows are equal by chance. So two tests ask whether a random split would share as many rows, each at half
of the probability of a false alarm.

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

Both tests hold for any function of a row. So rows are compared in several *views*: as they are; with the
numbers of the holdout made as precise as those of the table (float32, or so many decimals); without the order
of their columns; and, where a table has fewer or more columns, by single columns that tell most rows apart.
Columns with names are compared by their names. A column in which all rows have the same order as in one of
the holdout's is taken for the same column on another scale, unless it is sorted.

Rows that are training rows, too, are passed over: all of this holds given which values training rows have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammaln, logsumexp

from sklearn_ada.data.labels import is_missing, n_rows, take_rows
from sklearn_ada.digest.rows import columns_of, readable, row_hashes

FALSE_ALARM = 1e-9
_CHANCE = 1e-6  # that independent rows are those of the holdout

_IN_ORDER = 20  # rows whose order cannot be the same by chance: 1 / 20! is 4e-19
_SAMPLE = 1_000  # rows that show how precise numbers are
_MOST_DECIMALS = 6
_CELLS = 5_000_000  # of a table of another width that are looked through
_SINGLE = 8  # columns of the holdout that are looked for by themselves
_TELLING = 0.9  # of the rows, which a column tells apart that is looked for by itself

Hashes = NDArray[np.uint64]
Change = Callable[[NDArray[Any]], NDArray[Any]]


def has_rows_of(table: Any, held: Any, training: Any = None, *, strict: bool = False) -> bool:
    """Return whether a table has rows of the holdout, beyond chance and beside those for training.

    Parameters
    ----------
    table, held : array-like, frame or sparse matrix
        What is looked at, and the rows of the holdout.
    training : array-like, frame or sparse matrix or None, default=None
        Rows that the table may have, with the columns of ``held``.
    strict : bool, default=False
        Whether one row is enough where no row of ``held`` and ``training`` occurs twice, if it holds more
        than zeros and gaps. That is for rows which whoever asks has: of others it would tell him what they
        are.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> has_rows_of(X[100:], X[:100]), has_rows_of(X[60:], X[:100])
    (False, True)
    >>> has_rows_of(X[60:, ::-1].round(2), X[:100]), has_rows_of(X[99:], X[:100], strict=True)
    (True, True)
    >>> has_rows_of(X[100:], X[:100], X[100:], strict=True)
    False
    """
    rows = [held] if training is None else [held, training]
    given, rows = _by_name(table, rows)
    if not n_rows(given) or not n_rows(held):
        return False
    if width_of(given) == width_of(rows[0]):
        views: Iterator[list[Hashes]] = _views(given, rows)
        level = FALSE_ALARM
    else:
        of_columns = list(_single_columns(given, rows))
        views, level, strict = iter(of_columns), FALSE_ALARM / (_SINGLE * width_of(given)), False
    for of_table, own, *of_training in views:
        known = of_training[0] if of_training else own[:0]
        beside, left = of_table[~np.isin(of_table, known)], own[~np.isin(own, known)]
        if not len(beside):  # they are all for training
            return False
        if is_leak(beside, left, level) or is_whole(of_table, own):
            return True
        is_distinct = strict and len(np.unique(np.concatenate([own, known]))) == len(own) + len(known)
        if is_distinct and np.isin(of_table[~np.isin(of_table, known) & ~_are_blank(given)], left).any():
            return True
    return is_in_order_of(given, rows[0])


def have_rows_of(tables: Sequence[Any], held: Any, training: Any = None) -> bool:
    """Return whether several tables, such as batches, together have rows of the holdout beyond chance."""
    known = np.empty(0, np.uint64) if training is None else row_hashes(training)
    of_tables, own = np.concatenate([row_hashes(table) for table in tables]), row_hashes(held)
    return is_leak(of_tables[~np.isin(of_tables, known)], own[~np.isin(own, known)])


def is_in_order_of(table: Any, rows: Any) -> bool:
    """Return whether a column has its values in the same order as one of some rows, so on another scale.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> is_in_order_of(np.exp(X[:, 1:]) - 7.0, X), is_in_order_of(X[::-1], X)
    (True, False)
    """
    n = n_rows(rows)
    if n_rows(table) != n or n < _IN_ORDER:
        return False
    return not set(_orders(table)).isdisjoint(_orders(rows))


def share_memory(table: Any, rows: Any) -> bool:
    """Return whether a table and some rows lie in the same memory, so one holds rows of the other.

    Examples
    --------
    >>> X = np.zeros((9, 2))
    >>> share_memory(X[4:], X[2:5]), share_memory(X[4:], X[:4]), share_memory(X, X.copy())
    (True, False, False)
    """
    if table is rows:
        return True
    parts = [
        each.iloc[:, 0].to_numpy() if getattr(each, "ndim", 0) == 2 and hasattr(each, "to_numpy") else each
        for each in (table, rows)
    ]
    if not all(isinstance(part, np.ndarray) and part.size for part in parts):
        return False
    return bool(np.shares_memory(*parts))


def width_of(table: Any) -> int:
    """Return how many values a row has; 1 for rows that are texts or numbers by themselves."""
    shape = getattr(table, "shape", None) or np.shape(table[:1])
    return math.prod(shape[1:])


def is_leak(
    train_hashes: NDArray[np.uint64], holdout_hashes: NDArray[np.uint64], level: float = FALSE_ALARM
) -> bool:
    """Return whether far more rows are shared than a random split would share.

    The probability of a false alarm is at most ``level`` for every exchangeable split. Leaked rows are found
    at 1e-9 if there are about 35 or more and each occurs once on either side. If they were oversampled, it
    takes more: about 60 if there are as many training rows as holdout rows, 220 if there are four times as
    many, 480 if nine times.
    """
    pooled = np.concatenate([train_hashes, holdout_hashes])
    values, inverse, counts = np.unique(pooled, return_inverse=True, return_counts=True)
    in_holdout = np.bincount(inverse[len(train_hashes) :], minlength=len(values))
    twins = in_holdout[counts == 2]
    lone = int(((in_holdout == 1) & (counts > 1)).sum())
    touched = lone + int((in_holdout > 1).sum())
    of_pairs = math.exp(ln_tail_of_cross_pairs(len(twins), int(twins.sum()), int((twins == 1).sum())))
    of_lone = tail_of_lone_values(touched, lone, len(train_hashes), len(holdout_hashes))
    return min(of_pairs, of_lone) < level / 2.0


def ln_tail_of_cross_pairs(pairs: int, members_in_holdout: int, cross: int) -> float:
    """Return how likely so many pairs have one member on each side (a logarithm).

    It is ``ln P[C >= cross]`` for the number C of such pairs.

    Given that ``members_in_holdout`` of the ``2 * pairs`` members, chosen at random, are in the
    holdout: ``P[C = c]`` is ``pairs! / (b! c! rest!) * 2^c / C(2 pairs, members)`` with b pairs inside.

    Examples
    --------
    >>> round(math.exp(ln_tail_of_cross_pairs(2, 2, 2)), 4)
    0.6667
    """
    c = np.arange(cross, min(members_in_holdout, 2 * pairs - members_in_holdout) + 1)
    c = c[(members_in_holdout - c) % 2 == 0]
    if len(c) == 0:
        return -math.inf
    both = (members_in_holdout - c) // 2
    ln_ways = gammaln(pairs + 1) - gammaln(both + 1) - gammaln(c + 1) - gammaln(pairs - both - c + 1)
    ln_all = gammaln(2 * pairs + 1) - gammaln(members_in_holdout + 1)
    ln_all -= gammaln(2 * pairs - members_in_holdout + 1)
    return float(logsumexp(ln_ways + c * math.log(2.0)) - ln_all)


def tail_of_lone_values(touched: int, lone: int, n_train: int, n_holdout: int) -> float:
    """Return a bound on the probability of so many lone values or more.

    For lone values see the module.

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


def is_whole(hashes: NDArray[np.uint64], own: NDArray[np.uint64]) -> bool:
    """Return whether some rows are those of the holdout, in whatever order.

    Only if independent rows would come out so with a probability of at most 1e-6, whatever their population.
    Twenty rows of zeros and ones are often those of the holdout, though rarely in its order. Rows that all
    differ, in the holdout's own order, always count.

    Examples
    --------
    >>> rows = np.arange(20, dtype=np.uint64)
    >>> is_whole(rows[::-1], rows)
    True
    >>> zeros_and_ones = rows % np.uint64(2)
    >>> is_whole(zeros_and_ones, zeros_and_ones), is_whole(np.sort(zeros_and_ones), zeros_and_ones)
    (True, False)
    """
    same_order = np.array_equal(hashes, own)
    if not same_order and not np.array_equal(np.sort(hashes), np.sort(own)):
        return False
    _, counts = np.unique(own, return_counts=True)
    n = len(own)
    # The probability is largest where the population has the shares that the rows have.
    ln_chance = (counts * np.log(counts / n)).sum()
    if not same_order:  # any of the orders would do
        ln_chance += gammaln(n + 1) - gammaln(counts + 1).sum()
    return bool(ln_chance <= math.log(_CHANCE) or (same_order and len(counts) == n > 1))


def _by_name(table: Any, rows: list[Any]) -> tuple[Any, list[Any]]:
    """Return a table and rows with the columns that both have, where columns have names."""
    given, own = (list(getattr(each, "columns", ())) for each in (table, rows[0]))
    common = [name for name in own if name in given]
    if not common or given == own:
        return table, rows
    return table[common], [each[common] for each in rows]


def _views(table: Any, rows: list[Any]) -> Iterator[list[Hashes]]:
    """Yield the hashes of the rows of a table, and of others that it may have, in each view."""
    change = _precision_of(table)
    exact = [row_hashes(each, _with_gaps) for each in (table, *rows)]
    yield exact
    coarse = exact if change is None else [exact[0], *(row_hashes(each, change) for each in rows)]
    if change is not None and not np.array_equal(coarse[1], exact[1]):
        yield [row_hashes(table, change), *coarse[1:]]
    if width_of(table) > 1:
        yield [row_hashes(each, change or _with_gaps, ordered=False) for each in (table, *rows)]


def _single_columns(table: Any, rows: list[Any]) -> Iterator[list[Hashes]]:
    """Yield hashes of single columns of some rows, and of that column of a table which is most like them."""
    change = _precision_of(table) or np.asarray
    columns = [change(column) for column in _numbers(table)[: _CELLS // n_rows(table)]]
    own = _numbers(rows[0])
    telling = [j for j, column in enumerate(own) if len(np.unique(column)) >= _TELLING * len(column)]
    others = [_numbers(each) for each in rows[1:]]
    if not columns:
        return
    some = np.stack([column[:: 1 + len(column) // _SAMPLE] for column in columns], axis=1)
    for j in telling[:_SINGLE]:
        looked_for = change(own[j])
        common = np.isin(some, looked_for).sum(axis=0)
        alike = columns[int(common.argmax())]
        yield [row_hashes(column) for column in (alike, looked_for, *(change(each[j]) for each in others))]


def _orders(table: Any) -> Iterator[bytes]:
    """Yield the order of the rows, and its reverse, in each column where it is no plain sequence."""
    for column in _numbers(table):
        steps = np.diff(column)
        if len(np.unique(column)) == len(column) and (steps > 0).any() and (steps < 0).any():
            yield from (np.argsort(sign * column).tobytes() for sign in (1.0, -1.0))


def _numbers(table: Any) -> list[NDArray[np.float64]]:
    """Return the columns of numbers; of a sparse matrix none, as it has few values in each."""
    columns = [] if hasattr(table, "tocsr") else map(_with_gaps, columns_of(table))
    return [column for column in columns if column.dtype.kind == "f"]


def _are_blank(table: Any) -> NDArray[np.bool_]:
    """Return which rows hold nothing but zeros and gaps, as rows of nobody may."""
    if hasattr(table, "tocsr"):
        return np.equal(np.ravel((abs(table.tocsr()) > 0).sum(axis=1)), 0)
    blank = np.ones(n_rows(table), dtype=bool)
    for column in map(_with_gaps, columns_of(table)):
        if column.dtype.kind == "f":
            blank &= np.isnan(column) | (column == 0)
        else:
            blank &= np.fromiter(map(is_missing, column.tolist()), bool, len(column))
    return blank


def _with_gaps(column: NDArray[Any]) -> NDArray[Any]:
    """Return values as `readable` does, and whatever stands for a missing one as NaN."""
    if column.dtype.kind == "O":
        missing = np.fromiter(map(is_missing, column.tolist()), bool, len(column))
        column = np.where(missing, np.nan, column)
    return readable(column)


def _precision_of(table: Any) -> Change | None:
    """Return what makes numbers as precise as those of a table; None if they are as precise as any.

    Examples
    --------
    >>> change = _precision_of(np.array([[0.25, 1.5], [7.125, 3.0]]))
    >>> round(float(change(np.array([0.1234567]))[0]), 5)  # three decimals
    0.123
    """
    some = take_rows(table, np.unique(np.linspace(0, n_rows(table) - 1, _SAMPLE).astype(int)))
    parts = [some.tocsr().data.astype(np.float64)] if hasattr(some, "tocsr") else _numbers(some)
    values = np.concatenate(parts) if parts else np.empty(0)
    values = values[np.isfinite(values)]
    if not len(values):
        return None
    with np.errstate(over="ignore"):
        small = next(kind for kind in (np.float32, np.float64) if np.array_equal(values.astype(kind), values))
        for decimals in range(_MOST_DECIMALS + 1):
            if np.array_equal(np.round(values, decimals).astype(small), values.astype(small)):
                return partial(_rounded, decimals=decimals, kind=small)
    return None if small is np.float64 else partial(_rounded, decimals=None, kind=small)


def _rounded(column: NDArray[Any], decimals: int | None, kind: type) -> NDArray[Any]:
    values = _with_gaps(column)
    if values.dtype.kind != "f":
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        return (values if decimals is None else np.round(values, decimals)).astype(kind)
