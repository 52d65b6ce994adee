"""Check the model or predictions that a holdout is asked about, and recognise them.

**Keys.** What must agree for a recorded answer to be proposed again is made without the holdout's rows: if it
depended on them, whether there is a recorded answer would reveal something about them. Two keys for one
question only make it cost twice, so a model whose content cannot be read gets a random key, a nonce. That two
questions have one key cannot be excluded, as a model may depend on what no digest sees: so a key only
proposes, and what the model predicts on the holdout confirms it, at a price (`confirming.Proposal`).

**Predictions** are labels from anywhere for the holdout's rows, asked about as a model is.

Whoever hands them in may have seen the holdout's X, and usually has: they are no function of one row, and
there is no population to which they apply. What is certified is the expected score *on these rows*: the mean,
over the rows, of the probability that a label drawn anew given X is the one that was predicted.

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
ledger: its certificate speaks of the population. That assumption is in every certificate
that is given after predictions were asked about.

**What a model predicts** on the holdout is kept as a summary, with which a later prediction is compared.

A digest of a model cannot see everything that its predictions depend on (weights in a file, a patched
library), so the digest only proposes that a question was asked before. Whether it was, its
predictions on the holdout's rows decide: each answer's record keeps a summary of them.

Labels, and everything else that is no float, are kept as a keyed hash. Floats differ in their last bits
between two predictions of one model (threads add in another order), and a hash of rounded numbers would
differ, too, whenever one of many thousands lies at the edge between two rounded values. So there are 16 sums
of all floats, each with random signs. They are linear, and the root mean square of the 16 differences is
about the norm of all that differs. Two models for which it is at most 1e-6 have one answer:

- The metric's values v, of the holdout or of each of its subsamples, enter as ``arcsinh v``, so that what is
  recorded is the other model's value within 1e-6, or within a millionth of it where it is large. If the
  metric has a range narrower than 1, v is a part of that.
- Outputs x enter as ``x / |x|`` and ``ln |x|``, so a difference counts as a part of their norm. A tenth of
  that counts where they have single precision, whose last bits are larger. In ``|x|`` is 1e-10 for each
  number: where a sum cancels to nearly 0, all its digits are last bits.

More than that is taken for the same only if all 16 differences happen to cancel, with probability ``2^-16``
at worst (two numbers that differ by equal amounts, at the same value of the metric).

The signs and the key of the hash are made of the ledger's secret and the record's key, and what is kept is
XORed with a pad of the same origin, used once. So without the secret it is as good as random, has the same
length whatever was predicted, and two records of equal outputs look unrelated. With the secret the values can
be read, so where only the holder of a private key may read them (``seal_key=``), they are left out: what was
released, and the outputs, are all that is compared. Where there are no outputs the question is a new one each
time.
"""

from __future__ import annotations

import base64
import binascii
import copy
import hashlib
import hmac
import json
import math
import os
import re
import struct
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
import scipy
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from sklearn_ada._validation import bad_parameter, counted, printable
from sklearn_ada.accounting.events import Symbol
from sklearn_ada.data.columns import Column, UnreadableRowsError, column_of, lies_elsewhere
from sklearn_ada.data.labels import are_classes, family, is_missing, of_one_type
from sklearn_ada.digest.canonical import canonical_digest
from sklearn_ada.digest.code import Undigestible
from sklearn_ada.digest.rows import id_hashes
from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.metrics.outputs import Given, StoredOutputs
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.policy import Policy

_METHODS = ("predict", "predict_proba", "decision_function")  # one of them is what a metric reads of a model
_LONGEST = 60  # characters of a name
_VERSIONS = {each.__name__: each.__version__ for each in (np, scipy, sklearn)}
_FLOAT_IN_TEXT = re.compile(r"\d+\.\d+(e[+-]?\d+)?|\d+e[+-]?\d+")


