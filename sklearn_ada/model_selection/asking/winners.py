"""Asking about the winner of a search, or about its best few, once the search is done."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._notices import warn_user
from sklearn_ada._progress import tell, with_bar
from sklearn_ada._table import counted
from sklearn_ada.exceptions import BudgetExhaustedError
from sklearn_ada.holdout import Guess, close_round, open_round
from sklearn_ada.metrics import Metric, n_rows
from sklearn_ada.metrics.data.rows import own_copy
from sklearn_ada.model_selection.asking.run import Run, Winner
from sklearn_ada.model_selection.running.candidates import columns_of, n_candidates, ranked
from sklearn_ada.model_selection.running.folds import unfitted
from sklearn_ada.model_selection.running.guesses import (
    guess_from_folds,
    guess_from_validation,
    tuned_by_validation,
)
from sklearn_ada.model_selection.running.masks import masked, told_to_validate
from sklearn_ada.model_selection.running.own_scores import plain_scoring, score_name, scores_otherwise
from sklearn_ada.model_selection.running.simplest import best_of
from sklearn_ada.model_selection.running.unscored import (
    NO_METRIC,
    NO_PREDICT,
    UNSCORED_CHOICE,
    no_candidate_scored,
    why_unscored,
)
from sklearn_ada.model_selection.scorers.splitter import ValidationSplit
from sklearn_ada.model_selection.setting_up.chosen_mechanism import is_tuned
from sklearn_ada.results import Answer

__all__ = ["ask_about_winners"]


def ask_about_winners(run: Run) -> Winner:
    """Run the search as it is, or on validation rows, then certify its best few, or the best of them.

    With ``ask="candidates"`` and ``reveal="winner"`` these are all candidates, of which the holdout names the
    best.

    Raises
    ------
    BudgetExhaustedError
        If the holdout refuses; where that can be foreseen, before the search.
    ValueError
        If the winner was to be hidden among the candidates, and none has a score.
    """
    wrapper, metric = run.wrapper, run.metric
    hidden = wrapper.ask == "candidates"
    count = n_candidates(wrapper.search) if hidden else 1 if wrapper.ask == "winner" else int(wrapper.ask)
    assert count is not None  # `check_reveal` has refused other searches
    drawing = wrapper.mechanism == "exponential_mechanism"
    selecting = drawing or (wrapper.reveal == "winner" and count > 1)
    search = _prepared(run, hidden)
    name, own_scoring = score_name(search, metric)
    about: dict[str, Any] = {"purpose": "certify", "scoring": metric, "key": run.key}
    size, among = (1, count) if selecting else (count, 1)
    open_round(run.session, size, alternatives=among, record=False, **about)  # raises before the long search
    tell("searching; the holdout is asked when the search is done", wrapper.verbose)
    with run.reporting(search):
        search.fit(own_copy(run.X), run.y, **(run.params.of_asking() if hidden else run.params.of_search))
    results, scores, order = ranked(search, name)
    chosen, why = _chosen(run, search, name, results, scores, order[:count], hidden)
    tell(f"refitting {counted(len(chosen), 'model')} on all rows but the holdout's", wrapper.verbose)
    models = run.refit([results["params"][i] for i in chosen])
    able = [run.can_ask_about(model) for model in models]
    if not (why or hidden or any(able)):
        why = NO_PREDICT
    if why:
        results.update(columns_of([], [], len(scores)))
        return Winner(search, results, chosen[0], models[0], [], None, unasked=why)
    if not (hidden or all(able)):
        warn_user(
            f"Of the best {len(able)} models {len(able) - sum(able)} cannot be asked about: they have no "
            "predict, or whichever method the metric takes."
        )
        chosen, models = ([x for x, can in zip(of, able, strict=True) if can] for of in (chosen, models))
    size, among = (1, len(chosen)) if selecting else (len(chosen), 1)
    round_name = open_round(run.session, size, alternatives=among, **about)
    if selecting:
        winner = wrapper.holdout_.select(models, scoring=metric, epsilon="auto" if drawing else None)
        chosen, models = [chosen[winner]], [models[winner]]
    plain = plain_scoring(metric)
    same_metric = not hidden and own_scoring in (wrapper.scoring, metric, metric.scoring, plain)
    answers, tuned = [], {}
    pairs = list(zip(chosen, models, strict=True))
    for index, model in with_bar(pairs, "certifying", wrapper.verbose):
        of_folds = (search, name, results, scores) if same_metric else None
        asked, guess = _metric_and_guess(run, index, results["params"][index], of_folds)
        tuned[index] = asked
        answers.append(run.certify(model, guess, asked, round_name))
    if run.session.policy.seals:
        answers = _of_closed_round(run, answers)
    by_index = dict(zip(chosen, answers, strict=True))
    best = best_of(by_index, chosen, results["params"], wrapper.one_standard_error)
    if hidden:
        results = masked(results, best, by_index[best].value)
    results.update(columns_of(answers, chosen, len(scores)))
    return Winner(search, results, best, models[chosen.index(best)], answers, by_index[best], tuned[best])


def _prepared(run: Run, hidden: bool) -> Any:
    """Return a copy of the search that scores by the metric: by its own cv or, hidden, on validation rows."""
    wrapper, plain = run.wrapper, plain_scoring(run.metric)
    search = unfitted(wrapper.search, run.cv)
    if hidden:
        return told_to_validate(search, plain, ValidationSplit(wrapper.holdout_, wrapper.validation))
    if scores_otherwise(search, wrapper.scoring):
        search.set_params(scoring=plain)
    return search


def _chosen(
    run: Run,
    search: Any,
    name: str,
    results: dict[str, Any],
    scores: NDArray[np.float64],
    order: list[int],
    hidden: bool,
) -> tuple[list[int], str]:
    """Return the best few candidates to ask about; or the one that the search keeps, and why none is.

    ``order`` are the best few by the search's own scores of that name, in ``scores``.
    """
    if f"mean_test_{name}" not in results:  # of several scores of one function another function chooses
        return order[:1], NO_METRIC if run.wrapper.scoring is None else ""
    by_function = callable(search.get_params(deep=False).get("refit"))
    if by_function and np.isfinite(scores).any() and not np.isfinite(scores[order[0]]):
        return order[:1], UNSCORED_CHOICE
    scored = [index for index in order if np.isfinite(scores[index])]
    return (scored, "") if scored else (order[:1], _why_unscored(run, search, name, results, order, hidden))


def _why_unscored(
    run: Run, search: Any, name: str, results: dict[str, Any], order: list[int], hidden: bool
) -> str:
    """Return why no candidate has a score; raise where no winner can be kept without one."""
    first = results["params"][order[0]] if order else {}
    why, cause = why_unscored(
        search, name, run.metric, run.fit_of_rows(first), run.X, run.y, run.wrapper.validation,
        run.params.groups, run.of_pairs,
    )  # fmt: skip
    if hidden or not order or isinstance(cause, BudgetExhaustedError):  # which is never a warning
        raise no_candidate_scored(why) from cause
    return why


def _metric_and_guess(
    run: Run,
    index: int,
    candidate: dict[str, Any],
    of_folds: tuple[Any, str, dict[str, Any], NDArray[np.float64]] | None,
) -> tuple[Metric, Guess | None]:
    """Return the metric of one candidate, as validation rows tune it where they must, and the guess.

    ``of_folds`` are the search, the name of its score, its table and its mean scores, if that score is the
    metric; else validation rows give the guess.
    """
    fit = run.fit_of_rows(candidate)
    t = None if run.median is None else run.median.subsample_size(run.session.data)
    validation, groups = run.wrapper.validation, run.params.groups
    guess: Guess | None = None
    if run.median is None and is_tuned(run.metric):
        tuned, guess = tuned_by_validation(fit, run.X, run.y, validation, groups, run.metric, run.of_pairs)
        if guess is not None or tuned is not run.metric:
            return tuned, guess
    elif of_folds is not None:
        search, name, results, scores = of_folds
        folds = max(int(getattr(search, "n_splits_", 1)), 1)
        over_folds = results.get(f"std_test_{name}", np.zeros(len(scores)))
        guess = guess_from_folds(over_folds, scores, index, n_rows(run.X), folds, run.metric, t)
    if guess is None:
        guess = guess_from_validation(fit, run.X, run.y, validation, groups, run.metric, t, run.of_pairs)
    return run.metric, guess


def _of_closed_round(run: Run, answers: list[Answer]) -> list[Answer]:
    """Close the round, and return its answers with the intervals that they have from then on."""
    close_round(run.session.ledger, run.session.asker, run.key)
    told = ((run.session.recorded_answer(answer.index), answer.repeated) for answer in answers)
    return [replace(answer, repeated=again) for answer, again in told if answer is not None]
