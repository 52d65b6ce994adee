"""What a `ReusableHoldoutCV` was given: whether it fits together, and which metric and mechanism it names."""

from __future__ import annotations

import contextlib
from functools import cached_property
from types import SimpleNamespace
from typing import Any, NoReturn

from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV
from sklearn.utils import get_tags

from sklearn_ada._notices import warn_user
from sklearn_ada._validation import Check, as_check, bad_parameter, check_flag, integer, option, or_none
from sklearn_ada.data.labels import check_labels
from sklearn_ada.holdout.advice import median_notice, too_few_rows, warn_of_design, warn_of_units
from sklearn_ada.holdout.comparing import kept_model
from sklearn_ada.holdout.framing import check_defined, check_median_may_be, why_no_interval
from sklearn_ada.holdout.holdout import Holdout, session_of
from sklearn_ada.holdout.outlook import is_foreseen
from sklearn_ada.holdout.rounds import is_answered_coarsely, worst_question
from sklearn_ada.holdout.session import Session
from sklearn_ada.metrics.base import UndefinedMetricError
from sklearn_ada.metrics.metric import Metric, as_metric, undefined_metric
from sklearn_ada.model_selection import searches
from sklearn_ada.model_selection.scorers import MECHANISMS, HoldoutScorer, Mechanism, StableHoldoutScorer
from sklearn_ada.model_selection.training_rows import ValidationSplit, check_time_order, is_share
from sklearn_ada.questions.question import Question, question_class
from sklearn_ada.questions.stable_median import MedianSettings
from sklearn_ada.terms.models import Subject
from sklearn_ada.terms.policy import PROMISE, check_answers, check_class_mix, check_name
from sklearn_ada.terms.row_tables import MISSING

OWNER = "ReusableHoldoutCV"
NO_METRIC = (
    "A function chooses the winner by several scores, so nothing says which to certify. Name one: "
    "ReusableHoldoutCV(search, scoring='accuracy')."
)
NO_USUAL_METRIC = (
    "The model is neither a classifier nor a regressor, so nothing says which metric of its labels to "
    "certify. Name one: ReusableHoldoutCV(search, scoring='accuracy')."
)
_OF_HOLDOUT = {
    "confidence_level": 0.95, "tolerance": None, "expected_questions": None, "ledger": None,
    "missing": "raise", "answers": "auto", "seal_key": None, "who": None, "class_mix": "conditional",
    "used_before": None,
}  # fmt: skip
"""Parameters that a given holdout has by itself, with their defaults."""

_CHECKS: dict[str, Check | str] = {
    "random_state": or_none(integer(-(2**63))), "validation": "(0, 1)", **PROMISE,
    "missing": option(MISSING), "answers": check_answers, "who": check_name,
    "class_mix": check_class_mix, "reveal": option(("all", "winner")), "create": check_flag,
}  # fmt: skip
"""What a parameter must be, whatever the others are."""


_WITHOUT_CLASSES = ("outlier_detector", "clusterer", "regressor", "density_estimator")


