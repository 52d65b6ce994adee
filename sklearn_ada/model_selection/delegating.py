"""What a wrapper around a search hands on: callbacks to the search, and what its best estimator can do.

**Callbacks** of scikit-learn 1.9 and later, such as its progress bar: those of the wrapper are its search's.
A search reports on itself and takes no notice of who runs it. So it gets the callbacks that were set around
it, and where the wrapper itself is fitted by a search that reports, it takes the wrapper's place there. What
callbacks see are training rows: the holdout is not passed to them.

**Whether rows that are scored are those that were passed to fit**, most of which the model was trained on,
is seen by a digest of each fitted search, kept in this process only: in a pickle it would let anybody test a
guess of the labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_ada._notices import warn_user
from sklearn_ada._validation import bad_parameter
from sklearn_ada.answer import Answer
from sklearn_ada.data.labels import n_rows, take_rows
from sklearn_ada.digest.canonical import canonical_digest
from sklearn_ada.digest.code import Undigestible
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.model_selection.setting_aside import without_column

try:
    from sklearn.callback import CallbackSupportMixin, ProgressBar

    _ONLY_ONE = {ProgressBar}  # two of them in one search end in an error of scikit-learn's
except ImportError:  # before 1.9
    _ONLY_ONE = set()

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: there are no callbacks."""


# What scikit-learn sets on an estimator: the callbacks themselves, and the task that it is part of.
_CALLBACKS, _TASK = "_skl_callbacks", "_parent_callback_ctx"

_OF_SEARCH = (
    "max_resources_", "min_resources_", "multimetric_", "n_candidates_", "n_iterations_",
    "n_possible_iterations_", "n_remaining_candidates_", "n_required_iterations_", "n_resources_",
    "n_splits_", "refit_time_",
)  # fmt: skip
"""Fitted attributes of scikit-learn's searches that are the wrapper's too."""
_ROWS = 256  # of X, evenly spaced; of y all

_of_fit: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


def _to_best(method: str, summary: str, *, has_ids: bool = True) -> Any:
    """Return a method that is that of ``best_estimator_``, and exists where the estimator has it."""

    def has(self: Any) -> bool:
        if hasattr(self, "best_estimator_"):
            getattr(self.best_estimator_, method)
        elif self.search.get_params(deep=False).get("refit") is False and self.scoring is None:
            raise AttributeError(
                f"This {type(self).__name__} has a search with `refit=False`. {method} is available only "
                "after refitting on the best parameters. Use refit=True, or fit a model with best_params_."
            )
        else:
            getattr(self.search.estimator, method)
        return True

    def call(self: Any, X: Any) -> Any:
        return getattr(self._fitted(), method)(self._columns(X) if has_ids else X)

    call.__name__, call.__qualname__, call.__doc__ = method, f"Delegates.{method}", summary
    return available_if(has)(call)


def _of_best(attribute: str, summary: str) -> property:
    """Return an attribute that is that of ``best_estimator_``."""
    return property(lambda self: getattr(_best_of(self, attribute), attribute), doc=summary)


def _best_of(wrapper: Any, attribute: str) -> Any:
    if not hasattr(wrapper, "best_estimator_"):
        raise AttributeError(f"{type(wrapper).__name__} is not fitted, so it has no {attribute!r}.")
    return wrapper.best_estimator_


