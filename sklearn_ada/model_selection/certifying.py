"""Running a search and asking the holdout: about every candidate, or about the winner only.

Candidates are fitted on one part of the rows, and each is checked with its score on the rest as the guess.
The winner of a search, or its best few, are asked about once the search is done.

**The one-standard-error rule** takes, of the candidates that are as good as the best, the simplest. A
standard error is read off the certified interval: its half-width over the normal quantile of the failure
probability of a side. So it is made of released answers only, and is never smaller than what they certify.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri_exp
from sklearn.base import clone

from sklearn_ada._notices import tell, warn_user, with_bar
from sklearn_ada._validation import LN_2, bad_parameter, counted
from sklearn_ada.answer import Answer, certifies_nothing
from sklearn_ada.data.labels import n_rows, own_copy, take_rows
from sklearn_ada.digest.rows import row_hashes
from sklearn_ada.exceptions import BudgetExhaustedError
from sklearn_ada.guarantees.tilted import LN_LIKELY_SIDE, TILTED
from sklearn_ada.holdout.advice import why_vacuous
from sklearn_ada.holdout.asking import put_together
from sklearn_ada.holdout.framing import Ask, plan_question
from sklearn_ada.holdout.holdout import Holdout, session_of
from sklearn_ada.holdout.rounds import open_round
from sklearn_ada.holdout.session import Session, close_round
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.metrics.mixes import AtMix
from sklearn_ada.model_selection import searches
from sklearn_ada.model_selection.fit_parameters import FitParams
from sklearn_ada.model_selection.guesses import (
    Folds,
    Validated,
    guess_from_folds,
    guess_from_validation,
    tuned_by_validation,
)
from sklearn_ada.model_selection.parameters import NO_METRIC, OWNER, Parameters
from sklearn_ada.model_selection.scorers import HoldoutScorer
from sklearn_ada.model_selection.searches import Ranking
from sklearn_ada.model_selection.training_rows import ValidationSplit, split_rows
from sklearn_ada.questions.coded import FILL
from sklearn_ada.questions.question import Guess
from sklearn_ada.questions.stable_median import MedianSettings
from sklearn_ada.terms.models import Subject, digest_or_nonce
from sklearn_ada.terms.recognised_rows import remember_beside, remember_training

_NO_PREDICT = (
    "The best model has no predict, or whichever method the metric takes, and a question to the holdout is "
    "about what that says. Give it one to have it certified."
)
_UNSCORED_CHOICE = (
    "The candidate that the search's refit function chose has no score of its own, which would be the guess. "
    "Mend its scores, or choose among those that have one."
)
_ROWS_TRIED = 1_000  # on which two scores are compared


class Asked(NamedTuple):
    """What was asked about a refitted model: its digest, the guess, and the target without any rounding."""

    digest: str
    guess: Guess | None
    target: str

    def shown(self, answer: Answer) -> tuple[float, str]:
        """Return what is shown as the score and its target: the guess, where the answer is coarse."""
        if self.guess is not None and answer.verdict in ("agrees", "differs"):
            return self.guess.value, self.target
        return answer.value, str(answer.target)


@dataclass
class Winner:
    """The winner of a search, and the holdout's answers about it.

    Parameters
    ----------
    search : fitted search
    results : dict
        Its table, with the columns of certified intervals.
    index : int
        Number of the winner in it.
    model : fitted estimator or None
        Refitted on all training rows; None if no model is kept.
    answers : list of Answer
        All that were given, in the order in which they were asked for.
    answer : Answer or None
        The winner's; None if nothing was asked.
    metric : Metric or None
        What it is of, as validation rows have tuned it.
    unasked : str, default=""
        Why nothing was asked.
    asked : Asked or None, default=None
        What the winner's answer answers, where that is about the refitted model.
    """

    search: Any
    results: dict[str, Any]
    index: int
    model: Any
    answers: list[Answer]
    answer: Answer | None
    metric: Metric | None = None
    unasked: str = ""
    asked: Asked | None = None

    def warn(self, holdout: Holdout, median: MedianSettings | None) -> None:
        """Warn if nothing was asked, if the winner failed or differs, or if answers certify nothing."""
        if self.answer is None:
            kept = f"candidate {self.index}"
            if self.unasked != _NO_PREDICT:
                by_function = callable(self.search.get_params(deep=False).get("refit"))
                kept += ", which its refit function chose," if by_function else ", an arbitrary one,"
            warn_user(
                f"{self.unasked} So {kept} is kept as the search keeps it: the holdout was not asked, "
                "nothing was charged, and best_score_ is NaN."
            )
            return
        if self.answer.verdict == "failed":
            warn_user(
                f"The best model failed on the holdout ({self.answer.reason}); its score is NaN, so nothing "
                "is certified of it. The failure was recorded and paid for. Mend the model and search again."
            )
            return
        if self.answer.verdict == "differs" and self.asked is not None:
            low, high = self.answer.interval
            score, _ = self.asked.shown(self.answer)
            warn_user(
                f"The holdout differs from the score that the search found without it, {score:.4g}: it "
                f"certifies [{low:.4g}, {high:.4g}]. best_score_ stays what the search found; believe "
                "best_score_interval_, and publish() releases the value. By chance that comes in one search "
                "of forty; else training rows may be copies, or in an order that the folds keep, or the "
                "model may vary from fit to fit."
            )
        vacuous = sum(map(certifies_nothing, self.answers))
        if vacuous:
            what = f"{vacuous} of the {len(self.answers)} answers of this search certify nothing."
            if certifies_nothing(self.answer):
                what = "The interval of best_score_ certifies nothing."
            session = session_of(holdout)
            n_subsamples = None if median is None else median.subsamples(session.data)
            warn_user(f"{what} {why_vacuous(session, n_subsamples)}")


@dataclass
class Run:
    """One fit of a `ReusableHoldoutCV`, after its holdout was set aside.

    Parameters
    ----------
    given : Parameters
        Those of the `ReusableHoldoutCV`.
    holdout : Holdout
    X, y : array-like
        The training rows: all but the holdout's.
    params : FitParams
        What ``fit`` was passed beside them.
    metric : Metric
        What is certified.
    median : MedianSettings or None
        How, if by a stable median.
    cv : splitter or None
        Of the search, for the training rows.
    reporting : callable
        Takes a search and returns a context in which it reports to the callbacks set on the wrapper.
    """

    given: Parameters
    holdout: Holdout
    X: Any
    y: Any
    params: FitParams
    metric: Metric
    median: MedianSettings | None
    cv: Any
    reporting: Callable[[Any], AbstractContextManager[None]]
    asked: dict[int, Asked] = field(default_factory=dict)  # about refitted models, by the numbers of records

    def search_and_certify(self) -> Winner:
        """Run the search and ask about what the parameters say, candidates or winners."""
        of_all = self.given.asks_candidates and not self.hides_scores
        winner = _ask_about_candidates(self) if of_all else _ask_about_winners(self)
        if winner.answer is not None:
            winner.asked = self.asked.get(winner.answer.index)
        return winner

    @property
    def hides_scores(self) -> bool:
        """Whether candidates are asked about, and only the best of them is revealed."""
        return self.given.asks_candidates and self.given.reveal == "winner"

    @cached_property
    def session(self) -> Session:
        """The session of the holdout."""
        return session_of(self.holdout)

    @cached_property
    def round_name(self) -> str:
        """Name the round of questions by a digest of the search and the rows.

        So the same search of the same rows, run again, continues its round and finds its answers.
        """
        given = self.given
        identity = given.ask, given.reveal, given.validation, str(given.mechanism), self.metric.describe()
        return digest_or_nonce((given.search, self.X, np.asarray(self.y), *identity))

    @cached_property
    def row_hashes(self) -> NDArray[np.uint64]:
        """A hash of the features of every training row."""
        return row_hashes(self.X)

    @cached_property
    def subsample_size(self) -> int | None:
        """The size of a stable median's subsamples, if that certifies."""
        return None if self.median is None else self.median.subsample_size(self.session.data)

    def fit_search(self, search: Any, params: dict[str, Any]) -> None:
        """Run a search on the training rows."""
        with self.reporting(search):
            search.fit(own_copy(self.X), self.y, **params)

    def fit_on(self, candidate: dict[str, Any], rows: NDArray[Any]) -> Any:
        """Return the model of a candidate, fitted on the rows of these numbers."""
        part = searches.take_for(self.X, rows, rows, self.given.of_pairs), take_rows(self.y, rows)
        return searches.refitted(self.given.search, [candidate], *part, self.params.take(rows).of_model)[0]

    def refit(self, candidates: list[dict[str, Any]]) -> list[Any]:
        """Return the models of some candidates, fitted on all training rows."""
        return searches.refitted(self.given.search, candidates, self.X, self.y, self.params.of_model)

    @property
    def parts(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Numbers of the rows to fit on, and of those for validation."""
        return split_rows(n_rows(self.X), self.y, self.given.validation, 0, self.params.groups)

    def validated(self, candidate: dict[str, Any]) -> tuple[Any, Any, Any]:
        """Return a candidate fitted on one part of the rows, and the other part."""
        first, rest = self.parts
        rows = searches.take_for(self.X, rest, first, self.given.of_pairs), take_rows(self.y, rest)
        return self.fit_on(candidate, first), *rows

    def certify(
        self, refitted: Sequence[tuple[Any, Guess | None, Metric]], round_name: str | None
    ) -> list[Answer]:
        """Ask for metrics of refitted models, of which none looks once an answer is recorded.

        Raises
        ------
        BudgetExhaustedError
            If the holdout refuses.
        """
        session, questions = self.session, []
        remember_beside(session.genesis.fingerprint, self.row_hashes)
        for model, guess, metric in refitted:
            subject = Subject.of(model, session.data, session.policy, "Holdout.certify", fitted=True)
            remember_training(subject.digest, self.row_hashes, model)
            asked = Ask(subject, metric, "certify", guess, settings=self.median, round_name=round_name)
            questions.append((asked, plan_question(session, asked)))
        answers = put_together(session, questions)
        for answer, (asked, question), (_, guess, _) in zip(answers, questions, refitted, strict=True):
            if answer.verdict == "refused":
                raise BudgetExhaustedError(f"The winner could not be certified: {answer.reason}.")
            self.asked[answer.index] = Asked(asked.subject.digest, guess, question.target)
        return answers

    def close(self) -> None:
        """Close the round: from here on its intervals are narrower."""
        close_round(self.session.ledger, self.session.asker, self.round_name)


def _ask_about_candidates(run: Run) -> Winner:
    """Check every candidate, then refit the best on all rows and certify it.

    Raises
    ------
    BudgetExhaustedError
        If a candidate, or the winner, is refused.
    ValueError
        If no candidate got a score.
    """
    given = run.given
    scorer = _scorer_of_round(run)
    search = searches.asking_search(given.search, searches.RecordingScorer(scorer), scorer.cv)
    tell("searching; the holdout is asked about every candidate", given.verbose)
    try:
        run.fit_search(search, run.params.of_asking())
    except ValueError:  # bad rows make all fits of the one split fail: raise the model's own error
        fit, _ = next(scorer.cv.split(run.X, run.y, run.params.groups))
        run.fit_on({}, fit)
        raise
    run.close()
    results, answers = searches.certified_columns(searches.candidates_of(search), run.holdout)
    answered = [answer for answer in answers if answer is not None]
    refused = [answer for answer in answered if answer.verdict == "refused"]
    if refused:
        raise BudgetExhaustedError(
            f"{len(refused)} of {len(answers)} candidates were refused: {refused[0].reason}. The search "
            "is not finished, so no winner is chosen."
        )
    scores = np.where(searches.last_round(results), results["mean_test_score"], np.nan).astype(float)
    if np.isnan(scores).all():
        reasons = {str(answer.reason) for answer in answered}
        if not reasons:  # no question was even put: let the first candidate raise its error here
            fit, rest = next(scorer.cv.split(run.X, run.y, run.params.groups))
            model = run.fit_on(results["params"][0], fit)
            scorer.answer(model, take_rows(run.X, rest), take_rows(run.y, rest))
        raise ValueError(
            f"No candidate got a score from the holdout: {'; '.join(sorted(reasons))}. Models may do so "
            "where the holdout rows have NaN or infinite values."
        )
    may_win = np.flatnonzero(np.isfinite(scores)).tolist()
    index = best_of(answers, may_win, results["params"], given.one_standard_error)
    best = answers[index]
    if best is None:
        raise TypeError(
            "The search scored its best candidate on rows that are not from the cv it was given, so "
            "nothing was asked about it. Use ask='winner'."
        )
    if not given.keeps_model:  # its score is that of the candidate's model, fitted on one part of the rows
        return Winner(search, results, index, None, answered, best)
    tell("refitting the winner on all rows but the holdout's, and asking about it", given.verbose)
    (model,) = run.refit([results["params"][index]])
    behind = run.session.guess_behind(best)
    holds = best.verdict == "agrees" and run.session.policy.format >= 3
    value = behind.value if holds else best.value  # which may be the centre of a cell
    guess = Guess(value, behind.size, behind.deviation, behind.share)
    (answer,) = run.certify([(model, guess, run.metric)], None)
    return Winner(search, results, index, model, [*answered, answer], answer)


def _scorer_of_round(run: Run) -> HoldoutScorer:
    """Return the scorer that checks candidates, with their round opened if their number is fixed."""
    scorer = run.given.scorer_of(run.metric, run.holdout, run.median)
    candidates = searches.n_candidates(run.given.search)
    if candidates is not None:
        scorer.candidates = candidates
        rows = max(round(n_rows(run.X) * run.given.validation), 1)
        about: dict[str, Any] = {"purpose": "check", "scoring": run.metric, "name": run.round_name}
        about["settings"] = FILL if scorer.settings == FILL else None
        scorer.round_name = open_round(run.session, candidates, guess_rows=rows, **about)
    return scorer


def _ask_about_winners(run: Run) -> Winner:
    """Run the search, then certify its best candidates.

    If the holdout chooses among them, only its choice is certified. With ``ask="candidates"`` and
    ``reveal="winner"`` it chooses among all candidates.

    Raises
    ------
    BudgetExhaustedError
        If the holdout refuses; where that can be foreseen, before the search.
    ValueError
        If the winner was to be hidden among the candidates, and none has a score.
    """
    given, hidden = run.given, run.hides_scores
    count = searches.n_candidates(given.search) if hidden else 1 if given.ask == "winner" else int(given.ask)
    assert count is not None  # `Parameters.check` has refused other searches
    selecting = given.how.draws_winner or (given.reveal == "winner" and count > 1)
    _open_round_of(run, count, selecting, record=False)  # raises before the long search
    ranking, by_folds = _run_search(run)
    results = ranking.results
    chosen, why = _choose_candidates(run, ranking, count)
    tell(f"refitting {counted(len(chosen), 'model')} on all rows but the holdout's", given.verbose)
    models = run.refit([results["params"][i] for i in chosen])
    if not hidden and not why:
        able = _askable(models, run.metric)
        why = "" if able else _NO_PREDICT
        if able:
            chosen, models = [chosen[i] for i in able], [models[i] for i in able]
    if why:
        results.update(searches.columns_of([None] * len(ranking.scores)))
        return Winner(ranking.search, results, chosen[0], models[0], [], None, unasked=why)
    by_folds = not hidden and not _ranks_otherwise(run, ranking, models[0]) and by_folds
    round_name = _open_round_of(run, len(chosen), selecting)
    if selecting:
        epsilon = "auto" if given.how.draws_winner else None
        winner = run.holdout.select(models, scoring=run.metric, epsilon=epsilon)
        chosen, models = [chosen[winner]], [models[winner]]
    tuned, answers = _certify_each(run, chosen, models, ranking, by_folds, round_name)
    if round_name is None:  # it was run before
        _warn_of_new_questions(given.search, list(answers.values()))
    best = best_of(answers, chosen, results["params"], given.one_standard_error)
    if hidden:
        score, _ = run.asked[answers[best].index].shown(answers[best])
        results = searches.masked(results, best, score)
    results.update(searches.columns_of(map(answers.get, range(len(ranking.scores)))))
    model, answer = models[chosen.index(best)], answers[best]
    return Winner(ranking.search, results, best, model, list(answers.values()), answer, tuned[best])


def _open_round_of(run: Run, count: int, selecting: bool, record: bool = True) -> str | None:
    """Open a round of questions about ``count`` models.

    If ``selecting``, the holdout will choose one of them, and the round is of that one.
    """
    size, among = (1, count) if selecting else (count, 1)
    about: dict[str, Any] = {"purpose": "certify", "scoring": run.metric, "name": run.round_name}
    return open_round(run.session, size, alternatives=among, record=record, **about)


def _run_search(run: Run) -> tuple[Ranking, bool]:
    """Run the search and return its ranking, and whether its scores are guesses of the metric."""
    given, metric, hidden = run.given, run.metric, run.hides_scores
    search = _prepare_search(run)
    name, own_scoring = searches.score_name(search, metric)
    tell("searching; the holdout is asked when the search is done", given.verbose)
    run.fit_search(search, run.params.of_asking() if hidden else run.params.of_search)
    ranking = searches.ranked(search, name)
    if isinstance(metric.measure, AtMix):  # other scores are those of the rows' own class mix
        return ranking, own_scoring in (metric, searches.plain_scoring(metric))
    by_metric = own_scoring in (given.scoring, metric, metric.scoring, searches.plain_scoring(metric))
    return ranking, by_metric


def _ranks_otherwise(run: Run, ranking: Ranking, model: Any) -> bool:
    """Return, with a warning, whether a search's scores are of another metric than the certified one.

    Without scoring it ranks by its estimator's own ``score``, which need not be the usual metric: that of a
    search inside is by its scoring, that of a Poisson regression is a share of deviance explained. Whether
    it is shows on labels in another order, where two metrics do not agree by chance.
    """
    search, how = ranking.search, ""
    if run.params.weighs_scores:
        how = "scores with weights or other metadata"
    elif search.get_params(deep=False).get("scoring") is None and not run.given.of_pairs:
        order = np.random.default_rng(0).permutation(n_rows(run.X))[:_ROWS_TRIED]
        y = take_rows(run.y, order[::-1])
        try:
            scores = [
                score(take_rows(run.X, order), y) for score in (model.score, partial(run.metric.score, model))
            ]
            is_same = bool(np.isclose(scores[0], scores[1], equal_nan=True))
        except Exception:  # it may take labels in their own order only: then nobody can say
            is_same = False
        how = "" if is_same else f"{type(model).__name__}.score"
    if how:
        name, measure = run.metric.name, run.metric.measure
        clause, to_rank = "", f"give the search scoring={name!r}"
        if isinstance(measure, AtMix):
            clause, to_rank = measure.clause, f"name it: ReusableHoldoutCV(scoring={name!r})"
        warn_user(
            f"The search ranks its candidates by {how}, which is not {name}{clause}, the metric that is "
            f"certified. So the guess is the {name} of a model on validation rows. To rank by it, {to_rank}; "
            "to certify another metric, name it: ReusableHoldoutCV(scoring=...)."
        )
    return bool(how)


def _warn_of_new_questions(search: Any, answers: list[Answer]) -> None:
    """Warn if a search that was run before asks what is new because chance chose its folds or candidates."""
    new, cv = sum(not answer.repeated for answer in answers), searches.own_folds(search)
    unseeded = [
        part
        for part, each in (("folds", cv), ("search", search))
        if getattr(each, "random_state", 0) is None and getattr(each, "shuffle", True)
    ]
    if new and unseeded:
        names = " and ".join(f"the random_state of the {part}" for part in unseeded)
        warn_user(
            f"This search was run before on this ledger, and of its {counted(len(answers), 'question')} "
            f"{new} {'is' if new == 1 else 'are'} new, and paid for: each run draws anew. "
            f"Set {names}, and a search that is run again finds what is on record."
        )


def _askable(models: list[Any], metric: Metric) -> list[int]:
    """Return the numbers of the models with a method that the metric takes; warn if others lack it."""

    def can_be_asked(model: Any) -> bool:
        return any(callable(getattr(model, name, None)) for name in metric.methods or ("predict",))

    able = [number for number, model in enumerate(models) if can_be_asked(model)]
    if 0 < len(able) < len(models):
        warn_user(
            f"Of the best {len(models)} models {len(models) - len(able)} cannot be asked about: they have no "
            "predict, or whichever method the metric takes."
        )
    return able


def _certify_each(
    run: Run, chosen: list[int], models: list[Any], ranking: Ranking, by_folds: bool, round_name: str | None
) -> tuple[dict[int, Metric], dict[int, Answer]]:
    """Return the tuned metric and the answer of each model, by its candidate's number."""
    refitted = []
    pairs = list(zip(chosen, models, strict=True))
    for index, model in with_bar(pairs, "asking the holdout", run.given.verbose):
        metric, guess = _metric_and_guess(run, index, ranking, by_folds)
        refitted.append((model, guess, metric))
    tuned = {index: metric for index, (_, _, metric) in zip(chosen, refitted, strict=True)}
    answers = dict(zip(chosen, run.certify(refitted, round_name), strict=True))
    if run.session.policy.seals:
        run.close()
        for index, answer in answers.items():  # with the intervals that they have from then on
            closed = run.session.recorded_answer(answer.index)
            if closed is not None:
                answers[index] = replace(closed, repeated=answer.repeated)
    return tuned, answers


def _prepare_search(run: Run) -> Any:
    """Return a copy of the search that scores by the metric: by its own cv or, hidden, on validation rows."""
    given, plain = run.given, searches.plain_scoring(run.metric)
    search = searches.unfitted(given.search, run.cv)
    if run.hides_scores:
        cv = ValidationSplit(run.holdout, given.validation)
        return clone(search).set_params(scoring=plain, cv=cv, refit=False)
    if searches.scores_otherwise(search, given.scoring):
        search.set_params(scoring=plain)
    return search


def _choose_candidates(run: Run, ranking: Ranking, count: int) -> tuple[list[int], str]:
    """Return the best few candidates to ask about; or the one that the search keeps, and why none is.

    Raises where no winner can be kept without a score.
    """
    search, name, results, scores, order = ranking
    order = order[:count]
    if f"mean_test_{name}" not in results:  # of several scores of one function another function chooses
        return order[:1], NO_METRIC if run.given.scoring is None else ""
    by_function = callable(search.get_params(deep=False).get("refit"))
    if by_function and np.isfinite(scores).any() and not np.isfinite(scores[order[0]]):
        return order[:1], _UNSCORED_CHOICE
    scored = [index for index in order if np.isfinite(scores[index])]
    if scored:
        return scored, ""
    first = results["params"][order[0]] if order else {}
    why, cause = _why_unscored(ranking, run.metric, partial(run.validated, first))
    if run.hides_scores or not order or isinstance(cause, BudgetExhaustedError):  # never a warning
        raise ValueError(f"{why} So nothing is certified, and the holdout was not asked.") from cause
    return order[:1], why


def _why_unscored(ranking: Ranking, metric: Metric, validated: Validated) -> tuple[str, Exception | None]:
    """Return why a fitted search has no finite score, and the error behind it.

    The search itself turns errors into NaN. So its scorer is called once more, with a model and rows that
    ``validated`` returns, to see the error.
    """
    scorers = getattr(ranking.search, "scorer_", None)
    scorer = scorers.get(ranking.name) if isinstance(scorers, dict) else scorers
    why = (
        "its scores are NaN or infinite. On folds of one row, or of one class, they may be undefined: pass "
        "more rows, or give it a cv with fewer folds. With error_score='raise' it tells what failed, if "
        "anything did"
    )
    cause: Exception | None = None
    try:
        (scorer if callable(scorer) else metric.score)(*validated())
    except Exception as raised:
        cause = raised
        why = (
            f"its scorer or model raises {type(cause).__name__}: {str(cause).rstrip('.')}. Mend its scoring "
            "or its model; with error_score='raise' it tells by itself"
        )
    return f"No candidate got a score from the search itself, of those to be certified: {why}.", cause


def _metric_and_guess(run: Run, index: int, ranking: Ranking, by_folds: bool) -> tuple[Metric, Guess | None]:
    """Return the metric of one candidate, tuned where it must be, and the guess.

    ``by_folds`` says whether the ranking's scores are guesses; else validation rows give the guess.
    """
    validated = partial(run.validated, ranking.results["params"][index])
    is_tuned, is_older = run.median is None and run.metric.is_tuned, run.session.policy.format < 3
    folds: Folds | None = None
    if by_folds and not (is_tuned and is_older):
        folds = Folds.of(ranking, index, run.cv, run.X, run.y, run.params.groups)
        if is_older and run.subsample_size is None:
            folds = folds.uncounted(n_rows(run.X))
    if is_tuned:
        return tuned_by_validation(validated, run.metric, run.y, folds)
    guess, size = None, run.subsample_size
    if folds is not None:
        guess = guess_from_folds(folds, run.metric, validated, run.y, size)
    return run.metric, guess or guess_from_validation(validated, run.metric, size)


def standard_error(answer: Answer) -> float:
    """Return the standard error behind a certified interval; infinite where that is unbounded.

    Examples
    --------
    >>> import math
    >>> from sklearn_ada import Answer, Certificate
    >>> from sklearn_ada.answer import Cost
    >>> certificate = Certificate("", 0.95, math.log(0.05), "", (), False)
    >>> answer = Answer(0.8, (0.8 - 0.0196, 0.8 + 0.0196), "exact", Cost(4.0), certificate, 1)
    >>> round(standard_error(answer), 5)
    0.01
    """
    assert answer.certificate is not None  # it has a value
    of_side = LN_LIKELY_SIDE if TILTED in answer.certificate.theorem else -LN_2
    return answer.half_width / -float(ndtri_exp(answer.certificate.ln_delta + of_side))


def best_of(
    answers: Mapping[int, Answer] | Sequence[Answer | None],
    may_win: Sequence[int],
    candidates: Sequence[dict[str, Any]],
    rule: Any,
) -> int:
    """Return the number of the candidate that wins; the first of those that may if none has a value.

    Parameters
    ----------
    answers : mapping or sequence
        The answer about each candidate, by its number.
    may_win : sequence of int
        Numbers of candidates; of equals the first is better.
    candidates : sequence of dict
        The parameters of all candidates of the search.
    rule : bool, str or callable
        ``one_standard_error`` of `ReusableHoldoutCV`.
    """
    contenders = {number: answers[number] for number in may_win}
    answered = {n: answer for n, answer in contenders.items() if answer is not None and answer.answered}
    if not answered:
        return may_win[0]
    best = max(answered, key=lambda number: answered[number].value)
    if rule is False:
        return best
    least = answered[best].value - standard_error(answered[best])
    good = [number for number, answer in answered.items() if answer.value >= least]
    return min(good, key=lambda n: (_complexity(rule, n, candidates[n]), -answered[n].value))


def _complexity(rule: Any, number: int, params: dict[str, Any]) -> float:
    """Return how complex a candidate is: the least is the simplest."""
    if rule is True:
        return number
    value, what = (params[rule], rule) if isinstance(rule, str) else (rule(params), "its value")
    if not isinstance(value, Real) or value != value:
        raise bad_parameter("one_standard_error", OWNER, f"such that {what} is a number", value)
    return float(value)
