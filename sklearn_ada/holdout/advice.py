"""Warn of answers that are worth less than they look, and say what helps.

An answer is *vacuous* if its interval holds everything the metric can be. And a stable median is another
quantity than the metric on all rows, which an asker should know who did not ask for it.
"""

from __future__ import annotations

import math
import re
from typing import Any

from sklearn.base import is_regressor

from sklearn_ada._notices import warn_user
from sklearn_ada.answer import Answer, certifies_nothing
from sklearn_ada.data.labels import Units
from sklearn_ada.holdout.asking import foreseen_half_width
from sklearn_ada.holdout.session import Session
from sklearn_ada.holdout.state import State
from sklearn_ada.metrics.base import UndefinedMetricError
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.questions.question import Question
from sklearn_ada.questions.stable_median import MedianSettings
from sklearn_ada.terms.holdout_data import HoldoutData

_ALL_QUANTILES = 0.5  # a half-width
_FEW = 20  # rows or groups, of which no interval is narrower than .14


def warn_of_design(session: Session) -> None:
    """Warn, once a process, of rows that can certify little, whatever is asked.

    A few rows, or labels of one class only: then an interval near 1 says nothing of a model.
    """
    data = session.data
    if data.n_units < _FEW:
        least = 1.0 - (1.0 - session.policy.confidence_level) ** (1.0 / data.n_units)
        warn_user(
            f"The holdout has {_units(data, None)}: of a model that is right about all of them no more than "
            f"{1.0 - least:.2g} is certified. plan_holdout says how many rows a narrow interval takes.",
            once=("few rows", session.fingerprint),
        )
    elif data.classes is not None and len(data.classes) == 1:
        warn_user(
            "All labels of the holdout are of one class: whatever always predicts it is right about every "
            "row. Hold out rows of all classes (a stratified split, or more rows).",
            once=("one class", session.fingerprint),
        )


def warn_of_units(session: Session, metric: Metric) -> None:
    """Warn, before anything is charged, of groups or weights that can certify little of a metric."""
    data, units = session.data, session.data.units
    if units is None:
        return
    kind, worth = "group" if units.has_groups else "row", _worth(data, metric, units)
    if data.n_units < _FEW:
        warn_of_design(session)
    elif worth < _FEW:
        share = float(units.totals(units.weight).max() / units.weight.sum())
        why, mend = "the rows of one class are in few of them", f"Hold out more {kind}s of it."
        if units.bound is not None:
            why = "weight_bound is far above the mean weight"
            mend = "Cap the weights at a smaller bound before anything is asked, or hold out more rows."
        elif share > 1.0 / _FEW:
            why = f"one of them has {share:.0%} of the {'weight' if units.has_weight else 'rows'}"
            less = "Keep fewer of its rows, drawn" if units.has_groups else "Cap its weight"
            mend = f"{less} before anything is asked, or hold out more {kind}s."
        warn_user(
            f"The holdout has {_units(data, None)}, which for {metric.name} count like {worth:.2g} equal "
            f"ones, as {why}: what is paid for certifies little or nothing. {mend}",
            once=("unequal", session.fingerprint, metric.name),
        )
    if units.has_groups and units.n_units == len(data):
        warn_user(
            "Every group of the holdout is one row, so groups= says no more than that rows are independent, "
            "and makes intervals wider. Leave it out if no two rows belong together.",
            once=("groups of one", session.fingerprint),
        )


def _worth(data: HoldoutData, metric: Metric, units: Units) -> float:
    """Return how many equal units the interval of a metric rests on; infinity if the labels allow none."""
    if not data.has_interval(metric):
        return units.size(units.weight / units.weight.sum()) if metric.is_tuned else math.inf
    try:
        return data.measure_of(metric).size(data.y)
    except UndefinedMetricError:  # which is refused, and says why
        return math.inf


def warn_of_median(session: Session, question: Question, estimator: Any) -> None:
    """Warn if a stable median will answer that the asker has not chosen."""
    metric = question.metric
    if question.n_subsamples is None or metric.is_median_chosen:
        return
    notice = median_notice(metric, MedianSettings(), session.data, regression=is_regressor(estimator))
    warn_user(
        f"{too_few_rows(session, question)}{notice}; or accept the median: settings=MedianSettings().",
        once=("median", session.fingerprint, metric.name),
    )


def too_few_rows(session: Session, question: Question) -> str:
    """Return a sentence if the next stable median will be vacuous, whatever the rows are."""
    if question.n_subsamples is None:
        return ""

    def foreseen(state: State) -> float:
        allowance = state.allowance(question.purpose, at_once=question.at_once)
        return foreseen_half_width(state, question, allowance)[0]

    if session.ledger.read(foreseen) < _ALL_QUANTILES:
        return ""
    units = _units(session.data, question.n_subsamples)
    return f"{units} are too few: what will be paid for certifies nothing. "