class Delegates(CallbackSupportMixin):
    """Methods and attributes of ``best_estimator_``; the methods exist where the estimator has them."""

    search: Any
    scoring: Any
    scorer_: Any
    best_estimator_: Any
    best_answer_: Answer
    answers_: list[Answer]
    cv_results_: dict[str, Any]
    _certified: Metric | None = None  # as validation rows have tuned it
    _unasked: str = ""  # why the holdout was not asked about the best model, if it was not
    _asked: tuple[str, int] | None = None  # digest of the best model, and the record in which it was asked
    _id_column: str | None = None  # which no model sees
    _takes_pairs_with: tuple[int, NDArray[Any]] | None = None  # of how many rows, which are for training

    predict = _to_best("predict", "Predict with ``best_estimator_``.")
    predict_proba = _to_best("predict_proba", "Predict probabilities with ``best_estimator_``.")
    predict_log_proba = _to_best("predict_log_proba", "Predict log-probabilities with ``best_estimator_``.")
    decision_function = _to_best("decision_function", "Return the decision function of ``best_estimator_``.")
    score_samples = _to_best("score_samples", "Return the score of every row by ``best_estimator_``.")
    transform = _to_best("transform", "Transform with ``best_estimator_``.")
    inverse_transform = _to_best(
        "inverse_transform", "Transform back with ``best_estimator_``.", has_ids=False
    )

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Return the plain metric on the X given; asks the holdout nothing.

        A warning tells if these are the rows of `fit`, on most of which the model was trained.

        Parameters
        ----------
        X : array-like of shape (n, ...)
        y : array-like of shape (n,) or None, default=None
        **params : dict
            ``sample_weight``; with metadata routing whatever the scorer requests.
        """
        model, scorer = self._fitted(), self.scorer_
        if params.keys() - {"sample_weight"} and not get_config()["enable_metadata_routing"]:
            owner, fix = "ReusableHoldoutCV.score", "Set it: sklearn.set_config(...)."
            at_most = "sample_weight at most: metadata is only supported if enable_metadata_routing=True"
            raise bad_parameter("**params", owner, at_most, sorted(params), fix)
        if self._takes_pairs_with is None:
            warn_of_rows_of_fit(self, without_column(X, self._id_column), y)
        refit = self.search.get_params(deep=False).get("refit")
        if isinstance(scorer, dict):
            return float(scorer[refit](model, self._columns(X), y, **params))
        score = scorer(model, self._columns(X), y, **params)
        return float(score[refit] if isinstance(score, dict) else score)

    def _fitted(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def _columns(self, X: Any) -> Any:
        """Return X without ids; of pairs with all rows that were passed, those with the rows fitted on."""
        X = without_column(X, self._id_column)
        return X if self._takes_pairs_with is None else X[:, self._takes_pairs_with[1]]

    classes_ = _of_best("classes_", "Class labels of ``best_estimator_``.")
    feature_names_in_ = _of_best("feature_names_in_", "Feature names of ``best_estimator_``, if any.")

    @property
    def n_features_in_(self) -> int:
        """Number of columns that `predict` takes; AttributeError before fit."""
        best = _best_of(self, "n_features_in_")
        return int(best.n_features_in_) if self._takes_pairs_with is None else self._takes_pairs_with[0]

    @available_if(lambda self: hasattr(self.search, "set_callbacks"))
    def set_callbacks(self, *callbacks: Any) -> Any:
        """Set callbacks for the search (scikit-learn 1.9 or later), such as ``ProgressBar()``.

        They see what the search does, on training rows, and nothing of the certificate.

        Parameters
        ----------
        *callbacks : callback instances

        Returns
        -------
        self
        """
        return super().set_callbacks(*callbacks)


@contextmanager
def reporting(wrapper: Any, search: Any) -> Iterator[None]:
    """Let a search report to the wrapper's callbacks while it is fitted."""
    before, own = vars(search).get(_CALLBACKS, []), vars(wrapper).get(_CALLBACKS, [])
    kinds = {type(one) for one in before} & _ONLY_ONE
    if own:
        more = (one for one in own if one not in before and type(one) not in kinds)
        search.set_callbacks(*before, *more)
    if _TASK in vars(wrapper):
        setattr(search, _TASK, getattr(wrapper, _TASK))
    try:
        yield
    finally:
        search.__dict__.pop(_TASK, None)
        if own:
            search.set_callbacks(*before)


def hand_on(search: Any, wrapper: Any) -> None:
    """Copy the fitted attributes of a search to the wrapper, and drop earlier ones."""
    for name in _OF_SEARCH:
        wrapper.__dict__.pop(name, None)
        if hasattr(search, name):
            setattr(wrapper, name, getattr(search, name))


def remember_rows(search: Any, X: Any, y: Any) -> None:
    """Remember which rows a search is fitted on."""
    _of_fit.pop(search, None)
    digest = _digest(X, y)
    if digest is not None:
        _of_fit[search] = digest


def warn_of_rows_of_fit(search: Any, X: Any, y: Any) -> None:
    """Warn, once, if these are the rows that a search was fitted on."""
    digest = _of_fit.get(search)
    if digest is None or y is None or _digest(X, y) != digest:
        return
    warn_user(
        "These are the rows that were passed to fit, and the model was trained on most of them: this score "
        "is too good, and certifies nothing. The certified score is best_score_ (publish() releases it).",
        once=("rows of fit", digest),
    )


def _digest(X: Any, y: Any) -> str | None:
    try:
        at = np.linspace(0, n_rows(X) - 1, min(n_rows(X), _ROWS)).astype(int)
        return canonical_digest((take_rows(X, at), np.asarray(y)))
    except (Undigestible, ValueError, TypeError, IndexError):  # such rows were not passed to fit
        return None
