"""What a search has to say to its user: before it spends anything, and when it is done.

In the end that is why the holdout was not asked about a winner, or what its answer does not certify.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sklearn.base import is_regressor

from sklearn_ada._notices import warn_user
from sklearn_ada.answer import Answer
from sklearn_ada.holdout.holdout import Holdout, session_of
from sklearn_ada.holdout.notices import certifies_nothing, is_chosen, median_notice, too_few_rows, why_vacuous
from sklearn_ada.holdout.rounds import is_told_in_cells, worst_question
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.model_selection.parameters import Parameters
from sklearn_ada.questions.stable_median import MedianSettings

NOT_FINISHED = "The last call of fit did not end, so nothing is known to be asked about the best model."
NO_PREDICT = (
    "The best model has no predict, or whichever method the metric takes, and a question to the holdout is "
    "about what that says. Give it one to have it certified."
)
UNSCORED_CHOICE = (
    "The candidate that the search's refit function chose has no score of its own, which would be the guess. "
    "Mend its scores, or choose among those that have one."
)


def warn_before_asking(
    given: Parameters, metric: Metric, holdout: Holdout, median: MedianSettings | None
) -> None:
    """Warn of what the metric means for the answers, before anything is spent."""
    _warn_of_median(given, metric, holdout, median)
    if not given.asks_candidates or given.reveal == "winner":
        _warn_of_exact_value(metric, holdout, median)
    _warn_of_tolerance(given, metric, holdout, median)


def warn_of_outcome(
    answers: Sequence[Answer], best: Answer, holdout: Holdout, median: MedianSettings | None
) -> None:
    """Warn if the winner failed or its answer certifies nothing, or else if those of other candidates do."""
    if best.verdict == "failed":
        warn_user(
            f"The best model failed on the holdout ({best.reason}); its score is NaN, so nothing is "
            "certified of it. The failure was recorded and paid for. Mend the model and search again."
        )
        return
    vacuous = sum(map(certifies_nothing, answers))
    if not vacuous:
        return
    what = f"{vacuous} of the {len(answers)} answers of this search certify nothing."
    if certifies_nothing(best):
        what = "The interval of best_score_ certifies nothing."
    session = session_of(holdout)
    n_subsamples = None if median is None else median.subsamples(session.data)
    warn_user(f"{what} {why_vacuous(session, n_subsamples)}")


def warn_of_unasked(why: str, search: Any, winner: int) -> None:
    """Warn that a winner was kept about which the holdout was not asked, and whether it is arbitrary."""
    kept = f"candidate {winner}"
    if why != NO_PREDICT:
        chosen = callable(search.get_params(deep=False).get("refit"))
        kept += ", which its refit function chose," if chosen else ", an arbitrary one,"
    warn_user(
        f"{why} So {kept} is kept as the search keeps it: the holdout was not asked, nothing was charged, "
        "and best_score_ is NaN."
    )


def why_unscored(
    search: Any, name: str, metric: Metric, validated: Callable[[], tuple[Any, Any, Any]]
) -> tuple[str, Exception | None]:
    """Return why a fitted search has only NaN or infinite scores of this name, and the error behind it.

    The cause is what its scorer says of a model of one part of the rows on the rest of them, which
    ``validated`` returns: the search itself has turned it into NaN.
    """
    scorers = getattr(search, "scorer_", None)
    scorer = scorers.get(name) if isinstance(scorers, dict) else scorers
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


def no_candidate_scored(why: str) -> ValueError:
    """Return the error for a search that cannot go on without a score."""
    return ValueError(f"{why} So nothing is certified, and the holdout was not asked.")


def _warn_of_median(
    given: Parameters, metric: Metric, holdout: Holdout, median: MedianSettings | None
) -> None:
    """Warn that a median will be certified, unless the user wrote so, and whether it could be."""
    if median is None or given.how.is_chosen or is_chosen(metric):
        return
    session = session_of(holdout)
    notice = median_notice(metric, median, session.data, regression=is_regressor(given.search.estimator))
    too_few = too_few_rows(session, worst_question(session, metric, given.purpose, None))
    warn_user(f"{too_few}{notice}; or accept the median: mechanism='stable_median'.")


def _warn_of_exact_value(metric: Metric, holdout: Holdout, median: MedianSettings | None) -> None:
    """Warn, once a ledger and metric, that a ledger that answers in cells will tell this metric exactly."""
    session = session_of(holdout)
    if session.policy.answers != "cells" or median is not None or is_told_in_cells(session, metric):
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
        way_out = (
            "No metric of numbers has cells: do with few searches, each over many candidates, or plan for "
            "more rows (plan_holdout)."
        )
    warn_user(
        f"{metric.name} has no cells, so the value of every winner is told exactly, at once. That reveals "
        f"more than a cell does, and makes all later intervals of this ledger wider. {way_out}",
        once=("exact", holdout.fingerprint, metric.name),
    )


def _warn_of_tolerance(
    given: Parameters, metric: Metric, holdout: Holdout, median: MedianSettings | None
) -> None:
    """Warn, once a ledger and before anything is asked, that the tolerance admits fewer than expected."""
    expected, session = given.expected_questions, session_of(holdout)
    if given.tolerance is None or expected is None or median is not None or not metric.has_interval:
        return
    if not session.data.has_interval(metric):
        return
    left = holdout.remaining(metric, purpose=given.purpose)
    asked = session.ledger.read(lambda state: int(state.asked[given.purpose]))
    if left is None or left == 0 or asked + left >= expected:  # of 0 the refusal will tell
        return
    warn_user(
        f"{expected} questions are expected, and within the tolerance of {given.tolerance:g} this holdout "
        f"answers about {asked + left} by {metric.name}, if guesses hold. Later ones will be refused. Before "
        "the first answer, a larger tolerance is free to choose; or plan for more rows (plan_holdout).",
        once=("tolerance", holdout.fingerprint, metric.name),
    )