@dataclass(frozen=True)
class Subject:
    """What a question is about: a fitted model or predictions, checked and digested once.

    Parameters
    ----------
    estimator : object
        The model; of `Predictions` those in the order of the holdout's rows.
    digest : str
        Of its state, taken before it predicted anything: some models change when they do.
    name : str
        For people who read records.
    owner : str
        What was called, for messages.
    is_given : bool
        Whether it is predictions, which may depend on the holdout's X.
    """

    estimator: Any
    digest: str
    name: str
    owner: str
    is_given: bool = False

    @classmethod
    def of(
        cls, estimator: Any, data: HoldoutData, policy: Policy, owner: str, *, fitted: bool = False
    ) -> Subject:
        """Return what is asked about, or raise before anything is charged.

        ``fitted`` says that whoever asks has fitted the model, which need not show it.

        Raises
        ------
        TypeError
            If it has no ``predict``, ``predict_proba`` or ``decision_function``.
        NotFittedError
            If it is not fitted.
        ValueError
            If it was fitted on other columns, or lacks a class of the holdout; if the holdout cannot certify
            predictions, or these are not for its rows.
        """
        is_given = isinstance(estimator, Predictions)
        if is_given:
            _check_answers_predictions(data, policy)
            estimator = estimator._aligned(data, owner)
        digest = model_digest(estimator)
        _check_model(estimator, data, owner, fitted)
        return cls(estimator, digest, name_of_model(estimator), owner, is_given)

    @classmethod
    def of_pair(cls, a: Any, b: Any, data: HoldoutData) -> Subject:
        """Return two models as one to ask about, or raise before anything is charged.

        A `ReusableHoldoutCV` that has a best model stands for that one, whether it was asked about or not. No
        other class is certain to predict what its ``best_estimator_`` predicts.
        """
        owner = "Holdout.compare"
        a, b = (model.best_estimator_ if _is_search(model) else model for model in (a, b))
        pair = Pair(a, b)
        digest = model_digest(pair)
        for name, model in (("a", a), ("b", b)):
            if isinstance(model, Predictions):
                fix = "Their target is these rows; ask about each: certify(Predictions(...))."
                raise bad_parameter(name, owner, "a fitted model", "Predictions", fix)
            _check_model(model, data, owner)
        first, second = (getattr(model, "classes_", None) for model in (a, b))
        if first is not None and second is not None and not np.array_equal(first, second):
            got = f"{len(np.asarray(second))} classes"
            raise bad_parameter("b", owner, "fitted on the classes of a", got)
        return cls(pair, digest, name_of_model(pair), owner)

    def copy(self) -> Any:
        """Return a copy to be asked and discarded."""
        return discarded_copy(self.estimator, self.owner)