class Parameters(SimpleNamespace):
    """The parameters of a `ReusableHoldoutCV`, which documents them, as its users set them."""

    # Of one that was pickled before there were these parameters.
    create, class_mix, compare_with, used_before = True, "conditional", None, None

    @classmethod
    def of(cls, wrapper: Any) -> Parameters:
        """Return the parameters of a wrapper as they are now."""
        return cls(**vars(wrapper))

    # What they say by themselves.

    @cached_property
    def asks_candidates(self) -> bool:
        """Whether the questions are about candidates, not about the winners of a search."""
        return bool(self.ask == "candidates")

    @cached_property
    def purpose(self) -> str:
        """What the questions are for: "check" of candidates, "certify" of winners."""
        return "check" if self.asks_candidates else "certify"

    @cached_property
    def keeps_model(self) -> bool:
        """Whether there is a best model in the end: not for ``refit=False``, unless a metric is named."""
        return self.scoring is not None or self.search.get_params(deep=False).get("refit") is not False

    @cached_property
    def of_pairs(self) -> bool:
        """Whether X is a kernel or distance matrix."""
        return searches.is_of_pairs(self.search)

    @cached_property
    def scorer(self) -> HoldoutScorer | None:
        """The scorer that is the mechanism, if one is."""
        return self.mechanism if isinstance(self.mechanism, HoldoutScorer) else None

    @cached_property
    def how(self) -> Mechanism:
        """What the mechanism can do."""
        own = self.scorer
        return MECHANISMS[self.mechanism] if own is None else Mechanism(type(own), own.settings)

    @cached_property
    def question(self) -> type[Question]:
        """The class of the questions that are put about candidates."""
        return question_class(self.how.settings) or self.how.scorer.question

    @cached_property
    def given_holdout(self) -> Holdout | None:
        """The holdout that was made before, if one was; then all rows are for training."""
        holdout = self.holdout if self.scorer is None else self.scorer.holdout
        return holdout if isinstance(holdout, Holdout) else None

    # Whether they fit together, and what they are of.

    def check(self) -> None:
        """Raise ValueError for a parameter that cannot be, before anything is fitted or charged."""
        search = self.search
        is_object = hasattr(search, "get_params") and not isinstance(search, type)
        own = search.get_params(deep=False) if is_object else {}
        if "estimator" not in own or not hasattr(search, "fit"):
            raise bad_parameter("search", OWNER, "a search such as GridSearchCV(model, grid)", search)
        if self.scorer is None:
            option(MECHANISMS)(self.mechanism, "mechanism", OWNER)
        asks_few = self.ask not in ("candidates", "winner")
        if self.how.draws_winner and not asks_few:
            expected = f"an integer with mechanism={self.mechanism!r}"
            fix = "It says among how many of the search's best to choose."
            raise bad_parameter("ask", OWNER, expected, self.ask, fix)
        for name, check in _CHECKS.items():
            as_check(check)(getattr(self, name), name, OWNER)
        if not isinstance(self.verbose, bool):  # as scikit-learn has it
            integer(0)(self.verbose, "verbose", OWNER)
        if self.ids is not None and not isinstance(self.ids, str):
            fix = "The ids themselves are passed along with X: fit(X, y, ids=...)."
            kind = type(self.ids).__name__
            raise bad_parameter("ids", OWNER, "None, 'index' or the name of a column", kind, fix)
        is_own = any(getattr(self, name) != default for name, default in _OF_HOLDOUT.items())
        if self.given_holdout is not None and is_own:
            expected = "a share, a mask or a splitter when a policy or a ledger is given"
            fix = "It has a policy, a ledger and a name (who) of its own."
            raise bad_parameter("holdout", OWNER, expected, "a Holdout", fix)
        if asks_few:
            integer(fix="Or 'candidates', or 'winner'.")(self.ask, "ask", OWNER)
        self._check_scorers(own)
        if self.scorer is None and is_share(self.holdout):  # of others the rows will tell
            check_time_order(self.holdout, own.get("cv"))
        self._check_search(own)
        if self.reveal == "winner":
            self._check_one_winner()
        if (self.reveal == "winner" or asks_few) and not self.keeps_model:
            expected = "with a model in the end when ask is an integer or reveal='winner'"
            fix = "Models refitted on all training rows are compared: use refit=True."
            raise bad_parameter("search", OWNER, expected, "refit=False", fix)
        self._check_other()
        self._check_rule()

    def _check_rule(self) -> None:
        """Raise unless ``one_standard_error`` says which candidates of this search are simpler."""
        rule, fix = self.one_standard_error, ""
        if rule is False:
            return
        alone = self.ask in ("winner", 1) or self.how.draws_winner or self.question.improvements_only
        if isinstance(rule, bool) and type(self.search) is not GridSearchCV:
            expected = f"the name of a parameter or a function for {type(self.search).__name__}"
            fix = "Only a grid has an order; True takes the earlier of its candidates for the simpler."
        elif isinstance(rule, str) and rule not in self.search.estimator.get_params():
            expected = "the name of a parameter of the estimator"
        elif not (isinstance(rule, (bool, str)) or callable(rule)):
            expected = "True, False, the name of a parameter or a function of the parameters"
        elif self.reveal == "winner":
            expected, fix = "False when reveal='winner'", "It compares scores that are not revealed."
        elif alone:
            expected = "False where one candidate is certified, or improvements only"
            fix = "Use ask=5, say, or ask='candidates'."
        else:
            return
        raise bad_parameter("one_standard_error", OWNER, expected, rule, fix)

    def _check_other(self) -> None:
        """Raise unless ``compare_with`` may be a model, with which one that is kept can be compared."""
        other = self.compare_with
        if other is None:
            return
        if not self.keeps_model:
            expected, fix = "None with refit=False", "No model is kept, so there is none to compare."
            raise bad_parameter("compare_with", OWNER, expected, other, fix)
        if not (other == "kept" if isinstance(other, str) else hasattr(other, "predict")):
            raise bad_parameter("compare_with", OWNER, "'kept', a fitted estimator or None", other)

    def _check_scorers(self, own: dict[str, Any]) -> None:
        """Raise unless the only scorer that asks a holdout is the mechanism."""
        if isinstance(self.scoring, HoldoutScorer):
            fix = "Pass the scorer as mechanism=; it has a metric."
            raise bad_parameter("scoring", OWNER, "a metric", self.scoring, fix)
        asking = [one for one in searches.own_scorings(self.search) if isinstance(one, HoldoutScorer)]
        if isinstance(own.get("cv"), ValidationSplit):
            asking.append(own["cv"])
        if asking:
            expected = "with plain metrics as its scoring, and no cv of a scorer"
            fix = "Name the plain metric, scoring='accuracy', and pass mechanism=scorer to ReusableHoldoutCV."
            raise bad_parameter("search", OWNER, expected, asking[0], fix)
        is_default = isinstance(self.holdout, float) and self.holdout == 0.25
        if self.scorer is not None and self.holdout is not self.scorer.holdout and not is_default:
            expected = "left out, or that of the scorer that is its mechanism"
            raise bad_parameter("holdout", OWNER, expected, self.holdout)

    def _check_search(self, own: dict[str, Any]) -> None:
        """Raise ValueError for a search whose candidates cannot be asked about."""
        refused = (
            (self.of_pairs, "over a model of features, not of a kernel or distance matrix,", "estimator",
             "The holdout has its pairs with all rows, and a candidate needs some only. Use ask='winner'."),
            (searches.has_own_cv(self.search), "without a cv of its own", "cv",
             "One validation part of the rows takes its place. Use ask='winner', which keeps the cv."),
            (callable(own.get("refit")), "without a function as refit", "refit",
             "Certified scores choose the winner. Use one_standard_error=, or ask='winner'."),
            (own.get("enable_pruning"), "without pruning", "enable_pruning",
             "Every step of every model would be a question. Use enable_pruning=False, or ask='winner'."),
        )  # fmt: skip
        for is_so, expected, name, fix in refused:
            if self.asks_candidates and is_so:
                expected = f"{expected} when ask='candidates'"
                raise bad_parameter("search", OWNER, expected, f"{name}={own[name]!r}", fix)
        if own.get("study") is not None and own["study"].trials:
            fix = "Earlier trials may be of other rows, and were not asked about."
            trials = f"{len(own['study'].trials)} trials"
            raise bad_parameter("search", OWNER, "with a study that is new", trials, fix)

    def _check_one_winner(self) -> None:
        """Raise ValueError where no winner can be revealed alone."""
        if self.asks_candidates and searches.n_candidates(self.search) is None:
            expected = f"'all' for {type(self.search).__name__} when ask='candidates'"
            fix = "Its next candidates depend on the scores of the last. Use another ask, or GridSearchCV."
            raise bad_parameter("reveal", OWNER, expected, self.reveal, fix)
        if self.scorer is not None or self.question.improvements_only:
            expected = "'auto', 'thresholdout' or 'stable_median' when reveal='winner'"
            fix = "It reveals more than the winner."
            raise bad_parameter("mechanism", OWNER, expected, self.mechanism, fix)

    # What is certified, and how.

    def why_no_metric(self) -> str:
        """Return why nothing says what to certify; empty if something does."""
        if self.ask != "winner" or self.scoring is not None or self.scorer is not None:
            return ""
        if searches.chooses_by_several(self.search):
            return NO_METRIC
        return "" if searches.has_usual_metric(self.search) else NO_USUAL_METRIC

    def metric(self) -> Metric:
        """Return what is certified: ``scoring``, the scorer's metric, the search's own, or the usual one.

        Raises
        ------
        ValueError
            For several metrics, for another than that of the scorer which is to ask about it, and for one
            that the mechanism does not certify.
        """
        of_scorer = None if self.scorer is None else self.scorer.metric
        scoring = self.scoring
        if scoring is None:
            scoring = searches.metric_of(self.search) if of_scorer is None else of_scorer
        if scoring is None:
            scoring = "accuracy" if is_classifier(self.search.estimator) else "r2"
        if isinstance(scoring, (dict, list, tuple, set)):
            fix = "Name the one to certify: scoring='accuracy'."
            raise bad_parameter("scoring", OWNER, "one metric", scoring, fix)
        metric = as_metric(scoring)
        if of_scorer is not None:
            if (metric.scoring, metric.describe()) != (of_scorer.scoring, of_scorer.describe()):
                expected = f"None or {of_scorer.name}, the metric of the scorer that is its mechanism"
                raise bad_parameter("scoring", OWNER, expected, scoring)
            return of_scorer
        if self.how.is_chosen and self.question.needs_interval:
            _ = metric.certified_measure  # raises if only a stable median can certify the metric
        return metric

    def check_models(self, metric: Metric, y: Any) -> None:
        """Raise ValueError if it is plain before the first fit that no model can be asked for the metric.

        Where the search ranks by another score, it must be so of all candidates, as any may win. Of a metric
        that nobody named, the search says in the end what is lacking.
        """
        models, of_search = searches.models_before(self.search), searches.own_scorings(self.search)
        if metric.string is None or (
            of_search == [None] and self.scoring is None and not self.asks_candidates
        ):
            return
        if not is_classifier(self.search.estimator) or metric.response.target == "numbers":
            try:
                metric.check_target(check_labels(y))
            except UndefinedMetricError as error:
                raise undefined_metric(metric, y, error, f"{OWNER}.fit") from error
        lacking = [each for each in (_why_unasked(model, metric) for model in models) if each]
        ranks_by_it = self.asks_candidates or not self.scoring or metric.string in of_search
        if lacking and (len(lacking) == len(models) or not ranks_by_it):
            expected, got = lacking[0]
            fix = f"{metric.name} could be computed of none of them: take another metric, or another model."
            if len(lacking) < len(models):
                fix = "It may win, as the search ranks by another score: leave it out, or rank by the metric."
            raise bad_parameter("search", OWNER, expected, got, fix)

    def median(self, metric: Metric, holdout: Holdout) -> MedianSettings | None:
        """Return the settings of the stable median; None for metrics with an interval.

        With ``mechanism="auto"`` a scorer of scikit-learn's is certified on its own value, or refused: a
        median answers where it was asked for, and for a function of which there is nothing but its values.
        What validation rows tune is for winners: candidates are checked, all of them in the same way. Exact,
        unless privacy alone certifies: by description length a draw's noise would only widen the interval.

        Raises
        ------
        ValueError
            If the metric has no interval on this holdout; it says why, and what to write.
        """
        session = session_of(holdout)
        if not self.question.needs_interval:
            check_median_may_be(session.policy)
            settings = None if self.scorer is None else self.scorer.settings
            return settings if isinstance(settings, MedianSettings) else _usual_median(metric, holdout)
        if not why_no_interval(session, metric, self._purpose_of_first):
            return None
        if session.policy.mix is None and self._may_be_median(metric):
            return _usual_median(metric, holdout)
        check_defined(session.data, metric)
        self._refuse(metric, session, self._purpose_of_first)

    @property
    def _purpose_of_first(self) -> str:
        """What the questions are for of which a metric must have an interval."""
        winners = not self.how.is_chosen and (not self.asks_candidates or self.reveal == "winner")
        return "certify" if winners else "check"

    def _may_be_median(self, metric: Metric) -> bool:
        """Return whether a median answers of a metric without an interval, although nobody asked for one."""
        return not self.how.is_chosen and (metric.string is None or metric.chosen_general)

    def check_interval(self, metric: Metric) -> None:
        """Raise ValueError, before a ledger is begun, if the metric has an interval on no holdout."""
        is_plain = isinstance(self.class_mix, str) and self.given_holdout is None
        needs_one = self.question.needs_interval and not self._may_be_median(metric)
        if is_plain and needs_one and why_no_interval(None, metric, "certify"):
            self._refuse(metric, None, "certify")

    def _refuse(self, metric: Metric, session: Session | None, purpose: str) -> NoReturn:
        has_median = session is None or session.policy.mix is None
        why = why_no_interval(session, metric, purpose)
        is_certified = purpose == "check" and not why_no_interval(session, metric, "certify")
        of_winner = " Its winner can be certified: ask='winner'." if is_certified else ""
        instead = " mechanism='stable_median' answers the median over subsamples, which is another quantity."
        fix = f"It {why}.{of_winner}{instead if has_median else ''}"
        raise bad_parameter("scoring", OWNER, "a metric with an interval of its own", metric.name, fix)

    def scorer_of(self, metric: Metric, holdout: Holdout, median: MedianSettings | None) -> HoldoutScorer:
        """Return the scorer that asks about every candidate."""
        if self.scorer is not None:
            return self.scorer.fresh(self.validation)
        if median is None:
            given = {} if self.how.settings is None else {"settings": self.how.settings}
            return self.how.scorer(metric, holdout, validation=self.validation, **given)
        return StableHoldoutScorer(
            metric, holdout, method=median.method, stratify=median.stratify, validation=self.validation
        )

    def other_model(self, metric: Metric, holdout: Holdout) -> Any:
        """Return the model that the winner will be compared with; None if there is none.

        Raises
        ------
        ValueError, TypeError, NotFittedError
            If it cannot be compared by this metric, or another process kept it.
        """
        other, session = self.compare_with, session_of(holdout)
        if other is None:
            return None
        if not (metric.measure.has_differences and session.policy.is_described):
            fix = "Only means of bounded scores, without noise, have an interval for the difference."
            raise bad_parameter("compare_with", OWNER, f"None for {metric.name} here", other, fix)
        if isinstance(other, str):
            try:
                other = kept_model(session)
            except LookupError as error:
                expected, fix = f"the model itself. {error}", "Load it and pass it: compare_with=model."
                raise bad_parameter("compare_with", OWNER, expected, "'kept'", fix) from None
        if other is not None:
            Subject.of(other, session.data, session.policy, OWNER)
        return other

    # What that means for the answers.

    def warn_before_asking(self, metric: Metric, holdout: Holdout, median: MedianSettings | None) -> None:
        """Warn of what rows, metric and parameters mean for the answers, before anything is spent."""
        warn_of_design(session_of(holdout))
        warn_of_units(session_of(holdout), metric)
        if self.reveal == "winner" and self.ask == "winner":
            warn_user(
                "reveal='winner' hides the scores of candidates that the holdout was asked about, and with "
                "ask='winner' it is asked about one. Use ask='candidates' or an integer, or leave it out."
            )
        if median is not None:
            self._warn_of_median(metric, holdout, median)
            return
        if not self.asks_candidates or self.reveal == "winner":
            _warn_of_exact_value(metric, holdout)
        self._warn_of_tolerance(metric, holdout)

    def _warn_of_median(self, metric: Metric, holdout: Holdout, median: MedianSettings) -> None:
        """Warn that a median will be certified which the user did not choose."""
        if self.how.is_chosen or metric.is_median_chosen:
            return
        session = session_of(holdout)
        notice = median_notice(metric, median, session.data, regression=is_regressor(self.search.estimator))
        too_few = too_few_rows(session, worst_question(session, metric, self.purpose, None))
        warn_user(f"{too_few}{notice}; or accept the median: mechanism='stable_median'.")

    def _warn_of_tolerance(self, metric: Metric, holdout: Holdout) -> None:
        """Warn, before anything is asked, that the tolerance admits fewer questions than expected."""
        expected, session = self.expected_questions, session_of(holdout)
        if self.tolerance is None or expected is None or not session.data.has_interval(metric):
            return
        if not is_foreseen(session, metric):
            return  # each question is admitted or refused by its guess
        left = holdout.remaining(metric, purpose=self.purpose)
        asked = session.ledger.read(lambda state: int(state.asked[self.purpose]))
        if left is None or left == 0 or asked + left >= expected:  # of 0 the refusal will tell
            return
        warn_user(
            f"{expected} questions are expected, and within the tolerance of {self.tolerance:g} this holdout "
            f"answers about {asked + left} by {metric.name}, if guesses hold. Later ones will be refused. "
            "Before the first answer, a larger tolerance is free to choose; or plan for more rows "
            "(plan_holdout).",
            once=("tolerance", holdout.fingerprint, metric.name),
        )


