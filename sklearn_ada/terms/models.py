"""Check the model that a holdout is asked about, and give its questions keys.

**Keys.** What must agree for a recorded answer to be proposed again is made without the holdout's rows: if it
depended on them, whether there is a recorded answer would reveal something about them. Two keys for one
question only make it cost twice, so a model whose content cannot be read gets a random key, a nonce. That two
questions have one key cannot be excluded, as a model may depend on what no digest sees: so a key only
proposes, and what the model predicts on the holdout confirms it, at a price (`asking.Proposal`).
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from sklearn_ada._notices import muted
from sklearn_ada._validation import bad_parameter, printable
from sklearn_ada.accounting.events import BLOCKS
from sklearn_ada.digest.canonical import canonical_digest
from sklearn_ada.digest.code import Undigestible
from sklearn_ada.digest.lasting import Note, lasting_digest
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.metrics.outputs import Given
from sklearn_ada.metrics.scorers import OF_EITHER, as_shortest, score_of
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.policy import Policy
from sklearn_ada.terms.predictions import Predictions, in_order_of

_METHODS = ("predict", "predict_proba", "decision_function")  # one of them is what a metric reads of a model
_MADE_UP, _MOST_NOTES = 400, 50  # rows, and notes that are tried
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
            estimator = in_order_of(estimator, data, policy, owner)
        digest = model_digest(estimator, data, policy)
        _check_model(estimator, data, owner, fitted)
        return cls(estimator, digest, name_of_model(estimator), owner, is_given)

    @classmethod
    def of_pair(cls, a: Any, b: Any, data: HoldoutData, policy: Policy) -> Subject:
        """Return two models as one to ask about, or raise before anything is charged.

        A `ReusableHoldoutCV` that has a best model stands for that one, whether it was asked about or not. No
        other class is certain to predict what its ``best_estimator_`` predicts. `Predictions` are compared
        with predictions: what they are worth on these rows is not what a model is worth in the population.
        """
        owner = "Holdout.compare"
        a, b = (model.best_estimator_ if _is_search(model) else model for model in (a, b))
        are_given = [isinstance(model, Predictions) for model in (a, b)]
        if are_given[0] != are_given[1]:
            fix = "Their target is these rows. Give Predictions of both, Predictions(model.predict(X))."
            name, expected = ("b", "Predictions as a is") if are_given[0] else ("b", "a fitted model as a is")
            raise bad_parameter(name, owner, expected, type(b).__name__, fix)
        if are_given[0]:
            a, b = (in_order_of(model, data, policy, owner) for model in (a, b))
        pair = Pair(a, b)
        digest = model_digest(pair, data, policy)
        for model in (a, b):
            _check_model(model, data, owner)
        first, second = (getattr(model, "classes_", None) for model in (a, b))
        if first is not None and second is not None and not np.array_equal(first, second):
            got = f"{len(np.asarray(second))} classes"
            raise bad_parameter("b", owner, "fitted on the classes of a", got)
        return cls(pair, digest, name_of_model(pair), owner, are_given[0])

    def copy(self) -> Any:
        """Return a copy to be asked and discarded."""
        return discarded_copy(self.estimator, self.owner)

    def declared_key(self, metric: Metric) -> str:
        """Return its key among declared models, of which nothing is left out.

        That a declared model is the one that was declared, its digest alone must show.
        """
        return subject_key(digest_or_nonce(self.estimator), metric_identity(metric), "declared")


class Pair:
    """Two fitted models; ``predict`` returns the predictions of both, side by side.

    Parameters
    ----------
    a, b : fitted estimator or Predictions
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
            f"{', '.join(_METHODS)}. Got {type(estimator).__name__} instead. Of labels that were predicted "
            "elsewhere give Predictions(labels)."
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
        data.check_paid_for(classes, "estimator", owner)


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
    wrong = _differing_names(estimator, data.X)
    if wrong is not None:
        wanted = "fitted on the holdout's columns, in their order"
        raise bad_parameter("estimator", owner, wanted, *wrong)


def _differing_names(estimator: Any, X: Any) -> tuple[str, str] | None:
    """Return how the columns' names of a model and of a table differ, and what to do; None if they do not.

    Where scikit-learn would warn, somebody may have mixed up columns. Its warning is muted while the holdout
    is looked at, as that of a model may quote rows.
    """
    own, held = _names_of_model(estimator), list(getattr(X, "columns", ()))
    has_names = bool(held) and all(isinstance(name, str) for name in held)  # as scikit-learn counts them
    if own is None:
        if not has_names or not _keeps_names(estimator):
            return None
        fix = f"Fit it on a frame like the holdout's, or open the holdout, {_SAME_LEDGER}, with X.to_numpy()."
        return f"a model that was fitted without names, where the holdout has {held[0]!r}, ...", fix
    names = [str(name) for name in held]
    if not has_names and own != names:
        fix = f"Open the holdout, {_SAME_LEDGER}, with a frame of the columns that the model was fitted on."
        return f"a model of {own[0]!r}, ..., where the holdout has no names", fix
    differ = [
        (number, one, other)
        for number, (one, other) in enumerate(zip(own, names, strict=False))
        if one not in (other, other.replace(" ", "_"))  # which LightGBM writes
    ]
    if not differ:
        return None
    number, one, other = differ[0]
    what = "the columns that the model was fitted on"
    if sorted(own) == sorted(names):
        what = "the columns in the model's order, X[list(model.feature_names_in_)]"
    fix = f"Open the holdout, {_SAME_LEDGER}, with {what}."
    return f"{one!r} as column {number}, where the holdout has {other!r}", fix