class Pair:
    """Two fitted models; ``predict`` returns the predictions of both, side by side.

    Parameters
    ----------
    a, b : fitted estimator
    """

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    @property
    def classes_(self) -> Any:
        """The classes of the first model, which are those of the second; AttributeError if it has none."""
        return self.a.classes_

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions of both models."""
        return np.stack([np.asarray(each.predict(X)) for each in (self.a, self.b)], axis=1)


def discarded_copy(estimator: Any, owner: str) -> Any:
    """Return a copy of a model to be asked and discarded; TypeError if it cannot be copied.

    A model that changes when it predicts could keep something of the holdout's rows.
    """
    try:
        return copy.deepcopy(estimator)
    except Exception as error:  # whatever the model's parts raise
        raise TypeError(
            f"The 'estimator' parameter of {owner} must be a model that can be copied. Got "
            f"{type(estimator).__name__} instead ({error}). Leave out what cannot be copied, such as a lock, "
            "or define __deepcopy__."
        ) from error


def name_of_model(estimator: Any) -> str:
    """Return the name of a model's class; of a pipeline, its last step's, too.

    It is for people who read records. It is no part of a question, and nothing is computed from it.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> name_of_model(SVC()), name_of_model(make_pipeline(StandardScaler(), SVC()))
    ('SVC', 'Pipeline: SVC')
    """
    if isinstance(estimator, Pair):
        return f"{name_of_model(estimator.b)} minus {name_of_model(estimator.a)}"[:_LONGEST]
    names = [type(estimator).__name__]
    steps = getattr(estimator, "steps", None)
    if isinstance(steps, list) and steps and isinstance(steps[-1], tuple) and len(steps[-1]) == 2:
        names.append(type(steps[-1][1]).__name__)
    return printable(": ".join(names))[:_LONGEST]


def _check_model(estimator: Any, data: HoldoutData, owner: str, fitted: bool = False) -> None:
    """Raise unless the model is fitted, on columns and classes like those of the holdout."""
    if not any(callable(getattr(estimator, method, None)) for method in _METHODS):
        raise TypeError(
            f"The 'estimator' parameter of {owner} must be a fitted model, with one of "
            f"{', '.join(_METHODS)}. Got {type(estimator).__name__} instead."
        )
    if hasattr(estimator, "fit") and not fitted:
        _check_fitted(estimator)
    _check_columns(estimator, data, owner)
    classes = getattr(estimator, "classes_", None)
    if data.classes is not None and classes is not None and not isinstance(classes, list):  # of one output
        missing = set(data.classes.tolist()) - set(np.asarray(classes).tolist())
        if missing:
            got, fix = f"{len(classes)} classes, {len(missing)} missing", "Fit on labels like the holdout's."
            raise bad_parameter("estimator", owner, "fitted on all classes of the holdout", got, fix)


def _check_fitted(estimator: Any) -> None:
    """Raise NotFittedError unless scikit-learn says that the model is fitted.

    Attributes that an unfitted clone does not have count as well, for estimators without a trailing
    underscore. A model that is none of scikit-learn's is fitted if it says so, or has attributes whose names
    end in "_".
    """
    says = getattr(estimator, "__sklearn_is_fitted__", None)
    try:
        check_is_fitted(estimator)
        return
    except NotFittedError:
        if hasattr(estimator, "get_params"):
            if says is not None or not _is_set(estimator) - _is_set(clone(estimator)):
                raise
            return
    except AttributeError:  # it has no tags
        pass
    learnt = [name for name in getattr(estimator, "__dict__", ()) if name.endswith("_") and name[:1] != "_"]
    if not (says() if callable(says) else learnt):
        raise NotFittedError(
            f"This {type(estimator).__name__} instance is not fitted yet, or does not say so. Call its fit; "
            "what it learns there must be in attributes whose names end in '_', or it must have "
            "__sklearn_is_fitted__()."
        )


def _is_set(estimator: Any) -> set[str]:
    """Return the names of the attributes that are not None."""
    return {name for name, value in vars(estimator).items() if value is not None}


def _check_columns(estimator: Any, data: HoldoutData, owner: str) -> None:
    features = getattr(estimator, "n_features_in_", None) or None  # 0: CatBoost, after pickle and copy
    expected = data.n_columns
    if features is not None and expected is not None and features != expected:
        raise bad_parameter("estimator", owner, f"fitted on {expected} columns", f"{features} columns")
    names = getattr(estimator, "feature_names_in_", None)
    columns = getattr(data.X, "columns", None)
    if names is not None and columns is not None and list(names) != list(columns):
        wanted = "fitted on the holdout's columns, in their order"
        raise bad_parameter("estimator", owner, wanted, list(names)[:5])


def _is_search(model: Any) -> bool:
    return hasattr(model, "train_indices_") and hasattr(model, "best_estimator_")


def model_digest(estimator: Any) -> str:
    """Return a digest of a fitted model, or a nonce if it cannot be read.

    Take it before the model predicts anything: some models change when they do. Predictions that were given
    are their labels and nothing else, no code and no version of this package.
    """
    given = isinstance(estimator, Given)
    return _digest_or_nonce(("given", estimator.given_outputs) if given else estimator)


def metric_identity(metric: Metric) -> dict[str, Any]:
    """Return a metric's description with the digest of its function, ready for JSON.

    Two functions of the same name are two metrics.
    """
    scoring = metric.scoring
    named = scoring if isinstance(scoring, str) else _digest_or_nonce(scoring)
    return {"metric": metric.describe(), "scoring": named}


def subject_key(model: str, metric: dict[str, Any], mechanism: str, top_ups: int = 0) -> str:
    """Return a digest of what a question is about: model, metric, mechanism, but not the guess.

    ``metric`` is its `metric_identity`; ``mechanism`` the name of one, or "declared" for the key of a
    declared model. ``top_ups`` counts how often rows were added to the holdout: afterwards the question is
    another one.
    """
    return _digest({"model": model, "top_ups": top_ups, "mechanism": mechanism, **metric})


def question_key(
    subject: str, purpose: str, guess: dict[str, Any], outputs: str, plan: dict[str, Any], digits: int = 9
) -> str:
    """Return the key of a question.

    It holds the subject, the purpose, the guess, the mechanism's plan and the versions of NumPy, SciPy and
    scikit-learn; of all floats so many ``digits``. ``outputs`` is a digest of the rows of the guess or, where
    only public rows can confirm that the model is the same, of the model's outputs on them.
    """
    return _digest(
        {
            "subject": subject,
            "purpose": purpose,
            "guess": rounded(guess, digits),
            "outputs": outputs,
            "plan": rounded(plan, digits),
            "versions": _VERSIONS,
        }
    )


def rounded(part: Any, digits: int = 9) -> Any:
    """Return a part of a question with all floats rounded, also those in texts.

    A guess is a mean of outputs, so its last bits differ from run to run if threads add in another order, and
    half of its digits do where a device computes in single precision.

    Examples
    --------
    >>> rounded({"centre": 0.1 + 0.2, "grid": "UniformGrid(0.30000000000000004, 1.0, 11)"})
    {'centre': 0.3, 'grid': 'UniformGrid(0.3, 1.0, 11)'}
    """
    if isinstance(part, dict):
        return {name: rounded(each, digits) for name, each in part.items()}
    if isinstance(part, str):
        return _FLOAT_IN_TEXT.sub(lambda found: repr(rounded(float(found.group()), digits)), part)
    return float(f"{part:.{digits}g}") if isinstance(part, float) else part


def selection_key(metric: Metric, models: Sequence[str], epsilon: float | str | None, top_ups: int) -> str:
    """Return the key of a choice among models: the models in their order, the metric and epsilon."""
    subject = subject_key(" ".join(models), metric_identity(metric), "selection", top_ups)
    return "selection " + _digest({"subject": subject, "epsilon": epsilon, "versions": _VERSIONS})


def _digest_or_nonce(content: Any) -> str:
    try:
        return canonical_digest(content)
    except Undigestible:
        return f"nonce {uuid.uuid4().hex}"


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


_SHOWN = 3
_LABELS = "class labels, one for each row"


class Predictions(Given):
    """Predicted labels for the rows of a holdout, from any framework, language or service.

    ``Holdout.check``, ``certify``, ``check_many``, ``select`` and ``declare`` take them in place of a model.
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
    used. Proof: `sklearn_ada.terms.models`.

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
        if family(values) != family(data.labels):
            raise _bad(owner, f"labels that are {family(data.labels)}, as y is", f"{values.dtype} values")
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
        classes = {*np.asarray(data.classes).tolist(), *named}
        others = [label for label in labels.tolist() if label not in classes]
        if others:
            shown = ", ".join(printable(repr(label)) for label in others[:_SHOWN])
            more = ", ..." if len(others) > _SHOWN else ""
            got = f"{counted(len(others), 'other label')}: {shown}{more}"
            fix = "If they are meant, name them: Predictions(..., classes=[...])."
            raise _bad(owner, "labels that rows of the holdout have", got, fix)
        plain = labels.tolist() if family(labels) != "numbers" else list(map(int, labels.tolist()))
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


