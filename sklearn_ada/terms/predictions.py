"""Take predicted labels for the rows of a holdout in place of a model.

They may come from anywhere. Whoever hands them in may have seen the holdout's X, and usually has: they are no
function of one row, and there is no population to which they apply. What is certified is the expected score
*on these rows*: the mean, over the rows, of the probability that a label drawn anew given X is the one that
was predicted.

**Theorem.** Let the rows be independent draws. For predictions p that depend on X, on earlier answers and on
anything but the labels, let S be the number of rows with ``p_i = Y_i``. With probability at least
``1 - delta`` given X, Clopper and Pearson's interval around ``S / n``, at the level of description length,
contains ``E[S / n | X]``, for all questions of the ledger at once.

**Proof.** Given X the labels are independent, and so, for each fixed vector p, are the n losses. Their
probabilities differ from row to row, so S is a sum of independent and unequal Bernoulli variables and no
binomial one. It has no heavier tails: with ``p`` the mean of the probabilities, ``P[S <= c] <= P[Bin(n, p) <=
c]`` for all integers ``c <= n p - 1``, and ``P[S >= c] <= P[Bin(n, p) >= c]`` for all ``c >= n p + 1``
(Hoeffding 1956, Theorem 4). The tests of Clopper and Pearson's interval are within this: the side of each end
is at most 1/4, and a binomial tail beyond a count less than one away from its mean is larger than that,
except for a single success or failure, where the interval uses ``P[S >= 1] <= n p`` (for a sum of unequal
ones the binomial tail there is *not* a bound). Which p is asked about depends on X and on earlier answers:
given X there is one for each sequence of answers, over which the code gives a union bound, as for models.
No theorem but this one is used: a sealed count takes the tails of unequal rows, too.

**The class counts** are among what has to be paid for. Whoever knows that 55 of 100 coins show heads predicts
heads, is right in 55 cases, and 50 were expected; and given the class counts the labels are not independent
any more. So the holdout needs ``class_mix="priced"``, which pays for the counts once, some ``ln(n + 1)`` nats
for two classes: they are part of the answers over which the union bound goes.

Without X nobody can learn rows by training on them, so nobody who has X may ask about a *model* on the same
ledger: its certificate speaks of the population. That assumption is in every certificate that is given after
predictions were asked about.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ada._validation import bad_parameter, counted, printable
from sklearn_ada.data.columns import Column, UnreadableRowsError, column_of
from sklearn_ada.data.labels import are_classes, is_missing, label_kind, lies_elsewhere, of_one_type
from sklearn_ada.digest.rows import id_hashes
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.metrics.outputs import Given
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.policy import Policy

_SHOWN = 3
_LABELS = "class labels, one for each row"


class Predictions(Given):
    """Hold predictions for the rows of a holdout, from any framework, language or service.

    ``Holdout.check``, ``certify``, ``check_many``, ``compare``, ``select``, ``declare`` and ``keep`` take
    them in place of a model.
    With probability at least ``confidence_level`` all intervals contain the *expected accuracy on these
    rows*: if the labels of these rows were drawn again, given X, the share of them that the predictions would
    be expected to meet. The predictions may depend on all rows of X and on the ledger's earlier answers, but
    on nothing else about the holdout's labels. The same labels for the same rows are the same question,
    whoever asks.

    The metric must be "accuracy", or another name of it such as "f1_micro". The holdout must have
    ``class_mix="priced"``, answer by description length, and have neither weights nor groups nor repeated
    ids. Everything else is refused before anything is charged. A guess is a number, or comes from predictions
    for other rows: ``guess_from=(Predictions(labels), y)``.

    Nobody who has the holdout's X may ask about a *model* on the same ledger, because the certificate of a
    model is about the population. Later certificates name this assumption.

    Parameters
    ----------
    values : array-like of shape (n,)
        Class labels: whole numbers or texts, as the holdout's y. They are copied, except for memory-mapped
        files and Dask arrays of numbers, which are read block by block and must not change.
    ids : array-like of shape (n,) or None, default=None
        The ids of the rows, in any order; needed if the holdout has ids. None: the predictions are in the
        order of the holdout's rows.
    classes : array-like or None, default=None
        Labels that may be predicted although no row of the holdout has them. Any other label is refused, as
        it is more likely a typing error than a loss.

    Raises
    ------
    ValueError
        If they are no labels, or ids are missing or repeated. Whether they fit a holdout is checked when it
        is asked, before anything is charged.

    Notes
    -----
    The number of right predictions is a sum of independent 0/1 variables with unequal probabilities. The
    binomial tails that the interval uses bound its tails (Hoeffding, "On the distribution of the number of
    successes in independent trials", 1956, Theorem 4), except for a single success, where the union bound is
    used. Proof: `sklearn_ada.terms.predictions`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ada import Holdout, Predictions
    >>> y = np.array(["ham", "spam", "ham", "ham"] * 50)
    >>> holdout = Holdout(np.zeros((200, 0)), y, class_mix="priced", ledger=":memory:")
    >>> answer = holdout.certify(Predictions(["ham"] * 200), scoring="accuracy", guess=0.7)
    >>> answer.value, answer.target
    (0.75, 'expected accuracy on these rows of X, over labels drawn anew given X')
    """

    def __init__(
        self, values: ArrayLike, ids: ArrayLike | None = None, classes: ArrayLike | None = None
    ) -> None:
        column = None if ids is not None else _column(values)
        self._values: NDArray[Any] | Column = _frozen(values, "values") if column is None else column
        self._classes = None if classes is None else _frozen(classes, "classes")
        hashed = None if ids is None else id_hashes(ids, "Predictions", len(self._values))
        self._ids: NDArray[np.bytes_] | None = hashed
        repeated = 0 if hashed is None else len(hashed) - len(np.unique(hashed))
        if repeated:
            got = f"{repeated} ids more than once"
            raise bad_parameter("ids", "Predictions", "one prediction for each row", got)

    @property
    def values(self) -> Any:
        """The labels, read-only; where they lie elsewhere, what was given."""
        return self._values.source if isinstance(self._values, Column) else self._values

    @property
    def given_outputs(self) -> NDArray[Any] | Column:
        """The labels as a metric takes them."""
        return self._values

    def predict(self, X: Any = None) -> Any:
        """Return the labels, as `values` has them, whatever rows are given.

        Parameters
        ----------
        X : any, default=None
            Not looked at.
        """
        return self.values

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Predictions({len(self)} rows)"

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self):
            raise AttributeError("Predictions do not change: make others.")
        super().__setattr__(name, value)

    def __deepcopy__(self, memo: object) -> Self:
        return self  # nothing of it changes

    def _aligned(self, data: HoldoutData, owner: str) -> Predictions:
        """Return the predictions in the order of the holdout's rows, in one form.

        Their digest is of this form, so it does not matter what held them: 1, 1.0 and True are one label, in
        any order of ids.
        """
        values = self._values
        if label_kind(values) != label_kind(data.labels):
            first = np.asarray(values.values if isinstance(values, Column) else values)[:1].tolist()[0]
            got = f"{label_kind(values)}, such as {printable(repr(first))}"
            expected = f"labels that are {label_kind(data.labels)}"
            raise _bad(owner, f"{expected}, as y is", got, "Write them as the labels of y are written.")
        order = self._order(data, owner)
        if isinstance(values, Column):
            labels = values.values
            plain = self._checked(labels, data, owner)
            canonical: NDArray[Any] | Column = values.converted(partial(_as, plain.dtype), plain.dtype)
        else:
            labels, positions = np.unique(values[order], return_inverse=True)
            canonical = self._checked(labels, data, owner)[positions.ravel()]
            canonical.flags.writeable = False
        made = object.__new__(type(self))
        vars(made).update(_values=canonical, _ids=None, _classes=None)
        return made

    def _checked(self, labels: NDArray[Any], data: HoldoutData, owner: str) -> NDArray[Any]:
        """Return labels in the type of number that all have; ValueError for an unnamed one."""
        named = () if self._classes is None else self._classes.tolist()
        classes = {*np.asarray(data.known_classes).tolist(), *named}
        others = [label for label in labels.tolist() if label not in classes]
        if others:
            shown = ", ".join(printable(repr(label)) for label in others[:_SHOWN])
            more = ", ..." if len(others) > _SHOWN else ""
            got = f"{counted(len(others), 'other label')}: {shown}{more}"
            fix = "If they are meant, name them: Predictions(..., classes=[...])."
            raise _bad(owner, "labels that rows of the holdout have", got, fix)
        plain = labels.tolist() if label_kind(labels) != "numbers" else list(map(int, labels.tolist()))
        return of_one_type(np.array(plain, dtype=object), "values", owner)

    def _order(self, data: HoldoutData, owner: str) -> Any:
        """Return where the prediction for each row of the holdout stands."""
        if (self._ids is None) != (data.ids is None):
            has, fix = "the predictions", "Leave out ids=."
            if self._ids is None:
                has, fix = "the holdout", "Give them: Predictions(labels, ids)."
            raise _bad(owner, "known by ids as the holdout's rows are", f"ids of {has} alone", fix)
        if self._ids is None or data.ids is None:
            if len(self) != len(data):
                raise _bad(owner, f"labels for the {len(data)} rows of the holdout", f"{len(self)} labels")
            return slice(None)
        others = int((~np.isin(self._ids, data.ids)).sum())
        missing = int((~np.isin(data.ids, self._ids)).sum())
        if others or missing:
            got = f"{missing} rows without a prediction, {others} unknown ids"
            fix = "An id is a number, a text, bytes or a date, and 1 is not '1'."
            raise _bad(owner, "one label for each id of the holdout, and no other", got, fix)
        order = np.argsort(self._ids)
        return order[np.searchsorted(self._ids, data.ids, sorter=order)]


def in_order_of(predictions: Predictions, data: HoldoutData, policy: Policy, owner: str) -> Predictions:
    """Return predictions as a holdout has its rows; ValueError if it cannot certify them."""
    if policy.route != "description_length":
        raise _refused("route", "'description_length'", policy.route, "Transfer theorems take equal rows.")
    if not data.is_classification:
        raise _refused("y", "class labels", "numbers")
    if data.units is not None:
        fix = "Only means over independent rows of equal weight are certified."
        if data.has_groups:
            raise _refused("groups", "left out", "groups, or an id more than once", fix)
        raise _refused("sample_weight", "left out", "weight_bound or sample_weight", fix)
    if policy.class_mix != "priced":
        fix = (
            "Whoever knows the class counts and X can predict the larger class: open the holdout, on a new "
            "ledger, with class_mix='priced', which pays for them."
        )
        raise _refused("class_mix", "'priced'", policy.class_mix, fix)
    return predictions._aligned(data, owner)


def predictions_as_guess(rows: Any, owner: str, form: str = "(Predictions(labels), y)") -> NDArray[Any]:
    """Return the labels of predictions for public rows; ValueError for anything else."""
    if not isinstance(rows, Predictions) or rows._ids is not None:
        got = type(rows).__name__ if not isinstance(rows, Predictions) else "predictions with ids"
        fix = "Predictions know no other rows: give those for public rows, in the order of their y."
        raise bad_parameter("guess_from", owner, f"{form}, without ids", got, fix)
    return np.asarray(rows.values)


def check_predictions(metric: Metric, owner: str) -> None:
    """Raise ValueError unless a metric is a mean of 0/1 losses of labels."""
    base = getattr(metric, "base", metric)  # of each, where two are compared
    if not (base.has_interval and base.certified_measure.counts):
        whose, fix = f"{owner} of predictions", "Other scores on these very rows have no certificate here."
        raise bad_parameter("scoring", whose, "a mean of 0/1 losses, such as 'accuracy'", metric.name, fix)


def on_these_rows(metric: str) -> str:
    """Return what is certified of predictions that may depend on X.

    Examples
    --------
    >>> on_these_rows("accuracy")
    'expected accuracy on these rows of X, over labels drawn anew given X'
    """
    return f"expected {metric} on these rows of X, over labels drawn anew given X"


def _refused(name: str, expected: str, got: object, fix: str = "") -> ValueError:
    return bad_parameter(name, "a Holdout that is asked about Predictions", expected, got, fix)


def _bad(owner: str, expected: str, got: str, fix: str = "") -> ValueError:
    return bad_parameter("estimator", owner, f"predictions: {expected}", got, fix)


def _not_labels(dtype: np.dtype[Any], name: str = "values") -> ValueError:
    fix = "Of scores or probabilities take the label, as in (scores > 0.5).astype(int)."
    got = "numbers with a fraction, NaN or infinite" if dtype.kind == "f" else str(dtype)
    return bad_parameter(name, "Predictions", _LABELS, got, fix)


def _own(values: NDArray[Any]) -> NDArray[Any]:
    """Return a copy that nobody changes."""
    own = np.array(values)
    own.flags.writeable = False
    return own


def _as(dtype: np.dtype[Any], block: NDArray[Any]) -> NDArray[Any]:
    made = block.astype(dtype, copy=False)
    if block.dtype.kind == "f" and not np.array_equal(made, block):
        raise UnreadableRowsError("Predictions that were whole numbers have fractions now.")
    return made


def _column(given: Any) -> Column | None:
    """Return labels that lie elsewhere, and those of many rows, as a column; None for others."""
    given = np.asarray(given) if hasattr(given, "iloc") and not lies_elsewhere(given) else given
    column = column_of(given)
    if column is None:
        return None
    if not lies_elsewhere(given):
        column = Column(_own(given))
    if not column.is_whole or not are_classes(column.values):
        raise _not_labels(column.dtype)
    return column


def _frozen(given: Any, name: str) -> NDArray[Any]:
    """Return labels as a read-only array of numbers or text, or raise ValueError."""
    if given is None or np.ma.is_masked(given):
        raise bad_parameter(name, "Predictions", _LABELS, None if given is None else "masked values")
    try:
        values = np.asarray(given)
    except ValueError:
        raise bad_parameter(name, "Predictions", _LABELS, "rows of unequal length") from None
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        fix = "Of scores or probabilities take the label: classes[probabilities.argmax(axis=1)]."
        raise bad_parameter(name, "Predictions", _LABELS, f"an array of shape {values.shape}", fix)
    if not len(values):
        raise bad_parameter(name, "Predictions", _LABELS, "0 rows")
    if values.dtype.kind == "O" and any(map(is_missing, values.tolist())):
        raise bad_parameter(name, "Predictions", _LABELS, "missing values or NaN")
    values = of_one_type(values, name, "Predictions")
    if values.dtype.kind not in "biufUO" or not are_classes(values):
        raise _not_labels(values.dtype, name)
    if values is given or values.base is not None:
        return _own(values)
    values.flags.writeable = False
    return values
