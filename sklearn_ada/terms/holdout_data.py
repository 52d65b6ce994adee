"""The rows of a holdout: what they are, how they are cut into subsamples, and how workers get them.

Whether training rows reappear in the holdout more often than chance allows.

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

How a holdout is cut into disjoint subsamples, for stable medians: a secret, fixed order of its rows.

How the rows of a holdout get to ray's workers: through its object store, once for each machine.

Ray pickles the arguments of every task anew. So the first time that it pickles a holdout, the rows are put
into its object store, and from then on tasks hold a reference. Any other pickle holds the rows themselves,
also while ray is running. This module never imports ray: it looks whether ray has been imported.

How the rows of a holdout get to workers: once, not with every task.

joblib writes a large array to a memory-mapped file the first time it sees it, from then on sends only the
file's name, and removes the file in the end. To profit from that, whatever is not an array is pickled once
into arrays of bytes (a `Parcel`), and a process that has unpacked a holdout keeps it for later tasks. A
pickle made outside joblib holds everything, and can be opened anywhere.

The rows of a holdout: checked, fingerprinted, counted by class, cut into subsamples. Never shown.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import pickle
import sys
import uuid
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammaln, logsumexp
from sklearn.utils.multiclass import type_of_target

from sklearn_ada._validation import bad_parameter
from sklearn_ada.data.columns import Column, column_of, is_dask, lies_elsewhere
from sklearn_ada.data.labels import Subsamples, Units, check_labels, n_rows, take_rows
from sklearn_ada.digest.canonical import canonical_digest
from sklearn_ada.digest.rows import content_digest, labels_digest
from sklearn_ada.metrics.base import Measure
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.terms.policy import Policy
from sklearn_ada.terms.row_tables import Table, fingerprint_of, keyed_table

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


def _entries(values: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.uint64]:
    """Return what each value adds to its row's hash; zeros add nothing, so sparse and dense rows agree."""
    mixed = _mix(_bits(values) + _salt(columns))
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
    known: dict[str, int] = {}
    for text in map(repr, column.tolist()):
        if text not in known:
            digest = hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=8).digest()
            known[text] = int.from_bytes(digest, "little")
    return np.array([known[repr(value)] for value in column.tolist()], dtype=np.uint64)


def _salt(columns: NDArray[Any]) -> NDArray[np.uint64]:
    return (columns.astype(np.uint64) + np.uint64(1)) * _GOLDEN