def _check_answers_predictions(data: HoldoutData, policy: Policy) -> None:
    """Raise ValueError if a holdout cannot certify predictions."""
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


def public_predictions(rows: Any, owner: str) -> tuple[Predictions, NDArray[Any]]:
    """Return predictions for public rows as what predicts, and as the rows, for a guess."""
    if not isinstance(rows, Predictions) or rows._ids is not None:
        got = type(rows).__name__ if not isinstance(rows, Predictions) else "predictions with ids"
        fix = "Predictions know no other rows: give those for public rows, in the order of their y."
        raise bad_parameter("guess_from", owner, "(Predictions(labels), y), without ids", got, fix)
    return rows, rows.values


def check_predictions(metric: Metric, owner: str) -> None:
    """Raise ValueError unless a metric is a mean of 0/1 losses of labels."""
    if not (metric.has_interval and metric.rule.counts):
        whose, fix = f"{owner} of predictions", "Other scores on these very rows have no certificate here."
        raise bad_parameter("scoring", whose, "a mean of 0/1 losses, such as 'accuracy'", metric.name, fix)


def on_these_rows(metric: Metric) -> str:
    """Return what is certified of predictions that may depend on X.

    Examples
    --------
    >>> on_these_rows(Metric("accuracy"))
    'expected accuracy on these rows of X, over labels drawn anew given X'
    """
    return f"expected {metric.name} on these rows of X, over labels drawn anew given X"


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