_SAME_LEDGER = "on the same ledger"  # which labels identify


def _names_of_model(estimator: Any) -> list[str] | None:
    """Return the names of the columns that a model was fitted on; None if it had none, or keeps none."""
    kept = getattr(_first_to_see_columns(estimator), "feature_names_in_", None)
    names = [] if kept is None else [str(name) for name in kept]
    of_an_array = [f"Column_{number}" for number in range(len(names))]  # by LightGBM
    return None if names == of_an_array else names


def _keeps_names(estimator: Any) -> bool:
    """Return whether a model would have the names of the columns that it was fitted on.

    Those do whose ``fit`` is scikit-learn's, and that of their parts.
    """
    estimator = _first_to_see_columns(estimator)
    params = estimator.get_params() if hasattr(estimator, "get_params") else {}
    parts = [estimator, *(part for part in params.values() if hasattr(part, "fit"))]
    fits = [getattr(type(part), "fit", None) for part in parts]
    keeps = all(str(getattr(fit, "__module__", "")).startswith("sklearn.") for fit in fits)
    return keeps and getattr(estimator, "n_features_in_", None) is not None


def _first_to_see_columns(estimator: Any) -> Any:
    """Return the first step of a pipeline that does something; any other model itself."""
    steps = getattr(estimator, "steps", None)
    if not isinstance(steps, list):
        return estimator
    doing = (step for _, step in steps if step is not None and not isinstance(step, str))
    return _first_to_see_columns(next(doing, None))


def _is_search(model: Any) -> bool:
    return hasattr(model, "train_indices_") and hasattr(model, "best_estimator_")


def model_digest(estimator: Any, data: HoldoutData, policy: Policy) -> str:
    """Return a digest of a fitted model, or a nonce if it cannot be read.

    Take it before the model predicts anything: some models change when they do. Predictions that were given
    are their labels and nothing else, no code and no version of this package.

    Since format 3 it is what lasts of the model (`digest.lasting`). What a model notes down counts only if a
    copy without it says something else about rows that are made up.
    """
    parts = (estimator.a, estimator.b) if isinstance(estimator, Pair) else (estimator,)
    if all(isinstance(part, Given) for part in parts):
        return digest_or_nonce(("given", *(part.given_outputs for part in parts)))
    if not is_lasting(policy):
        return digest_or_nonce(estimator)
    try:
        digest, notes = lasting_digest(estimator)
        return lasting_digest([digest, *_telling_notes(estimator, data)])[0] if notes else digest
    except Undigestible:
        return _nonce()


def is_lasting(policy: Policy) -> bool:
    """Return whether guesses, versions and clocks are no part of questions: since format 3.

    Where privacy certifies nothing confirms on the holdout that a model is the same, so there they are.
    """
    return policy.format >= 3 and not policy.is_private


def metric_identity(metric: Metric) -> dict[str, Any]:
    """Return a metric's description with the digest of its function, ready for JSON.

    Two functions of the same name are two metrics.
    """
    scoring = metric.scoring
    named = scoring if isinstance(scoring, str) else digest_or_nonce(scoring)
    return {"metric": metric.describe(), "scoring": named}


def lasting_identity(metric: Metric, data: HoldoutData) -> dict[str, Any]:
    """Return what a metric computes, ready for JSON: two names of one score are one metric.

    A range that validation rows have suggested is no part of it: what is on record has one.
    """
    described = metric.describe()
    base = getattr(metric, "base", metric)
    if base.string is not None:
        either = base.positive in (None, 1) or (base.string in OF_EITHER and data.format >= BLOCKS)
        of_class = "" if either else f" of {base.positive!r}"
        named = score_of(base.string, 0 if data.classes is None else len(data.classes)) + of_class
    else:
        try:
            named = lasting_digest(as_shortest(base.scoring, data.format))[0]
        except Undigestible:
            named = _nonce()
    of_rows = metric.suggests_range or (metric.has_interval and metric.measure.of_all_rows)
    bounds = None if of_rows else described["range"]
    return {"scoring": named, "kind": described["kind"], "range": bounds}


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
    """Return the key of a question that its guess is part of.

    So it is with noise or a Ladder, where privacy certifies, and in ledgers before format 3; else the key is
    a `lasting_key`. It holds the subject, the purpose, the guess, the mechanism's plan and the versions of
    NumPy, SciPy and scikit-learn; of all floats so many ``digits``. ``outputs`` is a digest of the rows of
    the guess or, where only public rows can confirm that the model is the same, of the model's outputs on
    them.
    """
    fixed = {"guess": to_digits(guess, digits), "plan": to_digits(plan, digits), "versions": _VERSIONS}
    return _digest({"subject": subject, "purpose": purpose, "outputs": outputs, **fixed})