def _units(data: HoldoutData, n_subsamples: int | None) -> str:
    """Say how many independent units there are, and in how many subsamples."""
    units = f"{data.n_units} {'groups' if data.has_groups else 'rows'}"
    return units if n_subsamples is None else f"{units} in {n_subsamples} subsamples"


def warn_if_vacuous(session: Session, answer: Answer, question: Question) -> None:
    """Warn, once a process, of a new answer that certifies nothing, or of rows that can certify little."""
    if answer.repeated or not answer.answered:
        return
    if not certifies_nothing(answer):
        warn_of_design(session)
    else:
        parts = question.n_subsamples
        warn_user(
            f"An answer of the holdout certifies nothing. {why_vacuous(session, parts)}",
            once=("vacuous", session.fingerprint, "metric" if parts is None else "median"),
        )


def why_vacuous(session: Session, n_subsamples: int | None) -> str:
    """Return why answers are vacuous, by the holdout's size and the nats revealed.

    Parameters
    ----------
    session : Session
    n_subsamples : int or None
        Of a stable median; None for a metric with an interval of its own.
    """
    data, policy = session.data, session.policy
    nats = session.ledger.read(lambda state: state.account.nats)
    if policy.is_described:
        what = f"with {nats:.3g} nats revealed"
        fewer = "fewer surprises, as guesses that hold cost next to nothing"
    else:
        what, fewer = "for what privacy can certify", "fewer expected_questions, which means less noise"
    if n_subsamples is not None:
        fewer += "; or a metric with an interval of its own"
    more = "a larger holdout"
    if policy.route == "description_length" and data.units is None:
        more = f"top_up, or {more}"
    return (
        "The interval is everything that the metric can be, because independent rows are too few: "
        f"{_units(data, n_subsamples)}, {what}. What helps: more rows ({more}; plan_holdout says how many), "
        f"or {fewer}."
    )


def median_notice(metric: Metric, settings: MedianSettings, data: HoldoutData, *, regression: bool) -> str:
    """Return a text: the median of a metric is another quantity, and these metrics have an interval.

    Parameters
    ----------
    metric : Metric
    settings : MedianSettings
    data : HoldoutData
    regression : bool
        Whether the model is a regressor, however few values y has.
    """
    name, units = metric.name, "groups" if data.has_groups else "rows"
    size = data.subsample_size(settings.subsamples(data), stratify=settings.stratify)
    why = "has no interval of its own on this holdout"
    if metric.has_interval_of_all_rows and data.units is not None:
        why = f"has no interval with weights or groups, as it {metric.why_alike(data.units)}"
    elif metric.has_interval_of_all_rows:
        why = "has no interval of its own here (the winner's has, of rows that count alike: ask='winner')"
    return (
        f"{name} {why}. Its answers are the median of {name} over random subsamples of {size} {units}, which "
        f"is another quantity than {name} on all rows and can be far from it. Use "
        f"{_with_interval(metric, data, regression)}"
    )


def _with_interval(metric: Metric, data: HoldoutData, regression: bool) -> str:
    of_class = _OF_ONE_CLASS.search(metric.name) if metric.string is None else None
    if of_class is not None and not data.has_groups and data.weight is None:
        label = _POS_LABEL.search(metric.name)
        written = "" if label is None else f", pos_label={_quoted(label[1])}"
        return f"Metric({of_class[1]!r}{written}), which is a scorer, too, and has an interval"
    if metric.is_scorer_with_interval and metric.range is None:
        return f"a metric with an interval, here {_here(metric.string)}"
    if regression or data.classes is None:
        return f"a metric with an interval, such as {_here('neg_mean_absolute_error')}"
    names = ["roc_auc"] if len(data.classes) == 2 else []
    served = [repr(n) for n in (*names, "balanced_accuracy", "accuracy") if data.has_interval(Metric(n))]
    return f"a metric with an interval, such as {', '.join(served)}"


_OF_ONE_CLASS = re.compile(r"^make_scorer\((f1|jaccard|precision|recall)_score\b(?!.*average)")
_POS_LABEL = re.compile(r"pos_label=([^,)]+)")


def _quoted(label: str) -> str:
    """Return a label as it is written: a scorer's text does not quote words."""
    is_number = label.removeprefix("-").replace(".", "", 1).isdigit()
    return label if is_number or label in ("True", "False") else repr(label.strip("'\""))


def _here(name: str | None) -> str:
    """Return a metric with a range, and where it is written: a search of scikit-learn takes none."""
    return f"Metric({name!r}, range=(low, 0)), as the scoring of a Holdout or of ReusableHoldoutCV"