def _why_unasked(model: Any, metric: Metric) -> tuple[str, str] | None:
    """Return what a model must be for the metric, and what it is; None unless it is plain that it is not."""
    methods, kind = metric.methods or ("predict",), get_tags(model).estimator_type
    if searches.surely_lacks(model, methods):
        return f"over models with {' or '.join(methods)} for {metric.name}", type(model).__name__
    if metric.response.needs_classes and kind in _WITHOUT_CLASSES:
        expected = f"over classifiers, whose classes_ say what outputs are of, for {metric.name}"
        return expected, type(model).__name__
    return None


def _warn_of_exact_value(metric: Metric, holdout: Holdout) -> None:
    """Warn that a ledger that answers coarsely answers this metric exactly, at a price."""
    session = session_of(holdout)
    if not session.policy.seals_all or is_answered_coarsely(session, metric):
        return
    written = repr(metric.name)
    if metric.string is not None and metric.string != metric.name:
        written = f"Metric({metric.string!r}, pos_label={metric.positive!r})"
    way_out = (
        "For many searches in a row, search by 'accuracy' or another mean of 0/1 scores, and certify "
        f"{metric.name} of the model that is kept: holdout.certify(model, scoring={written}, "
        "guess_from=(X_val, y_val))."
    )
    if metric.response.target == "numbers":
        way_out = "No metric of numbers has cells: do with few searches, or more rows (plan_holdout)."
    warn_user(
        f"{metric.name} has no cells, so the value of every winner is released at once. That "
        f"reveals more than a cell does, and makes all later intervals of this ledger wider. {way_out}",
        once=("exact", holdout.fingerprint, metric.name),
    )


def _usual_median(metric: Metric, holdout: Holdout) -> MedianSettings:
    """Return the usual settings; each subsample gets every class where the metric has no value otherwise."""
    method = "exponential" if holdout.route == "differential_privacy" else "exact"
    if metric.measure.needs_every_class:
        stratified = MedianSettings(method=method, stratify=True)
        with contextlib.suppress(ValueError):  # with groups it cannot be had
            stratified.subsample_size(session_of(holdout).data)
            return stratified
    return MedianSettings(method=method)
