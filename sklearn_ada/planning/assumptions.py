"""What a plan assumes, such as the expected score, besides what is given of rows, questions and width."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sklearn_ada._checks import bad_parameter, check_integer, check_real
from sklearn_ada.guarantees.medians.exact_median import DRAWN_POINTS

__all__ = ["Assumptions"]


@dataclass(frozen=True)
class Assumptions:
    """See `plan_holdout` for each of them; a bad one is refused in its name."""

    confidence_level: float = 0.95
    expected_value: float | None = 0.85
    guess_rows: int | None = None
    surprise_rate: float = 0.0
    subsample_size: int = 20
    grid_size: int = DRAWN_POINTS
    verdicts: bool = False
    passes: int | None = None
    disagreement: float | None = None

    def __post_init__(self) -> None:
        owner = "plan_holdout"
        checked: dict[str, float] = {
            "confidence_level": check_real(
                self.confidence_level, "confidence_level", owner, low=0.0, high=1.0
            )
        }
        if self.expected_value is not None:
            checked["expected_value"] = check_real(
                self.expected_value, "expected_value", owner, low=0.0, high=1.0,
                fix="It is a share such as an accuracy; None plans for the worst mean of values in [0, 1].",
            )  # fmt: skip
        checked["surprise_rate"] = check_real(
            self.surprise_rate, "surprise_rate", owner, low=0.0, high=1.0, closed="both"
        )
        if self.guess_rows is not None:
            checked["guess_rows"] = check_integer(
                self.guess_rows, "guess_rows", owner, fix="None plans for as many as the holdout has."
            )
        checked["subsample_size"] = check_integer(self.subsample_size, "subsample_size", owner)
        checked["grid_size"] = check_integer(self.grid_size, "grid_size", owner, low=2)
        if not isinstance(self.verdicts, bool):
            raise bad_parameter("verdicts", owner, "True or False", self.verdicts)
        for name in ("passes", "disagreement"):
            if getattr(self, name) is not None and not self.verdicts:
                fix = "It is planned for pass or fail only: set 'verdicts' to True."
                expected = "None where 'verdicts' is False"
                raise bad_parameter(name, owner, expected, getattr(self, name), fix)
        if self.passes is not None:
            checked["passes"] = check_integer(
                self.passes,
                "passes",
                owner,
                fix="None plans for a process that goes on whatever the verdicts.",
            )
        if self.disagreement is not None:
            checked["disagreement"] = check_real(
                self.disagreement, "disagreement", owner, low=0.0, high=1.0, closed="high",
                fix="It is a share of records; None plans for verdicts about one model.",
            )  # fmt: skip
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def beta(self) -> float:
        """Failure probability of the whole conversation."""
        return 1.0 - self.confidence_level

    @property
    def ln_beta(self) -> float:
        """Its logarithm."""
        return math.log1p(-self.confidence_level)

    @property
    def value(self) -> float:
        """The share whose sampling error guesses have: the expected one, or the most uncertain."""
        return 0.5 if self.expected_value is None else self.expected_value

    def guess_error(self, n: int) -> float:
        """Return the standard error of the difference between a share of n holdout records and its guess."""
        return math.sqrt(self.value * (1.0 - self.value) * (1.0 / n + 1.0 / (self.guess_rows or n)))
