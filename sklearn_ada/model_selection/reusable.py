"""Callbacks of scikit-learn 1.9 and later, such as its progress bar: those of the wrapper are its search's.

A search reports on itself and takes no notice of who runs it. So it gets the callbacks that were set around
it, and where the wrapper itself is fitted by a search that reports, it takes the wrapper's place there. What
callbacks see are training rows: the holdout is not passed to them.

Whether rows that are scored are those that were passed to fit, most of which the model was trained on.

A digest of each fitted search is kept in this process only: in a pickle it would let anybody test a guess of
the labels.

What a fitted search hands on to its best estimator.

Publishing what a search keeps: the exact score of its best model, in the end.

How a fitted search is shown in a notebook: with its certified score, and what is left of its holdout.

What scikit-learn asks of an estimator that wraps a search: tags, routing, copies, pickles.

`ReusableHoldoutCV`: a search with a holdout set aside before it, and a certified score after it.

Drop-in scorers, their splitter, and the wrapper around any search.

How large a scorer is, said to dask, so that joblib's dask backend sends the holdout once.

That backend scatters an argument that is large, and sends its key from then on; but dask takes an object of a
class that it does not know for a few bytes, whatever it holds. scikit-learn sends a scorer as an argument,
alone or with others, and from 1.9 on once more within the search that calls. Dask finds `register` by the
entry point ``dask.sizeof``; where there is no dask, nothing loads this module.

What scikit-learn asks of an estimator that wraps a search.
"""

from __future__ import annotations

import copy
import html
import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.utils import column_or_1d, estimator_html_repr, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_ada._notices import tell, warn_user
from sklearn_ada._validation import bad_parameter
from sklearn_ada.answer import Answer
from sklearn_ada.data.labels import check_labels, n_rows, own_copy, take_rows
from sklearn_ada.digest.canonical import canonical_digest
from sklearn_ada.digest.code import Undigestible
from sklearn_ada.exceptions import BudgetExhaustedError, LedgerMismatchError
from sklearn_ada.holdout.framing import Ask, plan_question
from sklearn_ada.holdout.holdout import Holdout, Scoring, headline_of, session_of
from sklearn_ada.holdout.publishing import publish
from sklearn_ada.holdout.report import HoldoutReport
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.model_selection.certifying import Run, Winner, ask_about_candidates, ask_about_winners
from sklearn_ada.model_selection.engines import (
    FitParams,
    Wrapper,
    candidates_of,
    check_pairs,
    chooses_by_several,
    has_usual_metric,
    is_of_pairs,
    keeps_model,
    own_folds,
    plain_scoring,
    router_of,
    take_for,
    told_to_forget,
    unfitted,
)
from sklearn_ada.model_selection.guesses import NO_METRIC, NO_USUAL_METRIC, NOT_FINISHED
from sklearn_ada.model_selection.scorers import HoldoutScorer
from sklearn_ada.model_selection.setting_aside import (
    DEFAULT_ANSWERS,
    check_one_output,
    check_parameters,
    chosen_median,
    chosen_metric,
    ids_of_rows,
    is_shuffled_for,
    set_aside,
    warn_of_blocks,
    warn_of_exact_value,
    warn_of_median,
    warn_of_outcome,
    warn_of_tolerance,
    warn_of_unasked,
    without_column,
)
from sklearn_ada.questions.stable_median import MedianSettings
from sklearn_ada.terms.models import Subject, model_digest

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey


try:
    from sklearn.callback import CallbackSupportMixin, ProgressBar

    _ONLY_ONE = {ProgressBar}  # two of them in one search end in an error of scikit-learn's
