"""Why an answer certifies nothing, and what would help."""

from __future__ import annotations

from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.terms.policy import Policy
from sklearn_ada.results import Answer

__all__ = ["certifies_nothing", "why_vacuous"]


def certifies_nothing(answer: Answer) -> bool:
    """Return whether an answer has a value and an interval that was known before looking."""
    return answer.answered and answer.certificate.vacuous


def why_vacuous(data: HoldoutData, policy: Policy, nats: float, n_subsamples: int | None) -> str:
    """Return why answers of a holdout are vacuous, from its size and its account alone.

    Parameters
    ----------
    data : HoldoutData
    policy : Policy
    nats : float
        Everything revealed, the answer included.
    n_subsamples : int or None
        Of a stable median; None for a metric with an interval of its own.
    """
    units = f"{data.n_units} {'groups' if data.has_groups else 'rows'}"
    if n_subsamples is not None:
        units += f" in {n_subsamples} subsamples"
    if policy.is_described:
        what = f"with {nats:.3g} nats revealed"
        fewer = "fewer surprises, as guesses that hold cost next to nothing"
    else:
        what, fewer = "for what privacy can certify", "fewer expected_questions, which means less noise"
    if n_subsamples is not None:
        fewer += "; or a metric with an interval of its own"
    can_grow = policy.route == "description_length" and data.units is None
    more = "more rows (top_up, or a larger holdout" if can_grow else "more rows (a larger holdout"
    return (
        "The interval is everything that the metric can be, because independent records are too few: "
        f"{units}, {what}. What helps: {more}; plan_holdout says how many), or {fewer}."
    )