_SUMS = 16
_CLOSE = 1e-6
_LAYOUT = struct.Struct(f"<32s{_SUMS}d")
_SIGNS = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)  # of each octet
_LEAST = 1e-10
_SINGLE = 0.1
_REAL = (float, np.float64, np.float32, np.float16)


@dataclass(frozen=True)
class OutputSummary:
    """A model's outputs for some rows, and the metric's values, to compare them later.

    Labels are kept as a hash, numbers as they are.

    Parameters
    ----------
    exact : bytes
        Hash of all that must be equal: labels, names and shapes, and where numbers are not finite.
    numbers : ndarray of float
        Finite numbers, which may differ in their last bits.
    outputs : bytes or None, default=None
        The hash without the metric's values; None where there are only values.
    values : int, default=0
        How many of the numbers, at their end, are values of the metric.
    """

    exact: bytes = field(repr=False)
    numbers: NDArray[np.float64] = field(repr=False)
    outputs: bytes | None = field(default=None, repr=False)
    values: int = field(default=0, repr=False)

    @classmethod
    def of(cls, outputs: Any, values: Any = (), unit: float = 1.0) -> OutputSummary:
        """Return the summary of outputs or of a failure, and of the metric's values.

        Parameters
        ----------
        outputs : array-like, StoredOutputs, tuple of Symbol, or mapping of str to these
            What cannot be read agrees with nothing, not even with itself.
        values : float or array-like, default=()
            Of the metric; NaN where there is none.
        unit : float, default=1.0
            What the values are divided by.
        """
        exact, numbers = hashlib.sha256(), [np.empty(0)]
        try:
            with np.errstate(all="ignore"):
                read = _read("", outputs)
                for text, floats in read:
                    exact.update(_with_length(text))
                    numbers.append(floats)
                alone = exact.digest() if read else None
                text, floats = _of_values(values, unit)
                exact.update(_with_length(text))
                return cls(exact.digest(), np.concatenate([*numbers, floats]), alone, len(floats))
        except Exception:  # whatever the parts of somebody's objects raise
            return cls(os.urandom(32), np.empty(0))

    @classmethod
    def of_column(cls, column: Column, values: Any, unit: float = 1.0) -> OutputSummary:
        """Return `of` for labels that are read block by block."""
        head = _head("/outputs", column.shape, column.dtype.kind) + column.dtype.str.encode()
        length = len(head) + len(column) * column.dtype.itemsize
        text, floats = _of_values(values, unit)
        alone, exact = column.sha256(length.to_bytes(8, "little") + head, (b"", _with_length(text)))
        return cls(exact, floats, alone, len(floats))

    @classmethod
    def joined(cls, several: Sequence[OutputSummary]) -> OutputSummary:
        """Return the summary of several models, without values of the metric.

        Where one of them has only values, nothing agrees with it.
        """
        parts = [each.without_values() for each in several]
        exact = hashlib.sha256(b"".join(part.exact for part in parts)).digest()
        return cls(exact, np.concatenate([np.empty(0), *(part.numbers for part in parts)]))

    def without_values(self, released: object = None) -> OutputSummary:
        """Return the summary with what was released (JSON) instead of the metric's values.

        Where there are only values, nothing agrees with it: the question is new each time.
        """
        if self.outputs is None:
            return type(self)(os.urandom(32), np.empty(0))
        text = json.dumps(released, sort_keys=True).encode()
        numbers = self.numbers[: len(self.numbers) - self.values]
        return type(self)(_derived(self.outputs, "released", text), numbers)

    def sealed(self, key: bytes) -> str:
        """Return the summary, hidden from whoever does not have the key of its record."""
        content = _LAYOUT.pack(self._hashed(key), *self._sums(key))
        return base64.b64encode(_padded(content, key)).decode()

    def agrees_with(self, sealed: str, key: bytes) -> bool:
        """Return whether a recorded summary is the same; ``key`` is that of its record.

        Raises
        ------
        LedgerDamagedError
            If it is no summary.
        """
        try:
            hashed, *sums = _LAYOUT.unpack(_padded(base64.b64decode(sealed, validate=True), key))
        except (binascii.Error, struct.error, TypeError, ValueError) as error:
            raise LedgerDamagedError(
                "What a record keeps of a model's outputs cannot be read: the ledger was edited."
            ) from error
        if not hmac.compare_digest(hashed, self._hashed(key)):
            return False
        return bool(np.sqrt(np.mean((self._sums(key) - np.array(sums)) ** 2)) <= _CLOSE)

    def _hashed(self, key: bytes) -> bytes:
        return _derived(key, "exact", self.exact)

    def _sums(self, key: bytes) -> NDArray[np.float64]:
        """Return the sums of the numbers with random signs."""
        count, size = len(self.numbers), _SUMS // 8
        # Bits of a hash are the same for ever and everywhere, unlike those of a random generator.
        drawn = hashlib.shake_256(_derived(key, "signs")).digest(size * count)
        octets = np.frombuffer(drawn, dtype=np.uint8).reshape(count, size)
        # Numbers with the same eight signs are added first, which is much quicker than a product.
        totals = [np.bincount(octets[:, j], weights=self.numbers, minlength=256) for j in range(size)]
        return np.concatenate([total @ _SIGNS for total in totals])