def _mix(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Finalise as splitmix64 does, so that a sum over columns tells rows apart."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def shuffled_rows(n: int, secret: bytes) -> NDArray[np.integer]:
    """Return the numbers of n rows in an order fixed by the secret, as 32-bit integers where that is enough.

    Examples
    --------
    >>> np.sort(shuffled_rows(5, b"secret"))
    array([0, 1, 2, 3, 4], dtype=int32)
    """
    seed = hmac.new(secret, b"partition", hashlib.sha256).digest()
    order: NDArray[np.integer] = np.arange(n, dtype=np.int32 if n < 2**31 else np.int64)
    np.random.default_rng(int.from_bytes(seed, "little")).shuffle(order)
    return order


def size_of_subsamples(counts: NDArray[np.integer[Any]], n_subsamples: int) -> int:
    """Return how many rows each of so many subsamples has; what cannot be divided evenly is left out.

    Parameters
    ----------
    counts : ndarray of int
        How many rows there are: of each class where subsamples have equal class counts, else of all.
    n_subsamples : int

    Examples
    --------
    >>> size_of_subsamples(np.array([100]), 7), size_of_subsamples(np.array([60, 40]), 7)
    (14, 13)
    """
    return int((counts // n_subsamples).sum())


def cut(order: NDArray[np.integer[Any]], n_subsamples: int) -> NDArray[np.integer[Any]]:
    """Return disjoint subsamples of equal size, as row numbers of shape (n_subsamples, t), in this order.

    Examples
    --------
    >>> cut(np.arange(7), 3)
    array([[0, 1],
           [2, 3],
           [4, 5]])
    """
    size = size_of_subsamples(np.array([len(order)]), n_subsamples)
    return order[: n_subsamples * size].reshape(n_subsamples, size)


def dealt_out(order: NDArray[np.integer], y: NDArray[Any], n_subsamples: int) -> NDArray[np.integer]:
    """Return subsamples with equal class counts, as row numbers of shape (n_subsamples, t).

    The rows of each class are taken in the given order.

    Examples
    --------
    >>> dealt_out(np.arange(5), np.array(["a", "b", "a", "b", "a"]), 2)
    array([[0, 1],
           [2, 3]])
    """
    labels = y[order]
    shares = []
    for label in np.unique(y):
        shares.append(cut(order[labels == label], n_subsamples))
    return np.concatenate(shares, axis=1)


def whole_groups(groups: NDArray[np.integer], group_of: NDArray[np.int64]) -> list[NDArray[np.integer]]:
    """Return the rows of each subsample; row i of the matrix ``groups`` has the groups of subsample i.

    Examples
    --------
    >>> whole_groups(np.array([[2, 0], [1, 3]]), np.array([0, 0, 1, 2, 3, 3]))
    [array([3, 0, 1]), array([2, 4, 5])]
    """
    order = np.argsort(group_of, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(group_of))[:-1])
    return [np.concatenate([members[group] for group in some]) for some in groups]


_stored: weakref.WeakKeyDictionary[Any, tuple[object, Any]] = weakref.WeakKeyDictionary()
"""Ray's session and the reference, by parcel; ray drops the rows once the reference is gone from here."""


class _Stored:
    """A parcel in ray's store: fetched when it is unpacked, once in each process."""

    def __init__(self, reference: Any) -> None:
        self._reference = reference

    def unpacked(self) -> dict[str, Any]:
        """Return the values; their arrays share the store's memory."""
        values: dict[str, Any] = sys.modules["ray"].get(self._reference).unpacked()
        return values


def as_ray_sends(parcel: Any) -> Any:
    """Return what is pickled instead of a parcel: a reference in a task of ray's, else the parcel itself.

    That ray is pickling a task in this thread can be read from a private attribute of ray's only. A version
    of ray without it sends the rows with every task, which is slower but not wrong. So do workers, because a
    reference to what a worker has stored is lost when the worker ends.
    """
    ray: Any = sys.modules.get("ray")
    try:
        worker = ray._private.worker.global_worker
        is_driver = worker.mode == ray.SCRIPT_MODE
        if not (is_driver and worker.get_serialization_context().is_in_band_serialization()):
            return parcel
    except AttributeError:
        return parcel
    context = ray.get_runtime_context()
    session = context.get_node_id(), context.get_job_id()  # references last as long as both
    known, reference = _stored.get(parcel, (None, None))
    if known != session:
        with ThreadPoolExecutor(1) as aside:  # in one thread ray does not pickle one thing within another
            reference = aside.submit(ray.put, parcel).result()
        _stored[parcel] = session, reference
    return _Stored(reference)


Shipped = TypeVar("Shipped")

in_this_process: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
"""The objects that this process has, made here or unpacked, by token: a random name that pickles keep."""
_latest: list[Any] = []  # what was unpacked last is kept, as nothing else holds it between tasks


class Parcel:
    """Named values, packed as arrays of bytes; values that are arrays are left as they are, without a copy.

    Parameters
    ----------
    values : dict

    Examples
    --------
    >>> Parcel({"text": ["a", "b"], "numbers": np.arange(3)}).unpacked()
    {'numbers': array([0, 1, 2]), 'text': ['a', 'b']}
    """

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values
        self._content: NDArray[np.uint8] | None = None
        self._buffers: list[NDArray[np.uint8]] = []
        others = {name: value for name, value in values.items() if not _is_plain(value)}
        buffers: list[pickle.PickleBuffer] = []
        try:
            content = pickle.dumps(others, protocol=5, buffer_callback=buffers.append)
        except Exception:  # made of what only joblib's own pickler can pickle
            return
        if b"__main__" not in content:  # workers lack a notebook's classes, which only joblib's pickler sends
            self._values = {name: value for name, value in values.items() if name not in others}
            self._content = _as_array(memoryview(content))
            self._buffers = [_as_array(buffer.raw()) for buffer in buffers]

    def unpacked(self) -> dict[str, Any]:
        """Return the values; their arrays share the parcel's memory."""
        if self._content is None:
            return dict(self._values)
        return {**self._values, **pickle.loads(self._content.data, buffers=self._buffers)}


def unpacked_once(token: str, kind: type[Shipped], parcel: Parcel) -> Shipped:
    """Return the object of this token: the one that this process has already, or else one from the parcel."""
    found = in_this_process.get(token)
    if found is None:
        found = object.__new__(kind)
        vars(found).update(parcel.unpacked())
        in_this_process[token] = found
        _latest[:] = [found]
    return found


def _is_plain(value: Any) -> bool:
    return isinstance(value, np.ndarray) and not value.dtype.hasobject


def _as_array(content: memoryview) -> NDArray[np.uint8]:
    return np.frombuffer(content, dtype=np.uint8) if content.nbytes else np.empty(0, dtype=np.uint8)


class HoldoutData:
    """Rows and labels of a holdout; its ``repr`` gives sizes only.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n, ...)
        Passed to models as it is: it may hold NaN, strings or sparse columns.
    y : array-like of shape (n,)
        Labels or numbers; numbers must be finite.
    sample_weight, groups, weight_bound
        See `Holdout`.
    priced_classes : bool, default=False
        Whether class counts are paid for in nats (``class_mix="priced"``).
    ids : ndarray of shape (n,) or None, default=None
        Hashes of the ids by which the rows are known (`sklearn_ada.digest.rows.id_hashes`). Rows are then put
        into the order of these, so nothing depends on the order in which they come. Rows of one id are a
        group.

    Raises
    ------
    ValueError
        If y is None, not one-dimensional, not finite, empty, not as long as X, or mixes text and numbers.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        weight_bound: float | None = None,
        *,
        priced_classes: bool = False,
        ids: NDArray[np.bytes_] | None = None,
    ) -> None:
        labels: Any = _checked_column(y) if ids is None and lies_elsewhere(y) else check_labels(y).copy()
        if not (hasattr(X, "shape") or hasattr(X, "__len__")):
            kind = type(X).__name__
            raise bad_parameter("X", "Holdout", "an array, a frame, a sparse matrix or a list", kind)
        if is_dask(X) and not (hasattr(X, "compute_chunk_sizes") and X.shape[0] == X.shape[0]):
            fix = "Write X.to_dask_array(lengths=True), or X.compute_chunk_sizes() of an array."
            got = f"{type(X).__name__} of unknown length"
            raise bad_parameter("X", "Holdout", "an array of known length, where it is of Dask", got, fix)
        if n_rows(X) != len(labels):
            raise bad_parameter(
                "y", "Holdout", f"as long as X, which has {n_rows(X)} rows", f"{len(labels)} values"
            )
        X = X.tocsr() if hasattr(X, "tocsr") else X  # not every sparse format has rows to take
        self.ids = ids
        if ids is not None:
            if len(ids) != len(labels):
                raise bad_parameter(
                    "ids", "Holdout", f"{len(labels)} ids, one for each row", f"{len(ids)} ids"
                )
            groups = _whole_ids(ids, groups)
            order = np.argsort(ids, kind="stable")
            self.ids, X, labels = ids[order], take_rows(X, order), labels[order]
            sample_weight, groups = (_ordered(values, order) for values in (sample_weight, groups))
        if isinstance(labels, np.ndarray):
            labels.flags.writeable = False  # nobody who is shown them changes them
        self.X = X
        self.labels: NDArray[Any] | Column = column_of(labels) or labels
        self._y: NDArray[Any] | None = None
        self.priced_classes = priced_classes
        self.top_ups = 0  # how often the rows that the ledger began with were changed
        self.first_like = 0  # after how many changes they were first the rows that they are
        self.classes: NDArray[Any] | None = _classes_of(self.labels)
        self._digest: str | None = None
        self._table: tuple[bytes, Table] | None = None
        self._partitions: dict[tuple[bytes, int], Subsamples] = {}
        self._token = uuid.uuid4().hex  # tells a process whether it has these very rows already
        self._parcel: Parcel | None = None
        self.units: Units | None = None
        if not (sample_weight is None and groups is None and weight_bound is None):
            self.units = Units(len(labels), sample_weight, groups, weight_bound)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pack what workers cannot derive themselves.

        Partitions stay here: they are cached under the ledger's secret, which is not to be pickled.
        """
        if self._parcel is None:
            derived = {"class_counts", "feature_hashes", "_digest", "_partitions", "_parcel", "_table", "_y"}
            values = {name: value for name, value in vars(self).items() if name not in derived}
            self._parcel = Parcel(
                {**values, "_digest": None, "_partitions": {}, "_parcel": None, "_table": None, "_y": None}
            )
        in_this_process[self._token] = self
        return unpacked_once, (self._token, HoldoutData, as_ray_sends(self._parcel))

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def y(self) -> NDArray[Any]:
        """All labels as an array; those that lie elsewhere are read at the first use."""
        if self._y is None:
            whole = np.asarray(self.labels)
            if whole.flags.writeable:
                whole.flags.writeable = False
            self._y = whole
        return self._y

    @property
    def some_labels(self) -> NDArray[Any]:
        """Labels among which each class occurs: each once, where there are too many to read them all."""
        if isinstance(self.labels, Column) and self.classes is not None:
            return self.classes
        return self.y

    def labels_for(self, metric: Metric, rule: Measure) -> Any:
        """Return the labels as a metric takes them: what counts right labels reads them block by block."""
        if isinstance(self.labels, Column):
            self.labels.check_unchanged()  # before anything is asked, so that it costs nothing
        counts = rule.counts and metric.response.form == "labels" and self.units is None
        return self.labels if counts else self.y

    @property
    def is_classification(self) -> bool:
        """Whether the labels are those of classes."""
        return self.classes is not None

    @property
    def n_columns(self) -> int | None:
        """Number of columns of X, or None where it is no table."""
        shape: tuple[int, ...] = getattr(self.X, "shape", None) or np.shape(self.X[:1])
        return shape[1] if len(shape) == 2 else None

    def __repr__(self) -> str:
        return f"HoldoutData({len(self)} rows)"

    @property
    def digest(self) -> str:
        """Digest of what the rows are known by: their labels in this order, and no feature; made once.

        So columns may change, and two data sets with the same labels in the same order share a ledger. That
        is sound, and costs budget only: every question is a function of rows that were fixed before it, and
        the union bound is over questions, whatever rows they are about.
        """
        if self._digest is None:  # no cached_property: its lock would stay held in a forked child
            self._digest = labels_digest(self.labels)
        return self._digest

    def fingerprint(self, secret: bytes, identity: str = "labels") -> str:
        """Return the digest of what the rows are known by, keyed: nobody else can test it for a row.

        Parameters
        ----------
        secret : bytes
        identity : {"labels", "ids", "content"}
            Of the ledger: those begun before there were identities know rows by their content.
        """
        if identity == "ids":
            return fingerprint_of(self.table(secret), secret)
        digest = content_digest(self.X, self.y) if identity == "content" else self.digest
        return hmac.new(secret, digest.encode(), hashlib.sha256).hexdigest()

    def table(self, secret: bytes) -> Table:
        """Return the rows as the ledger with this secret knows them by their ids."""
        if self._table is None or self._table[0] != secret:
            assert self.ids is not None
            self._table = secret, keyed_table(self.ids, self.y, secret)
        return self._table[1]

    @cached_property
    def feature_hashes(self) -> NDArray[np.uint64]:
        """A hash of the features of every row, to look for them among training rows."""
        return row_hashes(self.X)

    @cached_property
    def class_counts(self) -> NDArray[np.int64]:
        """Number of records of each class; of all records where y holds numbers."""
        if not self.is_classification:
            return np.array([len(self)], dtype=np.int64)
        if isinstance(self.labels, Column):
            return self.labels.counts
        return np.unique(self.y, return_counts=True)[1].astype(np.int64)

    @property
    def has_groups(self) -> bool:
        """Whether the independent units are groups of records."""
        return self.units is not None and self.units.has_groups

    @property
    def n_units(self) -> int:
        """Number of independent units: of groups if there are any, else of records."""
        return len(self) if self.units is None else self.units.n_units

    @property
    def weight(self) -> NDArray[np.float64] | None:
        """Weights of the records, if they were given."""
        return self.units.weight if self.units is not None and self.units.has_weight else None

    def rule(self, metric: Metric) -> Measure:
        """Return how a metric becomes an interval on these rows; ValueError if only a stable median can.

        With ``class_mix="priced"`` the class counts are paid for, so widths may depend on them. The width of
        a class mean with weights or groups also depends on how these are distributed over classes, which is
        not paid for: it is refused.
        """
        rule = metric.rule_for(self.units)
        if self.priced_classes and rule.at_class_mix:
            raise bad_parameter(
                "scoring", "a holdout with class_mix='priced'", "a metric that no class mix is part of",
                metric.name,
                "Its interval holds at known class counts: use class_mix='conditional', or "
                f"the stable median: StableHoldoutScorer, or Metric({metric.name!r}, kind='general').",
            )  # fmt: skip
        if self.priced_classes and rule.joins_labels_and_units:
            raise bad_parameter(
                "scoring", "a holdout with class_mix='priced' and sample_weight or groups", "a mean",
                metric.name,
                "Its width would tell more of the classes than was paid for: use class_mix='conditional', or "
                f"the stable median: StableHoldoutScorer, or Metric({metric.name!r}, kind='general').",
            )  # fmt: skip
        return rule

    def has_interval(self, metric: Metric) -> bool:
        """Return whether a metric has an interval of its own on these rows."""
        try:
            return metric.has_interval and self.rule(metric) is not None
        except ValueError:
            return False

    def check_weights(self, metric: Metric) -> None:
        """Raise ValueError if records have weights, which a metric without an interval cannot take."""
        n_classes = 2 if self.classes is None else len(self.classes)
        if self.weight is not None and not metric.takes_weights(n_classes):
            classes = f" for {n_classes} classes" if metric.takes_weights() else ""
            raise bad_parameter(
                "scoring", "a holdout with sample_weight", f"a scorer that takes sample_weight{classes}",
                metric.name,
                "Use such a scorer, as scoring(estimator, X, y, sample_weight=None), or a Holdout without "
                "sample_weight.",
            )  # fmt: skip

    def check_policy(self, policy: Policy) -> None:
        """Raise ValueError if a policy cannot be kept on these rows."""
        if policy.class_mix == "priced" and not self.is_classification:
            raise bad_parameter(
                "class_mix", "Holdout", "'conditional' where y holds numbers", policy.class_mix
            )
        if policy.is_private and self.units is not None and self.units.bound is not None:
            raise bad_parameter(
                "weight_bound", "Holdout", f"None where route={policy.route!r}", self.units.bound,
                "The mean weight is released without noise.",
            )  # fmt: skip

    def describe_classes(self, policy: Policy) -> dict[str, Any]:
        """Return what the ledger's first record says of class counts: nothing unless they are paid for."""
        return {"class_counts": self.class_counts.tolist()} if policy.class_mix == "priced" else {}

    def describe_units(self, secret: bytes) -> dict[str, Any]:
        """Return what the ledger's first record says of weights and groups; nothing if there are none."""
        if self.units is None:
            return {}
        digest = canonical_digest((self.units.weight, self.units.unit)).encode()
        return {
            "units": {
                "number": self.n_units,
                "weights": self.units.has_weight,
                "groups": self.units.has_groups,
                "weight_bound": self.units.bound,
                "digest": hmac.new(secret, digest, hashlib.sha256).hexdigest(),
            }
        }

    def subsample_size(self, n_subsamples: int, *, stratify: bool = False) -> int:
        """Return how many units (records, or groups) each of so many subsamples has."""
        counts = self.class_counts if stratify else np.array([self.n_units])
        return size_of_subsamples(counts, n_subsamples)

    def partition(self, secret: bytes, n_subsamples: int, *, stratify: bool = False) -> Subsamples:
        """Return row numbers of disjoint subsamples of equally many units (records or groups).

        They are a function of the secret, and all questions use the same ones. With ``stratify`` all
        subsamples have the same class counts; the rows of a class that cannot be divided evenly are left out.
        """
        most = int(self.class_counts.min()) if stratify else self.n_units
        if not 1 <= n_subsamples <= most:
            what = "groups" if self.has_groups else "rows"
            raise bad_parameter(
                "n_subsamples", "Holdout", f"between 1 and the {most} {what} of the holdout", n_subsamples
            )
        one_order_serves_all = not stratify and not self.has_groups
        key = (secret, 0 if one_order_serves_all else n_subsamples)
        if key not in self._partitions:
            order = shuffled_rows(self.n_units, secret)
            drawn: Subsamples = order
            if stratify:
                drawn = dealt_out(order, self.y, n_subsamples)
            elif self.units is not None and self.has_groups:
                drawn = whole_groups(cut(order, n_subsamples), self.units.unit)
            self._partitions = {key: drawn}
        rows = self._partitions[key]
        return cut(np.asarray(rows), n_subsamples) if one_order_serves_all else rows


def _checked_column(y: Any) -> NDArray[Any] | Column:
    """Return labels that lie elsewhere as a column, if they are such; else as an array."""
    column = column_of(y)
    if column is None:
        return check_labels(y).copy()
    if not column.is_finite:
        raise bad_parameter("y", "Holdout", "finite", "missing, NaN or infinite values")
    return column


def _classes_of(labels: NDArray[Any] | Column) -> NDArray[Any] | None:
    """Return the class labels that occur, sorted, or None where there are numbers."""
    if isinstance(labels, Column):
        return labels.values if labels.is_whole else None
    return np.unique(labels) if type_of_target(labels) in ("binary", "multiclass") else None


def _whole_ids(ids: NDArray[np.bytes_], groups: Any) -> Any:
    """Return the groups of rows: rows of one id depend on each other, and so are in one group."""
    values, first, which = np.unique(ids, return_index=True, return_inverse=True)
    if len(values) == len(ids):
        return groups
    if groups is None:
        return which
    of_row = np.asarray(groups)
    if of_row.shape == ids.shape and (of_row != of_row[first][which]).any():
        raise bad_parameter("groups", "Holdout", "the same for all rows of one id", "an id in several groups")
    return groups


def _ordered(values: Any, order: NDArray[np.integer]) -> Any:
    """Return values in an order; what has another shape, which is refused later, as it is."""
    return values if values is None or np.shape(values) != order.shape else np.asarray(values)[order]
