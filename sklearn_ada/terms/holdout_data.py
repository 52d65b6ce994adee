"""Hold the rows of a holdout, which are never shown.

They are checked, fingerprinted, counted by class and cut into subsamples. Stable medians cut a holdout into
disjoint subsamples in a secret, fixed order of its rows.
"""

from __future__ import annotations

import hashlib
import hmac
import uuid
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from sklearn_ada._validation import bad_parameter
from sklearn_ada.accounting.events import FORMAT
from sklearn_ada.data.columns import Column, column_of
from sklearn_ada.data.labels import (
    Subsamples,
    Units,
    are_classes,
    check_labels,
    is_dask,
    is_read_in_blocks,
    label_kind,
    lies_elsewhere,
    n_rows,
    take_rows,
)
from sklearn_ada.data.transport import Parcel, as_ray_sends, in_this_process, unpacked_once
from sklearn_ada.digest.canonical import canonical_digest
from sklearn_ada.digest.rows import content_digest, labels_digest, row_hashes
from sklearn_ada.metrics.base import Measure
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.terms.row_tables import Table, fingerprint_of, keyed_table

_DERIVED = {"class_counts", "feature_hashes", "_digest", "_partition", "_parcel", "_table", "_y"}


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
    named : array-like or None, default=None
        The classes that may occur. None: those that do, or those that the ledger was begun with.
    ids : ndarray of shape (n,) or None, default=None
        Hashes of the ids of the rows (`sklearn_ada.digest.rows.id_hashes`). Rows are then put
        into the order of these, so nothing depends on the order in which they come. Rows of one id are a
        group.

    Raises
    ------
    ValueError
        If y is None, not one-dimensional, not finite, empty, not as long as X, or mixes text and numbers.
    """

    # What is derived from the rows when it is first asked for.
    _y: NDArray[Any] | None = None
    _digest: str | None = None
    _table: tuple[bytes, Table] | None = None
    _partition: tuple[tuple[bytes, int], Subsamples] | None = None
    _parcel: Parcel | None = None

    def __init__(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        weight_bound: float | None = None,
        *,
        priced_classes: bool = False,
        named: Any = None,
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
        if (rows := n_rows(X)) != len(labels):
            expected = f"as long as X, which has {rows} rows"
            raise bad_parameter("y", "Holdout", expected, f"{len(labels)} values")
        X = X.tocsr() if hasattr(X, "tocsr") else X  # not every sparse format has rows to take
        self.ids, names = ids, groups
        if ids is not None:
            if len(ids) != len(labels):
                expected = f"{len(labels)} ids, one for each row"
                raise bad_parameter("ids", "Holdout", expected, f"{len(ids)} ids")
            groups = _whole_ids(ids, groups)
            order = np.argsort(ids, kind="stable")
            self.ids, X, labels = ids[order], take_rows(X, order), labels[order]
            sample_weight, groups = (_ordered(values, order) for values in (sample_weight, groups))
        if isinstance(labels, np.ndarray):
            labels.flags.writeable = False  # nobody who is shown them changes them
        self.X = X
        column = column_of(labels) if is_read_in_blocks(labels) else None
        self.labels: NDArray[Any] | Column = column or labels
        self.priced_classes = priced_classes
        self.top_ups = 0  # how often the rows that the ledger began with were changed
        self.first_like = 0  # after how many changes they were first the rows that they are
        self.format = FORMAT  # of the ledger
        self.classes: NDArray[Any] | None = _classes_of(self.labels)
        self.named_classes = None if named is None else self._checked_classes(named)
        self.paid_classes: NDArray[Any] | None = None  # whose counts the ledger has a price for
        self.by_tables = False  # whether tables of two classes have their exact intervals
        self._token = uuid.uuid4().hex  # tells a process whether it has these very rows already
        self.units: Units | None = None
        if not (sample_weight is None and groups is None and weight_bound is None):
            self.units = Units(len(labels), sample_weight, groups, weight_bound)
        # Of each group that has a name, to look for it among those of training rows.
        self.group_hashes = None if names is None else np.unique(row_hashes(np.asarray(names)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pack what workers cannot derive themselves.

        Partitions stay here: they are cached under the ledger's secret, which is not to be pickled.
        """
        if self._parcel is None:
            self._parcel = Parcel({k: value for k, value in vars(self).items() if k not in _DERIVED})
        in_this_process[self._token] = self
        return unpacked_once, (self._token, HoldoutData, as_ray_sends(self._parcel))

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def y(self) -> NDArray[Any]:
        """All labels as an array; those that lie elsewhere are read at the first use."""
        if self._y is None:
            self._y = np.asarray(self.labels)
            self._y.flags.writeable = False
        return self._y

    @property
    def some_labels(self) -> NDArray[Any]:
        """Labels among which each class occurs: each once, where there are too many to read them all."""
        if isinstance(self.labels, Column) and self.classes is not None:
            return self.classes
        return self.y

    def labels_for(self, metric: Metric, measure: Measure) -> Any:
        """Return the labels as a metric takes them: what counts right labels reads them block by block."""
        if isinstance(self.labels, Column):
            self.labels.check_unchanged()  # before anything is asked, so that it costs nothing
        counts = measure.counts and metric.response.form == "labels" and self.units is None
        return self.labels if counts else self.y

    @property
    def by_value(self) -> bool:
        """Whether predicted labels of one value are the same, whatever their type."""
        return self.format >= 3

    @property
    def is_classification(self) -> bool:
        """Whether the labels are those of classes."""
        return self.classes is not None

    @property
    def known_classes(self) -> NDArray[Any] | None:
        """Classes whose counts are paid for, where they are; else those that occur."""
        return self.classes if self.paid_classes is None else self.paid_classes

    def check_paid_for(self, classes: Any, name: str, owner: str) -> None:
        """Raise ValueError if class counts were paid for as if some of these classes could not occur."""
        if self.paid_classes is None:
            return
        others = sorted(set(np.unique(classes).tolist()) - set(self.paid_classes.tolist()), key=str)
        if others:
            shown = f"{', '.join(map(repr, others[:5]))}{', ...' if len(others) > 5 else ''}"
            fix = (
                "Class counts are paid for as if no other class could occur. Begin the ledger with all that "
                "may, those of the training rows as well: Holdout(..., class_mix='priced', classes=[...])."
            )
            raise bad_parameter(name, owner, "of classes that the holdout knows of", f"also {shown}", fix)

    def _checked_classes(self, named: Any) -> NDArray[Any]:
        """Return the classes that may occur, sorted, if those that do are among them."""
        wrong = partial(bad_parameter, "classes", "Holdout")
        if not self.priced_classes:
            fix = "Their number sets the price of the class counts, and these have one where they are priced."
            raise wrong("None with class_mix='conditional'", "a list", fix)
        classes = np.unique(check_labels(named, "Holdout.classes"))
        if self.classes is None or label_kind(classes) != label_kind(self.labels) or not are_classes(classes):
            raise wrong("class labels like those of y", label_kind(classes))
        missing = sorted(set(self.classes.tolist()) - set(classes.tolist()))
        if missing:
            shown = ", ".join(map(repr, missing[:5]))
            raise wrong("all labels that may occur, those of y among them", f"a list without {shown}")
        return classes

    @property
    def n_columns(self) -> int | None:
        """Number of columns of X, or None where it is no table."""
        shape: tuple[int, ...] = getattr(self.X, "shape", None) or np.shape(self.X[:1])
        return shape[1] if len(shape) == 2 else None

    def __repr__(self) -> str:
        return f"HoldoutData({len(self)} rows)"

    @property
    def digest(self) -> str:
        """Digest of what identifies the rows: their labels in this order, and no feature.

        So columns may change, and two data sets with the same labels in the same order share a ledger. That
        is sound, and costs budget only: every question is a function of rows that were fixed before it, and
        the union bound is over questions, whatever rows they are about.
        """
        if self._digest is None:  # no cached_property: its lock would stay held in a forked child
            self._digest = labels_digest(self.labels)
        return self._digest

    def fingerprint(self, secret: bytes, identity: str = "labels") -> str:
        """Return the keyed digest of what identifies the rows.

        Without the key nobody can test it for a row.

        Parameters
        ----------
        secret : bytes
        identity : {"labels", "ids", "content"}
            Of the ledger. In those begun before there were identities it is the content of the rows.
        """
        if identity == "ids":
            return fingerprint_of(self.table(secret), secret)
        digest = content_digest(self.X, self.y) if identity == "content" else self.digest
        return hmac.new(secret, digest.encode(), hashlib.sha256).hexdigest()

    def table(self, secret: bytes) -> Table:
        """Return the table by which the ledger with this secret recognises rows with ids."""
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
        """Number of rows of each class that occurs; of all rows where y holds numbers."""
        if not self.is_classification:
            return np.array([len(self)], dtype=np.int64)
        if isinstance(self.labels, Column):
            return self.labels.counts
        return np.unique(self.y, return_counts=True)[1].astype(np.int64)

    @property
    def has_groups(self) -> bool:
        """Whether the independent units are groups of rows."""
        return self.units is not None and self.units.has_groups

    @property
    def n_units(self) -> int:
        """Number of independent units: of groups if there are any, else of rows."""
        return len(self) if self.units is None else self.units.n_units

    @property
    def weight(self) -> NDArray[np.float64] | None:
        """Weights of the rows, if they were given."""
        return self.units.weight if self.units is not None and self.units.has_weight else None

    def measure_of(self, metric: Metric) -> Measure:
        """Return how a metric becomes an interval on these rows; ValueError if only a stable median can.

        With ``class_mix="priced"`` the class counts are paid for, so widths may depend on them. The width of
        a class mean with weights or groups also depends on how these are distributed over classes, which is
        not paid for: it is refused.
        """
        measure = metric.measure_for(self.units, self.format)
        owner = "a holdout with class_mix='priced'"
        instead = (
            "use class_mix='conditional', or the stable median: StableHoldoutScorer, or "
            f"Metric({metric.name!r}, kind='general')."
        )
        if self.priced_classes and not self.holds_for_one_law(measure):
            fix = f"Its interval holds at known class counts: {instead}"
            raise bad_parameter("scoring", owner, "a metric with an interval of its own", metric.name, fix)
        if self.priced_classes and measure.joins_labels_and_units:
            fix = f"Its width would tell more of the classes than was paid for: {instead}"
            raise bad_parameter("scoring", f"{owner} and sample_weight or groups", "a mean", metric.name, fix)
        return measure

    def holds_for_one_law(self, measure: Measure) -> bool:
        """Return whether a metric has an interval on these rows as draws of one law."""
        classes = self.known_classes
        takes_tables = self.by_tables and classes is not None and self.units is None
        return measure.holds_for_one_law(len(classes) if takes_tables and classes is not None else 0)

    def has_interval(self, metric: Metric) -> bool:
        """Return whether a metric has an interval of its own on these rows."""
        try:
            return metric.has_interval and self.measure_of(metric) is not None
        except ValueError:
            return False

    def takes_rows(self, metric: Metric) -> bool:
        """Return whether only rows of a guess let a metric have an interval on these units."""
        return self.units is not None and self.has_interval(metric) and self.measure_of(metric).needs_rows

    def check_weights(self, metric: Metric) -> None:
        """Raise ValueError if rows have weights, which a metric without an interval cannot take."""
        n_classes = 2 if self.classes is None else len(self.classes)
        if self.weight is not None and not metric.takes_weights(n_classes):
            expected, owner = "a scorer that takes sample_weight", "a holdout with sample_weight"
            expected += f" for {n_classes} classes" if metric.takes_weights() else ""
            fix = (
                "Use such a scorer: scoring(estimator, X, y, sample_weight=None); or leave out sample_weight."
            )
            raise bad_parameter("scoring", owner, expected, metric.name, fix)

    def describe_counts(self, key: bytes) -> dict[str, Any]:
        """Return what the first record says of the classes and their counts; nothing where y holds numbers.

        Both are public.
        """
        if self.classes is None:
            return {}
        digest = canonical_digest((labels_digest(self.classes), self.class_counts)).encode()
        return {"counts": hmac.new(key, digest, hashlib.sha256).hexdigest()}

    def describe_units(self, secret: bytes) -> dict[str, Any]:
        """Return what the ledger's first record says of weights and groups; nothing if there are none."""
        if self.units is None:
            return {}
        digest = canonical_digest((self.units.weight, self.units.unit)).encode()
        about = {
            "number": self.n_units, "weights": self.units.has_weight, "groups": self.units.has_groups,
            "weight_bound": self.units.bound, "digest": hmac.new(secret, digest, hashlib.sha256).hexdigest(),
        }  # fmt: skip
        return {"units": about}

    def subsample_size(self, n_subsamples: int, *, stratify: bool = False) -> int:
        """Return how many units (rows, or groups) each of so many subsamples has."""
        counts = self.class_counts if stratify else np.array([self.n_units])
        return int((counts // n_subsamples).sum())

    def partition(self, secret: bytes, n_subsamples: int, *, stratify: bool = False) -> Subsamples:
        """Return row numbers of disjoint subsamples of equally many units (rows or groups).

        They are a function of the secret, and all questions use the same ones. With ``stratify`` all
        subsamples have the same class counts; the rows of a class that cannot be divided evenly are left out.
        """
        most = int(self.class_counts.min()) if stratify else self.n_units
        if not 1 <= n_subsamples <= most:
            what = f"{most} {'groups' if self.has_groups else 'rows'} of the holdout"
            raise bad_parameter("n_subsamples", "Holdout", f"between 1 and the {what}", n_subsamples)
        one_order_serves_all = not stratify and not self.has_groups
        key = (secret, 0 if one_order_serves_all else n_subsamples)
        latest = self._partition  # read once, as another thread may replace it
        if latest is None or latest[0] != key:
            order = _shuffled(self.n_units, secret)
            drawn: Subsamples = order
            if stratify:
                drawn = _of_each_class(order, self.y, n_subsamples)
            elif self.units is not None and self.has_groups:
                drawn = _whole_groups(_cut(order, n_subsamples), self.units.unit)
            latest = self._partition = key, drawn
        return _cut(np.asarray(latest[1]), n_subsamples) if one_order_serves_all else latest[1]


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


def _shuffled(n: int, secret: bytes) -> NDArray[np.integer]:
    """Return the numbers of n rows in an order fixed by the secret; as 32-bit integers where they do."""
    seed = hmac.new(secret, b"partition", hashlib.sha256).digest()
    order: NDArray[np.integer] = np.arange(n, dtype=np.int32 if n < 2**31 else np.int64)
    np.random.default_rng(int.from_bytes(seed, "little")).shuffle(order)
    return order


def _cut(order: NDArray[np.integer], n_subsamples: int) -> NDArray[np.integer]:
    """Return disjoint subsamples of equal size, in this order.

    Row numbers of shape (n_subsamples, t).

    Examples
    --------
    >>> _cut(np.arange(7), 3)
    array([[0, 1],
           [2, 3],
           [4, 5]])
    """
    size = len(order) // n_subsamples  # what cannot be divided evenly is left out
    return order[: n_subsamples * size].reshape(n_subsamples, size)


def _of_each_class(order: NDArray[np.integer], y: NDArray[Any], n_subsamples: int) -> NDArray[np.integer]:
    """Return subsamples with equal class counts; the rows of each class are taken in the given order.

    Examples
    --------
    >>> _of_each_class(np.arange(5), np.array(["a", "b", "a", "b", "a"]), 2)
    array([[0, 1],
           [2, 3]])
    """
    labels = y[order]
    return np.concatenate([_cut(order[labels == label], n_subsamples) for label in np.unique(y)], axis=1)


def _whole_groups(groups: NDArray[np.integer], group_of: NDArray[np.int64]) -> list[NDArray[np.integer]]:
    """Return the rows of each subsample; row i of the matrix ``groups`` has the groups of subsample i.

    Examples
    --------
    >>> _whole_groups(np.array([[2, 0], [1, 3]]), np.array([0, 0, 1, 2, 3, 3]))
    [array([3, 0, 1]), array([2, 4, 5])]
    """
    order = np.argsort(group_of, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(group_of))[:-1])
    return [np.concatenate([members[group] for group in some]) for some in groups]
