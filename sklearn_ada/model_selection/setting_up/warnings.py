"""What `ReusableHoldoutCV` warns of: once before it spends anything, and once when it is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import is_regressor

from sklearn_ada._notices import warn_user
from sklearn_ada.holdout import (
    Holdout,
    MedianSettings,
    certifies_nothing,
    is_chosen,
    is_told_in_cells,
    median_notice,
    session_of,
    too_few_rows,
    why_vacuous,
    worst_question,
)
from sklearn_ada.metrics import Metric
from sklearn_ada.model_selection.running.unscored import NO_PREDICT
from sklearn_ada.model_selection.wrapper import Wrapper
from sklearn_ada.results import Answer

__all__ = ["warn_of_exact_value", "warn_of_median", "warn_of_outcome", "warn_of_tolerance", "warn_of_unasked"]


def warn_of_median(wrapper: Wrapper, metric: Metric, holdout: Holdout, median: MedianSettings | None) -> None:
    """Warn that a median will be certified, unless the user wrote so, and whether it could be."""
    if median is None or wrapper.mechanism != "auto" or is_chosen(metric):
        return
    session, purpose = session_of(holdout), "check" if wrapper.ask == "candidates" else "certify"
    told = median_notice(metric, median, session.data, regression=is_regressor(wrapper.search.estimator))
    too_few = too_few_rows(session, worst_question(session, metric, purpose, None))
    warn_user(f"{too_few}{told}; or accept the median: mechanism='stable_median'.")


def warn_of_exact_value(metric: Metric, holdout: Holdout, median: MedianSettings | None) -> None:
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


def warn_of_tolerance(
    wrapper: Wrapper, metric: Metric, holdout: Holdout, median: MedianSettings | None
) -> None:
    """Warn, once a ledger and before anything is asked, that the tolerance admits fewer than expected."""
    expected, session = wrapper.expected_questions, session_of(holdout)
    if wrapper.tolerance is None or expected is None or median is not None or not metric.has_interval:
        return
    if not session.data.has_interval(metric):
        return
    purpose = "check" if wrapper.ask == "candidates" else "certify"
    left = holdout.remaining(metric, purpose=purpose)
    asked = session.read(lambda state: int(state.asked[purpose]))
    if left is None or left == 0 or asked + left >= expected:  # of 0 the refusal will tell
        return
    warn_user(
        f"{expected} questions are expected, and within the tolerance of {wrapper.tolerance:g} this holdout "
        f"answers about {asked + left} by {metric.name}, if guesses hold. Later ones will be refused. Before "
        "the first answer, a larger tolerance is free to choose; or plan for more rows (plan_holdout).",
        once=("tolerance", holdout.fingerprint, metric.name),
    )


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
    told = f"{vacuous} of the {len(answers)} answers of this search certify nothing."
    if certifies_nothing(best):
        told = "The interval of best_score_ certifies nothing."
    session = session_of(holdout)
    n_subsamples = None if median is None else median.subsamples(session.data)
    warn_user(f"{told} {why_vacuous(session, n_subsamples)}")


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