@dataclass(frozen=True)
class Observation:
    """What one look at the holdout gave; nobody is shown it.

    What is released of it is recorded first.

    Parameters
    ----------
    seen : object
        What the question's ``release`` takes: a value, symbols, grid indices.
    outputs : OutputSummary
        What the model predicted, for a later comparison.
    """

    seen: Any = field(repr=False)
    outputs: OutputSummary = field(repr=False)


def observed(metric: Metric, seen: Any, outputs: Any, values: Any) -> Observation:
    """Return what was seen, with the summary of the model's outputs.

    Parameters
    ----------
    metric : Metric
    seen : object
    outputs : ndarray, Column, StoredOutputs or None
        What the metric has read of the model; None where it asked the model itself.
    values : float or ndarray
        Of the metric. They are compared as well, as they may depend on more than the outputs: a function of
        the user's may have changed without its digest, or ``classes_`` be read from a file.
    """
    if isinstance(outputs, Column) and outputs.dtype.kind == "f":  # compared as floats of few rows are
        outputs = np.asarray(outputs)
    if isinstance(outputs, Column):
        return Observation(seen, OutputSummary.of_column(outputs, values, unit_of(metric)))
    named = {} if outputs is None else {"outputs": outputs}
    return Observation(seen, OutputSummary.of(named, values, unit_of(metric)))


