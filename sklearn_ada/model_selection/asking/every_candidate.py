"""Asking about every candidate of a search: each is fitted on one part of the rows, and checked."""

from __future__ import annotations

import numpy as np

from sklearn_ada._progress import tell
from sklearn_ada.exceptions import BudgetExhaustedError
from sklearn_ada.holdout import FILL, Guess, close_round, open_round
from sklearn_ada.metrics import n_rows, take_rows
from sklearn_ada.metrics.data.rows import own_copy
from sklearn_ada.model_selection.asking.run import Run, Winner
from sklearn_ada.model_selection.running.candidates import n_candidates
from sklearn_ada.model_selection.running.engines import candidates_of, keeps_model, last_round, told_to_ask
from sklearn_ada.model_selection.running.recording import RecordingScorer, certified_columns
from sklearn_ada.model_selection.running.simplest import best_of
from sklearn_ada.model_selection.scorers.base import HoldoutScorer
from sklearn_ada.model_selection.setting_up.chosen_mechanism import chosen_scorer

__all__ = ["ask_about_candidates"]


def ask_about_candidates(run: Run) -> Winner:
    """Check every candidate, then refit the best on all rows and certify it.

    Raises
    ------
    BudgetExhaustedError
        If a candidate, or the winner, is refused.
    ValueError
        If no candidate got a score.
    """
    wrapper = run.wrapper
    scorer = _scorer_of_round(run)
    recording = RecordingScorer(scorer)
    search = told_to_ask(wrapper.search, recording, scorer.cv)
    tell("searching; the holdout is asked about every candidate", wrapper.verbose)
    try:
        with run.reporting(search):
            search.fit(own_copy(run.X), run.y, **run.params.of_asking())
    except ValueError:  # bad rows make all fits of the one split fail: raise the model's own error
        fit, _ = next(scorer.cv.split(run.X, run.y, run.params.groups))
        run.fit_of_rows({})(fit)
        raise
    close_round(run.session.ledger, run.session.asker, run.key)  # from here on its intervals are narrower
    results, answers = certified_columns(candidates_of(search), wrapper.holdout_)
    refused = [answer for answer in answers if answer is not None and answer.verdict == "refused"]
    if refused:
        raise BudgetExhaustedError(
            f"{len(refused)} of {len(answers)} candidates were refused: {refused[0].reason}. The search "
            "is not finished, so no winner is chosen."
        )
    scores = np.where(last_round(results), results["mean_test_score"], np.nan).astype(float)
    if np.isnan(scores).all():
        reasons = {str(answer.reason) for answer in answers if answer is not None}
        if not reasons:  # no question was even put: let the first candidate raise its error here
            fit, rest = next(scorer.cv.split(run.X, run.y, run.params.groups))
            model = run.fit_of_rows(results["params"][0])(fit)
            scorer.answer(model, take_rows(run.X, rest), take_rows(run.y, rest))
        raise ValueError(
            f"No candidate got a score from the holdout: {'; '.join(sorted(reasons))}. Models may do so "
            "where the holdout rows have NaN or infinite values."
        )
    may_win = np.flatnonzero(np.isfinite(scores)).tolist()
    index = best_of(answers, may_win, results["params"], wrapper.one_standard_error)
    best = answers[index]
    if best is None:
        raise TypeError(
            "The search scored its best candidate on rows that are not from the cv it was given, so "
            "nothing was asked about it. Use ask='winner'."
        )
    given = [answer for answer in answers if answer is not None]
    if not keeps_model(wrapper):  # its score is that of the candidate's model, fitted on one part of the rows
        return Winner(search, results, index, None, given, best)
    tell("refitting the winner on all rows but the holdout's, and certifying it", wrapper.verbose)
    (model,) = run.refit([results["params"][index]])
    behind = run.session.guess_behind(best)
    guess = Guess(best.value, behind.size, behind.deviation, behind.share)
    answer = run.certify(model, guess, run.metric, None)
    return Winner(search, results, index, model, [*given, answer], answer)


def _scorer_of_round(run: Run) -> HoldoutScorer:
    """Return the scorer that checks candidates, with their round opened if their number is known."""
    scorer = chosen_scorer(run.wrapper, run.metric, run.wrapper.holdout_, run.median)
    candidates = n_candidates(run.wrapper.search)
    if candidates is not None:
        scorer.candidates = candidates
        scorer.round_name = open_round(
            run.session,
            candidates,
            purpose="check",
            scoring=run.metric,
            key=run.key,
            guess_rows=max(round(n_rows(run.X) * run.wrapper.validation), 1),
            settings=FILL if getattr(scorer, "settings", None) == FILL else None,
        )
    return scorer