except ImportError:  # before 1.9
    _ONLY_ONE = set()

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: there are no callbacks."""


# What scikit-learn sets on an estimator: the callbacks themselves, and the task that it is part of.
_CALLBACKS, _TASK = "_skl_callbacks", "_parent_callback_ctx"


def _search_reports(self: Any) -> bool:
    return hasattr(self.search, "set_callbacks")


class HandsOnCallbacks(CallbackSupportMixin):
    """Hands the callbacks that were set on it on to the search that it runs."""

    search: Any

    @available_if(_search_reports)
    def set_callbacks(self, *callbacks: Any) -> Any:
        """Set callbacks for the search (scikit-learn 1.9 or later), such as ``ProgressBar()``.

        They are told of what the search does, on training rows, and not of the certificate.

        Parameters
        ----------
        *callbacks : callback instances

        Returns
        -------
        self
        """
        return super().set_callbacks(*callbacks)

    @contextmanager
    def _reporting(self, search: Any) -> Iterator[None]:
        """Let a copy of the search report to the callbacks set on this estimator while it is fitted."""
        before, own = vars(search).get(_CALLBACKS, []), vars(self).get(_CALLBACKS, [])
        kinds = {type(one) for one in before} & _ONLY_ONE
        if own:
            more = (one for one in own if one not in before and type(one) not in kinds)
            search.set_callbacks(*before, *more)
        if _TASK in vars(self):
            setattr(search, _TASK, getattr(self, _TASK))
        try:
            yield
        finally:
            search.__dict__.pop(_TASK, None)
            if own:
                search.set_callbacks(*before)


_ROWS = 256  # of X, evenly spaced; of y all

_of_fit: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


def remember_rows(search: Any, X: Any, y: Any) -> None:
    """Remember which rows a search is fitted on."""
    _of_fit.pop(search, None)
    digest = _digest(X, y)
    if digest is not None:
        _of_fit[search] = digest


def warn_of_rows_of_fit(search: Any, X: Any, y: Any) -> None:
    """Warn, once a search and process, if these are the rows that it was fitted on."""
    known = _of_fit.get(search)
    if known is None or y is None or _digest(X, y) != known:
        return
    warn_user(
        "These are the rows that were passed to fit, and the model was trained on all of them but the "
        "holdout's: this score is too good, and is no part of a certificate. The certified score is "
        "best_score_ (certify() publishes it); score other rows, or none.",
        once=("rows of fit", known),
    )


def _digest(X: Any, y: Any) -> str | None:
    try:
        at = np.linspace(0, n_rows(X) - 1, min(n_rows(X), _ROWS)).astype(int)
        return canonical_digest((take_rows(X, at), np.asarray(y)))
    except (Undigestible, ValueError, TypeError, IndexError):  # such rows were not passed to fit
        return None


OF_BEST = (
    "best_answer_", "best_estimator_", "best_index_", "best_params_", "best_score_", "best_score_interval_",
    "best_score_target_",
)  # fmt: skip
"""What is known of the best candidate."""

_OF_SEARCH = (
    "max_resources_", "min_resources_", "multimetric_", "n_candidates_", "n_iterations_",
    "n_possible_iterations_", "n_remaining_candidates_", "n_required_iterations_", "n_resources_",
    "n_splits_", "refit_time_",
)  # fmt: skip
"""Fitted attributes of scikit-learn's searches that are the wrapper's too."""


def hand_on(search: Any, wrapper: Any) -> None:
    """Set on the wrapper what a search of scikit-learn says of itself, and nothing of an earlier one."""
    for name in _OF_SEARCH:
        wrapper.__dict__.pop(name, None)
        if hasattr(search, name):
            setattr(wrapper, name, getattr(search, name))


def _delegated(method: str) -> Any:
    def has(self: Any) -> bool:
        if hasattr(self, "best_estimator_"):
            getattr(self.best_estimator_, method)
        elif not keeps_model(self):
            raise AttributeError(
                f"This {type(self).__name__} has a search with `refit=False`. {method} is available only "
                "after refitting on the best parameters. Use refit=True, or fit a model with best_params_."
            )
        else:
            getattr(self.search.estimator, method)
        return True

    return available_if(has)


class DelegatesToBest:
    """Methods and attributes of ``best_estimator_``; the methods exist where the estimator has them."""

    search: Any
    scorer_: Any
    best_estimator_: Any
    _id_column: str | None = None  # which no model sees
    _takes_pairs_with: tuple[int, NDArray[Any]] | None = None  # of how many rows, which are for training

    @_delegated("predict")
    def predict(self, X: Any) -> Any:
        """Predict with ``best_estimator_``."""
        return self._fitted().predict(self._columns(X))

    @_delegated("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Predict probabilities with ``best_estimator_``."""
        return self._fitted().predict_proba(self._columns(X))

    @_delegated("predict_log_proba")
    def predict_log_proba(self, X: Any) -> Any:
        """Predict log-probabilities with ``best_estimator_``."""
        return self._fitted().predict_log_proba(self._columns(X))

    @_delegated("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Return the decision function of ``best_estimator_``."""
        return self._fitted().decision_function(self._columns(X))

    @_delegated("score_samples")
    def score_samples(self, X: Any) -> Any:
        """Return the score of every row by ``best_estimator_``."""
        return self._fitted().score_samples(self._columns(X))

    @_delegated("transform")
    def transform(self, X: Any) -> Any:
        """Transform with ``best_estimator_``."""
        return self._fitted().transform(self._columns(X))

    @_delegated("inverse_transform")
    def inverse_transform(self, X: Any) -> Any:
        """Transform back with ``best_estimator_``."""
        return self._fitted().inverse_transform(X)

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
            raise bad_parameter(
                "**params", "ReusableHoldoutCV.score", "sample_weight at most: metadata is only supported if "
                "enable_metadata_routing=True", sorted(params), "Set it: sklearn.set_config(...).",
            )  # fmt: skip
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

    @property
    def classes_(self) -> Any:
        """Class labels of ``best_estimator_``."""
        self._of_best("classes_")
        return self.best_estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of columns that `predict` takes; AttributeError before fit."""
        self._of_best("n_features_in_")
        if self._takes_pairs_with is None:
            return int(self.best_estimator_.n_features_in_)
        return self._takes_pairs_with[0]

    @property
    def feature_names_in_(self) -> Any:
        """Feature names of ``best_estimator_``, where it has them."""
        self._of_best("feature_names_in_")
        return self.best_estimator_.feature_names_in_

    def _of_best(self, attribute: str) -> None:
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} is not fitted, so it has no {attribute!r}.")


_OWNER = "ReusableHoldoutCV.certify"


class PublishesBest(Wrapper):
    """`certify` and `compare`, for a search whose best model was asked about."""

    best_answer_: Answer
    answers_: list[Answer]
    _certified: Metric | None = None  # as validation rows have tuned it
    _unasked: str = ""  # why the holdout was not asked about the best model, if it was not
    _asked: tuple[str, int] | None = None  # digest of the best model, and the record in which it was asked

    def certify(
        self,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        ids: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Answer:
        """Publish: ask for the exact score of ``best_estimator_``, with most of what is left of the weights.

        Updates ``best_score_``, ``best_score_interval_``, ``best_score_target_`` and ``best_answer_``. For
        the model that is kept, after the last search: see `Holdout.certify` with ``final=True``. Where
        answers are exact, the winner was certified when it was found, and nothing is asked.

        Where another model was published before, a warning says so before anything is charged, so
        ``warnings.simplefilter("error")`` stops it there.

        Parameters
        ----------
        X, y, ids, groups : array-like or None, default=None
            As they were passed to `fit`. Needed after unpickling, as pickles hold no rows of the holdout.

        Returns
        -------
        Answer

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If ``best_estimator_`` is not as it was when it was asked, if nothing was asked about it, or if
            there is none; if rows are needed. Nothing was charged.
        BudgetExhaustedError
            If nothing is left of the weights, or the holdout was closed.
        LedgerMismatchError
            If X and y are other rows.
        """
        check_is_fitted(self, "search_")
        if self._unasked:
            raise bad_parameter(
                "search", _OWNER, "one whose winner was asked about", "one about which nothing was asked",
                f"{self._unasked} Or ask about the model that was kept: search.holdout_.certify("
                "search.best_estimator_, scoring=..., final=True).",
            )  # fmt: skip
        if not hasattr(self, "best_estimator_") or self._asked is None:
            raise bad_parameter(
                "search", _OWNER, "one that keeps a model", "refit=False",
                "Fit one, and certify it: holdout.certify(model, final=True).",
            )  # fmt: skip
        digest, number = self._asked
        model = model_digest(self.best_estimator_)
        if model != digest and not digest.startswith("nonce"):
            raise bad_parameter(
                "best_estimator_", _OWNER, "as it was when it was asked", "a model that was changed since",
                "It is another model than the one that was found: holdout.certify(model, final=True).",
            )  # fmt: skip
        holdout = self._with_rows(X, y, ids, groups)
        session = session_of(holdout)
        if not session.policy.seals:
            return self.best_answer_
        asked = session.recorded_answer(number)
        if asked is None:
            raise LedgerMismatchError("The ledger has no record of this search: it is another one.")
        metric = self._certified or chosen_metric(self)
        median = chosen_median(self, metric, holdout)
        guess = session.guess_behind(asked)
        owner = "Holdout.certify"
        subject = Subject.of(self.best_estimator_, session.data, session.policy, owner, fitted=True)
        asked_for = Ask(subject, metric, "certify", guess, settings=median, publish=True)
        answer = publish(session, asked_for, plan_question(session, asked_for), number)
        if answer.verdict == "refused":
            raise BudgetExhaustedError(f"The winner could not be published: {answer.reason}.")
        if answer not in self.answers_:
            self.answers_.append(answer)
        self.holdout_, self.best_answer_ = holdout, answer
        self._show_best()
        return answer

    def compare(
        self,
        incumbent: Any,
        *,
        scoring: Any = None,
        guess_from: tuple[Any, ArrayLike] | None = None,
    ) -> Answer:
        """Ask how much better ``best_estimator_`` is than another model, such as the one in use.

        The interval of the difference holds together with all others of the ledger. It is told at once and
        paid for as one question: see `Holdout.compare`.

        Parameters
        ----------
        incumbent : fitted estimator
            It must not have been trained on rows of the holdout: the winner of an earlier search on this
            ledger was not.
        scoring : str, callable or Metric, default=None
            A mean of bounded scores; None is the metric of the search.
        guess_from : tuple (X, y) or None, default=None
            Rows that neither model was trained on, nor are the holdout's: they say how often the two differ.

        Returns
        -------
        Answer
            Its value is the score of ``best_estimator_`` minus that of the incumbent.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If there is no best model, or the search was pickled; and as for `Holdout.compare`.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.model_selection import GridSearchCV
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from sklearn_ada import ReusableHoldoutCV
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> grids = ({"max_depth": [1]}, {"max_depth": [2, 3]})
        >>> old, new = (
        ...     ReusableHoldoutCV(GridSearchCV(DecisionTreeClassifier(random_state=0), grid)).fit(X, y)
        ...     for grid in grids
        ... )
        >>> new.compare(old.best_estimator_).target
        "population accuracy of b minus a at the holdout's class mix"
        """
        check_is_fitted(self, "search_")
        owner = "ReusableHoldoutCV.compare"
        if not hasattr(self, "best_estimator_"):
            fix = "Fit one, and compare it: holdout.compare(incumbent, model, scoring=...)."
            raise bad_parameter("search", owner, "one that keeps a model", "refit=False", fix)
        if not isinstance(self.holdout_, Holdout):
            raise bad_parameter(
                "X", owner, "there", "a search that was pickled, which dropped the rows of the holdout",
                "Open the holdout on its ledger: Holdout(X, y, ledger=...).compare(incumbent, model, ...).",
            )  # fmt: skip
        metric = (self._certified or chosen_metric(self)) if scoring is None else scoring
        return self.holdout_.compare(incumbent, self.best_estimator_, scoring=metric, guess_from=guess_from)

    def _show_best(self) -> None:
        """Set the attributes that tell the score of the winner."""
        self.best_score_ = self.best_answer_.value
        self.best_score_interval_ = self.best_answer_.interval
        assert self.best_answer_.certificate is not None  # it was not refused
        self.best_score_target_ = self.best_answer_.certificate.target

    def _with_rows(self, X: Any, y: Any, ids: Any, groups: Any) -> Holdout:
        """Return the holdout with its rows: the one that was asked, or one of the rows that are passed."""
        if isinstance(self.holdout_, Holdout):
            return self.holdout_
        if isinstance(self.holdout, HoldoutReport):
            raise bad_parameter(
                "holdout", _OWNER, "there", "a search that was pickled, which dropped it",
                "Make it again, on its ledger, and use holdout.certify(model, final=True).",
            )  # fmt: skip
        if X is None or y is None:
            raise bad_parameter(
                "X", _OWNER, "what was passed to fit, and y as well", "None",
                "A pickled search holds no rows of the holdout: certify(X, y).",
            )  # fmt: skip
        X, ids, _ = ids_of_rows(self.ids, X, ids)
        X, y = indexable(X, y)
        search = self.search
        holdout, _, _ = set_aside(self, X, np.ravel(np.asarray(y)), groups, own_folds(search), ids)
        if holdout.fingerprint != self.holdout_.fingerprint:
            raise LedgerMismatchError(
                "These rows, or their ledger, are not those that the search was fitted with: pass the same "
                "X, y and ids, and keep the ledger (ledger=None ends with its session)."
            )
        return holdout


class ShowsScore(BaseEstimator):
    """Puts the certified answer beneath the diagram, whose table of attributes cuts a target short."""

    best_answer_: Answer
    _unasked: str
    holdout_: Holdout | HoldoutReport

    @property
    def _repr_html_(self) -> Callable[[], str]:
        if get_config()["display"] != "diagram":
            raise AttributeError(
                "There is a page only where the 'display' of sklearn.set_config is 'diagram'."
            )
        return self._as_page

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = {"text/plain": repr(self)}
        return shown | ({"text/html": self._as_page()} if get_config()["display"] == "diagram" else {})

    def _as_page(self) -> str:
        page: str = estimator_html_repr(self._with_fitted())
        return page + self._score_as_html()

    def _with_fitted(self) -> ShowsScore:
        """Return this, once fitted with its best model (or its fitted search) in place of the search."""
        if not hasattr(self, "search_"):
            return self
        other = object.__new__(type(self))
        other.__dict__.update(vars(self), search=copy.copy(self.search_))
        if hasattr(self, "best_estimator_"):
            other.search.best_estimator_ = self.best_estimator_
        return other

    def _score_as_html(self) -> str:
        if not hasattr(self, "best_answer_"):
            why = html.escape(getattr(self, "_unasked", ""))
            return f"<p><b>Nothing is certified of best_estimator_</b></p><p>{why}</p>" if why else ""
        left = html.escape(headline_of(self.holdout_))
        return (
            f"<p><b>Certified score of best_estimator_</b></p>{self.best_answer_._repr_html_()}<p>{left}</p>"
        )


class WrapsSearch(MetaEstimatorMixin, ShowsScore):
    """An estimator around a search, with a holdout of which there is only one."""

    search: Any

    def get_metadata_routing(self) -> Any:
        """Return the routing: ``groups`` are read here too, everything else is the search's."""
        return router_of(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.search)
        model = inner if inner.estimator_type else get_tags(self.search.estimator)  # not all searches say
        tags.estimator_type = model.estimator_type
        tags.classifier_tags, tags.regressor_tags = model.classifier_tags, model.regressor_tags
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = is_of_pairs(self.search)
        tags.target_tags.required = True
        return tags

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Copy everything but the holdout, of which there is only one."""
        other = object.__new__(type(self))
        memo[id(self)] = other
        for name, value in vars(self).items():
            setattr(other, name, copy.deepcopy(value, memo))
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Drop holdout rows and secret: a pickled fitted search keeps plain results and the report."""
        state = dict(super().__getstate__())
        if "holdout_" not in state:
            return state
        for name in ("holdout_", "holdout"):
            if isinstance(state[name], Holdout):
                state[name] = state[name].report()
        if isinstance(state["mechanism"], HoldoutScorer):  # its holdout is that of the search
            state["mechanism"] = repr(state["mechanism"])
        return state


class ReusableHoldoutCV(HandsOnCallbacks, PublishesBest, DelegatesToBest, WrapsSearch):
    """Run a hyperparameter search whose scores stay valid, on a holdout that can be used again.

    The holdout is taken out of X before the search sees it, and no model is fitted on it. In the end
    ``best_estimator_`` is refitted on everything else, and the holdout is asked for its score: with
    probability at least ``confidence_level``, ``best_score_interval_`` and all other intervals of the same
    ledger contain the population values they are for, however many searches were run, each in view of the
    last (description length; Dwork et al., NIPS 2015).

    Words used below: a *guess* is a candidate's score on rows that are not the holdout's; the holdout is
    *asked* whether it agrees. The *ledger* is a durable log of all questions. What an answer reveals is
    charged there in *nats* (see `Holdout`), and later intervals get wider with their sum.

    Parameters
    ----------
    search : estimator
        An unfitted search, such as ``GridSearchCV(model, grid)``. Where its cv is None, a number, or a
        `KFold` or `StratifiedKFold` without shuffling, it gets its rows in a random order, which is the same
        for the same rows, because folds of ordered rows would be far from the holdout; rows of one group (or
        id) stay next to each other. With a given `Holdout` they stay as they are passed. Splits that its cv
        gives row by row (pairs of row numbers or masks, a generator of them, a `PredefinedSplit`) are of the
        rows passed to `fit`, less those of the holdout. With ``refit=False`` there is no model in the end:
        with ``ask="winner"`` nothing is then asked nor certified, with ``"candidates"`` they are certified as
        they were fitted. Nor is anything asked about a winner that a function chose by several scores, unless
        ``scoring`` names one.
    scoring : str, callable, Metric or None, default=None
        What is certified; by default the search's own scoring (of several, that which its ``refit`` names),
        else accuracy or R^2. Given, the winner is refitted and certified by it with ``refit=False`` too.
    holdout : float, bool array, splitter or Holdout, default=0.25
        A share of the rows, at random; a mask of X's length; a splitter with one split, whose test part is
        the holdout; or a `Holdout`, and then all of X is for training. Integer indices are refused, and so is
        a share where the search's cv is ordered in time (`TimeSeriesSplit`): give a mask of the last block.
    ids : str or None, default=None
        Who the rows are: the name of a column of X, which is taken out before any model sees X, here and in
        `predict`; or "index". None: known by what `fit` is passed as ``ids``, if anything. With ids, each row
        is put on its side of the share by a hash of its own id (of its group, if there are groups), without
        stratification. So rows may come in any order, columns may change, no row of the holdout ever
        becomes one for training, and rows with new ids join either side. Without ids the holdout is
        a function of the labels and their order: columns may change, rows may not. See `Holdout`.
    mechanism : str or scorer, default="auto"
        How candidates are compared with the holdout, where they are (``ask="candidates"``); of a scorer the
        winner alone takes metric and holdout. "auto": "thresholdout" (`ThresholdoutScorer`) for candidates,
        and the metric's own interval for winners, as for R^2 and macro F1; a scorer of scikit-learn that has
        none here is refused, and of a function of yours the median answers, with a warning.
        "stable_median" (`StableHoldoutScorer`) for any metric. "ladder" (`LadderScorer`) reveals
        improvements only. "exponential_mechanism" (with an integer ``ask``) chooses among the search's best
        few, reveals the winner only and certifies it. A scorer: its metric, mechanism and holdout.
    ask : "winner", "candidates" or int, default="winner"
        "winner" keeps the search's own cross-validation and refit function, and asks about its winner only
        (an integer: about its best few): one question a search, and none about candidates that the search
        could not score. If it could score none, it ends with a warning, the first candidate (or that of its
        refit function) and a ``best_score_`` of NaN, and nothing is charged. "candidates" asks about every
        candidate, fitted on one part of the rows, with its score on the other part as the guess; it takes
        searches without a cv or a refit function of their own.
    reveal : {"all", "winner"}, default="all"
        "winner" reveals only which of the N candidates asked is the best on the holdout, for ``ln N`` nats,
        and its certified score; the scores of the others are not kept anywhere, in ``search_`` neither. With
        ``ask="candidates"``, for `GridSearchCV` and `RandomizedSearchCV`, it searches on validation scores
        and fits each candidate twice. With ``ask="winner"`` there is nothing else to reveal.
    validation : float, default=0.25
        For ``ask="candidates"``: the part of the rows on which candidates are not fitted but scored, for the
        guesses.
    one_standard_error : bool, str or callable, default=False
        Of the candidates whose certified score is within one standard error of the best, take the simplest.
        True: the earliest in the grid (write the simple values first). The name of a parameter: the one with
        its least value. A function of a candidate's parameters: the one with its least value. The standard
        error is computed from the best candidate's certified interval, as half-width over normal quantile, so
        nothing more is revealed.
    confidence_level : float, default=0.95
    tolerance : float or None, default=None
        Largest half-width of a certified interval that is accepted; see `Holdout`.
    expected_questions : int or None, default=None
        See `Holdout`.
    ledger : path-like, str or None, default=None
        Where questions are recorded: a file, ``"postgresql://..."`` or ``":memory:"``; see `Holdout`. None:
        one temporary ledger for these rows in this session, so that a second search on them continues the
        count. An outer fold is other rows, with a ledger that is certified for that fold alone.
    missing : {"raise", "ignore"}, default="raise"
        What to do if rows of the holdout, known by their ids, are not in X; see `Holdout`.
    answers : {"auto", "cells", "exact"}, default="auto"
        What the search tells of its winner's count of right rows; fixed when the ledger is begun. "cells":
        the cell in which it lies, with an interval that is coarse, and hardly wider at the twentieth search
        than at the first; the exact value of the model that is kept comes from `certify`. "exact": the
        value, at 4 to 5 nats a search, so that intervals widen from search to search. "auto": as the ledger
        was begun; a new one answers in cells if it has a path or a URL, else the first winner exactly, for
        whoever runs one search and nothing else, and later ones in cells. Of other metrics the value is
        told. A given Holdout's ledger decides. See `Holdout`.
    seal_key : str, path-like, bytes, X25519PublicKey or None, default=None
        The holder's public key, which cells are sealed with; see `Holdout`.
    random_state : int or None, default=None
        Seeds the split, together with ids, or labels and their order. Noise and subsamples do not depend on
        it.
    who : str or None, default=None
        Who asks: written into every record of the ledger, and no part of a question. See `Holdout`.
    verbose : int, default=0
        1 tells what is done, a line a stage, with a bar for several models where somebody can see it (tqdm:
        ``pip install 'sklearn-ada[progress]'``). The search has a ``verbose`` of its own.

    Attributes
    ----------
    best_estimator_ : estimator
        Refitted on all rows but the holdout's; none with ``refit=False``.
    best_params_ : dict
    best_index_ : int
    best_score_ : float
        The certified score of ``best_estimator_``; NaN if it fails on the holdout, or if nothing was asked as
        the search could score no candidate. In cells it is the centre of the cell, until `certify`. Absent,
        with its interval and target, if nothing says what it is a score of, as of a search of scikit-learn.
    best_score_interval_ : tuple of float
        Everything that the metric can be, if nothing was asked.
    best_score_target_ : str
        The population quantity that ``best_score_`` estimates and the interval contains, with the range that
        errors are clipped to; of a metric without an interval of its own, its median over random
        subsamples. Empty if nothing was asked.
    best_answer_ : Answer
        The answer behind ``best_score_``, with its certificate; none if nothing was asked.
    cv_results_ : dict
        As the search's, with ``certified_low``, ``certified_high``, ``certified_target`` and ``verdict`` (see
        `Answer`) for every candidate asked.
    answers_ : list of Answer
        In the order of the candidates asked, then the certified winner.
    search_ : estimator
        The fitted inner search.
    train_indices_ : ndarray of int
        Numbers of the rows of X that are not the holdout's: models are trained on these.
    holdout_ : Holdout
        A `HoldoutReport` after unpickling: rows and secret are not pickled.

    Raises
    ------
    BudgetExhaustedError
        If the tolerance does not admit all questions of the search. Checked before the first fit where the
        number of candidates is known, and again when they are asked, as others may have asked meanwhile.
    HoldoutLeakError
        If X contains a given holdout.
    ValueError
        With ``ask="candidates"``, if none of them got a score. If the search's cv is ordered in time and the
        holdout would be random rows; no ledger was opened.
    LedgerMismatchError
        If the ledger belongs to other data, another split or another policy.

    Warns
    -----
    UserWarning
        With ``mechanism="auto"``, before anything is charged, if only a stable median can certify the metric.
        Before the search, if it will choose its winner by several scores of which none is named. In the end,
        if the winner failed on the holdout, or if the interval of an answer is vacuous, as wide as the
        metric's range; or if nothing was asked, as no candidate has a score, or the winner no ``predict``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> inner = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]})
    >>> search = ReusableHoldoutCV(inner, ask="winner").fit(X, y)
    >>> low, high = search.best_score_interval_
    >>> 0.8 < low < search.best_score_ < high < 1.0
    True

    Rows with ids may come in any order, with other columns: the holdout stays, and its ledger goes on.

    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> patients = np.arange(len(y)) + 100_000
    >>> first = ReusableHoldoutCV(inner, ask="winner").fit(X, y, ids=patients)
    >>> order = np.random.default_rng(0).permutation(len(y))
    >>> again = ReusableHoldoutCV(inner, ask="winner").fit(X[order, :10], y[order], ids=patients[order])
    >>> again.holdout_.fingerprint == first.holdout_.fingerprint, again.holdout_.report().asked["certify"]
    (True, 2)
    """

    def __init__(
        self,
        search: Any,
        *,
        scoring: Scoring | None = None,
        holdout: float | ArrayLike | BaseCrossValidator | Holdout = 0.25,
        ids: str | None = None,
        mechanism: str | HoldoutScorer = "auto",
        ask: str | int = "winner",
        reveal: str = "all",
        validation: float = 0.25,
        one_standard_error: bool | str | Callable[[dict[str, Any]], float] = False,
        confidence_level: float = 0.95,
        tolerance: float | None = None,
        expected_questions: int | None = None,
        ledger: str | os.PathLike[str] | None = None,
        missing: str = "raise",
        answers: str = DEFAULT_ANSWERS,
        seal_key: str | os.PathLike[str] | bytes | X25519PublicKey | None = None,
        random_state: int | None = None,
        who: str | None = None,
        verbose: int = 0,
    ) -> None:
        self.search = search
        self.scoring = scoring
        self.holdout = holdout
        self.ids = ids
        self.mechanism = mechanism
        self.ask = ask
        self.reveal = reveal
        self.validation = validation
        self.one_standard_error = one_standard_error
        self.confidence_level = confidence_level
        self.tolerance = tolerance
        self.expected_questions = expected_questions
        self.ledger = ledger
        self.missing = missing
        self.answers = answers
        self.seal_key = seal_key
        self.random_state = random_state
        self.who = who
        self.verbose = verbose

    def fit(
        self, X: Any, y: ArrayLike | None = None, *, ids: ArrayLike | None = None, **fit_params: Any
    ) -> ReusableHoldoutCV:
        """Set the holdout aside, run the search on the rest, refit the best model and certify it.

        Parameters
        ----------
        X : array-like of shape (n, ...)
            A kernel or distance matrix, where the model takes one, is split by rows and columns; `predict`
            takes its pairs with all n rows. With ``ask="winner"`` or an integer only.
        y : array-like of shape (n,)
            One output; `MultiOutputClassifier` takes a wrapped search for each of several.
        ids : array-like of shape (n,) or None, default=None
            Who the rows are, where ``ids`` names neither a column nor the index. An outer cross-validation
            slices them along with X.
        **fit_params : dict
            Passed to the search and the refit; parameters of X's length are split along with it. With
            ``groups`` the holdout and the validation part are of whole groups, and groups are the independent
            units of the certificate. With metadata routing enabled, each goes where it was requested.

        Returns
        -------
        self
        """
        check_parameters(self)
        self._asked: tuple[str, int] | None = None
        self._certified: Metric | None = None  # the metric as validation rows have tuned it
        self._unasked = NOT_FINISHED  # why the holdout was not asked about the winner, if it was not
        X, y, ids = self._checked_rows(X, y, ids)
        without = self._why_no_metric() if self.ask == "winner" else ""
        certifies = self.ask != "winner" or (keeps_model(self) and not without)
        metric = chosen_metric(self) if certifies else None
        if metric is not None and self.mechanism in ("exponential_mechanism", "ladder", "thresholdout"):
            _ = metric.rule  # raises if only a stable median can certify the metric
        passed = FitParams(self, fit_params, n_rows(X))
        self.holdout_, train, cv = set_aside(self, X, y, passed.groups, own_folds(self.search), ids)
        of_pairs = is_of_pairs(self.search)
        X_train, y_train = take_for(X, train, train, of_pairs), take_rows(y, train)
        params = passed.take(train)
        tell(f"{self.holdout_.n_rows:,} rows are held out, {len(train):,} are for the search", self.verbose)
        median = None if metric is None else chosen_median(self, metric, self.holdout_)
        if metric is not None:
            self._warn_before_asking(metric, median)
        if metric is None or self.ask != "candidates":  # else its cv looks at the same rows
            self.holdout_.check_overlap(X_train)
            if metric is not None:
                self._warn_of_folds(cv, X_train, y_train, params.groups)
        self.train_indices_ = np.asarray(train)
        self._takes_pairs_with = (n_rows(X), train) if of_pairs else None
        if metric is None:
            if keeps_model(self):
                warn_user(f"{without} Without it the winner is kept, and the holdout is not asked about it.")
            self._search_only(X_train, y_train, params, cv, without)
            return self
        run = Run(self, X_train, y_train, params, metric, median, cv, self._reporting)
        of_all = self.ask == "candidates" and self.reveal == "all"
        winner = ask_about_candidates(run) if of_all else ask_about_winners(run)
        self._keep(winner, run.digests)
        self._finish(metric)
        if winner.answer is None:
            if winner.unasked != NO_METRIC:  # a search whose winner a function chose by several has no score
                self.best_score_, self.best_score_target_ = math.nan, ""
                self.best_score_interval_ = metric.range or (-math.inf, math.inf)
            warn_of_unasked(winner.unasked, self.search_, self.best_index_)
        else:
            warn_of_outcome(self.answers_, winner.answer, self.holdout_, median)
        if not isinstance(self.holdout, Holdout):  # else X has no row of it
            remember_rows(self, X, y)
        return self

    def _checked_rows(self, X: Any, y: Any, ids: Any) -> tuple[Any, Any, Any]:
        """Return X without its column of ids, y as a vector, and the ids; ValueError if they are unusable."""
        if y is None:
            fix = "It requires y to be passed, but the target y is None."
            raise bad_parameter("y", "ReusableHoldoutCV.fit", "the labels of X", None, fix)
        X, ids, self._id_column = ids_of_rows(self.ids, X, ids)
        X, y = indexable(X, y)
        if getattr(y, "ndim", 1) == 2 and np.shape(y)[1] == 1:
            y = column_or_1d(y, warn=True)
        check_one_output(y)
        check_labels(y)
        if is_of_pairs(self.search):
            is_given = isinstance(self.holdout, Holdout)
            check_pairs(X, session_of(self.holdout).data.n_columns if is_given else None)
        return X, y, ids

    def _warn_before_asking(self, metric: Metric, median: MedianSettings | None) -> None:
        """Warn of what the metric means for the answers, before anything is spent."""
        warn_of_median(self, metric, self.holdout_, median)
        if self.ask != "candidates" or self.reveal == "winner":
            warn_of_exact_value(metric, self.holdout_, median)
        warn_of_tolerance(self, metric, self.holdout_, median)

    def _why_no_metric(self) -> str:
        """Return why nothing says what to certify; empty if something does."""
        if self.scoring is not None or isinstance(self.mechanism, HoldoutScorer):
            return ""
        if chooses_by_several(self.search):
            return NO_METRIC
        return "" if has_usual_metric(self.search) else NO_USUAL_METRIC

    def _warn_of_folds(self, cv: Any, X: Any, y: Any, groups: Any) -> None:
        """Warn of folds that are blocks of rows; of those that are shuffled for, only where they were not."""
        if is_shuffled_for(cv):
            if not (isinstance(self.holdout, Holdout) or isinstance(self.mechanism, HoldoutScorer)):
                return
            cv = check_cv(cv, y, classifier=is_classifier(self.search.estimator))
        warn_of_blocks(cv, lambda: (X, y, groups))

    def _search_only(self, X: Any, y: Any, params: FitParams, cv: Any, without: str) -> None:
        """Run a search that keeps no model, or names no metric to certify one by (``without`` says why)."""
        search = unfitted(self.search, cv)
        with self._reporting(search):
            search.fit(own_copy(X), y, **params.of_search)
        for name in OF_BEST:  # of an earlier fit, which is certified no longer
            self.__dict__.pop(name, None)
        self.search_, self.cv_results_ = search, candidates_of(search)
        self.answers_: list[Answer] = []
        for name in ("best_index_", "best_params_", "best_estimator_", "scorer_"):
            if hasattr(search, name):
                setattr(self, name, getattr(search, name))
        hand_on(search, self)
        self._unasked = without if keeps_model(self) else ""
        if self._unasked:
            return
        warn_user(
            "The search keeps no model (refit=False), so nothing was asked of the holdout and nothing is "
            "certified. Use refit=True or the name of a score, or ReusableHoldoutCV(scoring=...)."
        )

    def _keep(self, winner: Winner, digests: dict[int, str]) -> None:
        """Set the attributes of the search and its winner, of which nothing is known if nothing was asked."""
        for name in OF_BEST:  # of an earlier fit
            self.__dict__.pop(name, None)
        self.search_, self.cv_results_ = winner.search, winner.results
        self.answers_ = winner.answers
        self.best_index_, self.best_params_ = winner.index, winner.params
        if winner.model is not None:
            self.best_estimator_ = winner.model
        self._certified, self._unasked = winner.metric, winner.unasked
        if winner.answer is not None:
            self.best_answer_ = winner.answer
            self._show_best()
            if winner.answer.index in digests:
                self._asked = digests[winner.answer.index], winner.answer.index

    def _finish(self, metric: Metric) -> None:
        """Set the attributes of the winner, and remove the holdout's scorer from the inner search."""
        own = getattr(self.search_, "scorer_", None)  # as its search scores, so does this, if by one metric
        is_own = own is not None and self.scoring is None and not isinstance(self.mechanism, HoldoutScorer)
        self.scorer_: Any = own if self.ask != "candidates" and is_own else metric.score
        hand_on(self.search_, self)
        if self.ask == "candidates":
            self.multimetric_ = False
            told_to_forget(self.search_, self.search, plain_scoring(metric))
            self.search_.scorer_ = metric.score
            if not hasattr(type(self.search_), "cv_results_"):  # else derived from the same scores
                self.search_.cv_results_ = self.cv_results_


def register(sizeof: Any) -> None:
    """Register sizes with dask: each once something of its package is measured, as imports take time.

    Parameters
    ----------
    sizeof : dask.utils.Dispatch
    """
    sizeof.register_lazy("sklearn_ada", lambda: _register_scorers(sizeof))
    sizeof.register_lazy("sklearn", lambda: _register_holders(sizeof))


def _register_scorers(sizeof: Any) -> None:
    from sklearn_ada.holdout.holdout import Holdout
    from sklearn_ada.holdout.session import Session
    from sklearn_ada.model_selection.scorers import HoldoutScorer, RecordingScorer
    from sklearn_ada.terms.holdout_data import HoldoutData

    sizeof.register((Holdout, HoldoutData, HoldoutScorer, RecordingScorer, Session), _with_content(sizeof))


def _register_holders(sizeof: Any) -> None:
    from sklearn.base import MetaEstimatorMixin
    from sklearn.metrics import check_scoring

    several = check_scoring(scoring=["accuracy"])
    sizeof.register(type(several), _with_content(sizeof))

    @sizeof.register(MetaEstimatorMixin)
    def size_of_search(search: Any) -> int:  # with another scorer it is as small as it was
        return sys.getsizeof(search) + int(sizeof(getattr(search, "scoring", None)))


def _with_content(sizeof: Any) -> Callable[[Any], int]:
    return lambda thing: sys.getsizeof(thing) + int(sizeof(vars(thing)))