def unit_of(metric: Metric) -> float:
    """Return what a metric's values are divided by: the width of a range narrower than 1, else 1."""
    low, high = metric.range or (0.0, 1.0)
    return min(high - low, 1.0)


def _read(name: str, part: Any) -> list[tuple[bytes, NDArray[np.float64]]]:
    """Return the exact text and the numbers of all parts."""
    if isinstance(part, StoredOutputs):
        part = part.outputs
    if isinstance(part, Mapping):
        return [each for inner in sorted(part) for each in _read(f"{name}/{inner}", part[inner])]
    if isinstance(part, tuple) and all(isinstance(each, Symbol) for each in part):
        return [(json.dumps([name, [symbol.to_dict() for symbol in part]]).encode(), np.empty(0))]
    array = np.asarray(part)
    if array.dtype.kind == "O" and all(type(each) in _REAL for each in array.ravel().tolist()):
        array = array.astype(np.float64)
    head = _head(name, array.shape, array.dtype.kind)
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag])
    if array.dtype.kind == "f":
        factor = 1.0 if array.dtype.itemsize >= 8 else _SINGLE
        where, floats = _finite(array.astype(np.float64).ravel())
        return [(head + where, factor * _with_norm(floats))]
    return [(head + _of_others(array), np.empty(0))]


def _head(name: str, shape: tuple[int, ...], kind: str) -> bytes:
    return json.dumps([name, shape, kind]).encode()


def _with_length(text: bytes) -> bytes:
    return len(text).to_bytes(8, "little") + text


def _of_values(values: Any, unit: float) -> tuple[bytes, NDArray[np.float64]]:
    """Return the exact text and the numbers of a metric's values."""
    where, numbers = _finite(np.asarray(values, dtype=np.float64).ravel())
    return json.dumps(["value", len(numbers)]).encode() + where, np.arcsinh(numbers / unit)


def _finite(values: NDArray[np.float64]) -> tuple[bytes, NDArray[np.float64]]:
    """Return where numbers are not finite, and the numbers with zeros in these places."""
    finite = np.isfinite(values)
    if finite.all():
        return b"", values
    where = np.where(finite, 0.0, np.nan_to_num(values, nan=2.0, posinf=1.0, neginf=-1.0))
    return where.tobytes(), np.where(finite, values, 0.0)


def _with_norm(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the direction of some numbers followed by the logarithm of their norm."""
    if not len(values):
        return values
    largest = max(float(np.abs(values).max()), _LEAST)
    scaled = values / largest  # so that no square overflows
    norm = math.hypot(float(np.linalg.norm(scaled)), _LEAST / largest * math.sqrt(len(values)))
    return np.append(scaled / norm, math.log(largest) + math.log(norm))


def _of_others(array: NDArray[Any]) -> bytes:
    if array.dtype.kind not in "OTV":
        return array.dtype.str.encode() + np.ascontiguousarray(array).tobytes()
    listed = array.ravel().tolist()
    if all(type(each) is str for each in listed):  # much quicker than a digest
        return json.dumps(listed).encode()
    return canonical_digest(listed).encode()


def _derived(key: bytes, purpose: str, content: bytes = b"") -> bytes:
    return hmac.new(key, purpose.encode() + b"\0" + content, hashlib.sha256).digest()


def _padded(content: bytes, key: bytes) -> bytes:
    pad = hashlib.shake_256(_derived(key, "pad")).digest(len(content))
    return bytes(one ^ other for one, other in zip(content, pad, strict=True))