def lasting_key(subject: str, purpose: str, chosen: dict[str, Any]) -> str:
    """Return the key of a question that neither its guess nor a version is part of.

    ``chosen`` is what the asker has chosen of its mechanism.
    """
    return _digest({"subject": subject, "purpose": purpose, "chosen": to_digits(chosen)})


def to_digits(part: Any, digits: int = 9) -> Any:
    """Return a part of a question with all floats rounded, also those in texts.

    A guess is a mean of outputs, so its last bits differ from run to run if threads add in another order, and
    half of its digits do where a device computes in single precision.

    Examples
    --------
    >>> to_digits({"centre": 0.1 + 0.2, "grid": "UniformGrid(0.30000000000000004, 1.0, 11)"})
    {'centre': 0.3, 'grid': 'UniformGrid(0.3, 1.0, 11)'}
    """
    if isinstance(part, dict):
        return {name: to_digits(each, digits) for name, each in part.items()}
    if isinstance(part, str):
        return _FLOAT_IN_TEXT.sub(lambda found: repr(to_digits(float(found.group()), digits)), part)
    return float(f"{part:.{digits}g}") if isinstance(part, float) else part


def selection_key(
    metric: dict[str, Any], models: Sequence[str], epsilon: float | str | None, top_ups: int, *, lasting: bool
) -> str:
    """Return the key of a choice among models: the models in their order, the metric and epsilon.

    Parameters
    ----------
    metric : dict
        Its identity.
    models : sequence of str
        Their digests.
    epsilon : float, str or None
    top_ups : int
    lasting : bool
        Whether versions of libraries are no part of it.
    """
    subject = subject_key(" ".join(models), metric, "selection", top_ups)
    fixed = {} if lasting else {"versions": _VERSIONS}
    return "selection " + _digest({"subject": subject, "epsilon": epsilon, **fixed})


def digest_or_nonce(content: Any) -> str:
    """Return the digest of an object, or a random text if it has none."""
    try:
        return canonical_digest(content)
    except Undigestible:
        return _nonce()


def _nonce() -> str:
    return f"nonce {uuid.uuid4().hex}"


def _telling_notes(model: Any, data: HoldoutData) -> list[Any]:
    """Return what a model predicts on made-up rows, and those of its notes that change this.

    Of a text, such as a path, it counts what the model predicts with it, and not what it is. Where the model
    cannot predict such rows, all notes count that are numbers or texts.
    """
    try:
        with muted():
            tried, rows = copy.deepcopy(model), _made_up_rows(data)
            _, notes = lasting_digest(tried)
            before = _outputs_on(rows, tried)
            return [
                before,
                *(note.value for note in notes[:_MOST_NOTES] if _changes(tried, note, rows, before)),
            ]
    except Exception:  # rows that are no table of numbers, or none of the model's
        return [note.value for note in lasting_digest(model)[1] if note.altered() is not note.value]


def _changes(model: Any, note: Note, rows: Any, before: list[str]) -> bool:
    """Return whether a model predicts something else for rows if a note of its is another one."""
    altered = note.altered()
    if altered is note.value or isinstance(altered, str):
        return False
    try:
        setattr(note.owner, note.name, altered)
        return _outputs_on(rows, model) != before
    except Exception:  # it predicts nothing, or what holds the note does not let go of it
        return True
    finally:
        with suppress(Exception):
            setattr(note.owner, note.name, note.value)


def _outputs_on(rows: Any, model: Any) -> list[str]:
    """Return digests of what the methods of a model predict; of those that it has, one must work."""
    found = []
    for method in _METHODS:
        with suppress(Exception):  # whatever a model raises
            found.append(lasting_digest([method, np.asarray(getattr(model, method)(rows))])[0])
    if not found:
        raise ValueError("The model predicts none of these rows.")
    return found


def _made_up_rows(data: HoldoutData) -> Any:
    """Return rows of as many columns as the holdout has, the same on every machine."""
    count = data.n_columns
    if count is None:
        raise ValueError("The rows are no table.")
    drawn = np.frombuffer(hashlib.shake_256(b"rows").digest(8 * _MADE_UP * count), dtype="<u8")
    scales = np.resize([0.1, 1.0, 10.0, 100.0], _MADE_UP)[:, None]
    rows = (drawn.reshape(_MADE_UP, count) / 2.0**63 - 1.0) * scales
    columns = getattr(data.X, "columns", None)
    return rows if columns is None else type(data.X)(dict(zip(columns, rows.T, strict=True)))


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
