"""No analyst of four or six rows is missed more often than promised: all of them, through shipped holdouts.

Windows have little power on so few rows, for which there are the tight cases of `test_tight_windows`; cells,
tilted tails and published values have some. What is shown here is that everything works together.
"""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest

from sklearn_ada import Guess, Metric
from sklearn_ada.guarantees import description_length
from sklearn_ada.questions.seals import LossCount
from tests.support.guarantees.every_analyst import Question, SmallHoldouts, Table

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
GRID = np.sort([*np.linspace(0.0, 1.0, 61), 1e-3, 3e-3, 0.01, 0.99, 0.997, 0.999])
OF_LABELS = [0, 1, 0, 1], [1, 0, 0, 1], [0, 1, 1, 1]
"""What models say of the four values of a row: the first two are of class 0."""
OF_SCORES = [0, 2, 1, 3], [1, 0, 0, 1], [0, 1, 1, 1]
OF_CHANCES = [0, 1, 0, 1], [1, 0, 0.5, 1], [0, 0.5, 1, 0.5]
OF_NUMBERS = [0, 0.5, 1], [1, 0, 0.2], [0.5, 1, 0]
PAIRS = ([1, 1, 0, 0], [0, 1, 0, 1]), ([1, 0, 1, 0], [0, 1, 0, 1]), ([1, 0, 0, 0], [0, 1, 1, 1])
HIGH = Guess(0.97, 200.0), Guess(0.6, 20.0)
MEAN = Metric("neg_mean_absolute_error", range=(-1.0, 0.0))


def right(says, laws):
    """Return the shares of both classes that are labelled 0 and 1: half of all rows are of each."""
    yes = np.asarray(says) > 0.5
    return 1.0 - laws[:, :2] @ yes[:2], laws[:, 2:] @ yes[2:]


def accuracy(says, laws):
    return sum(right(says, laws)) / 2.0


def f1(says, laws):
    specificity, recall = right(says, laws)
    return 2.0 * recall / (2.0 + recall - specificity)


def jaccard(says, laws):
    return accuracy(says, laws) / (2.0 - accuracy(says, laws))


def area(says, laws):
    says = np.asarray(says, dtype=float)
    return np.einsum("ka,kb,ba->k", laws[:, :2], laws[:, 2:], np.sign(says[2:, None] - says[:2]) / 2.0 + 0.5)


def brier(says, laws):
    return -laws @ (says - np.array([0, 0, 1, 1])) ** 2 / 2.0


def asked(scoring, of, says, guesses, **numbers):
    """Return the questions about some models."""
    return [
        Question((Table(each, **numbers),), scoring, guesses, lambda laws, s=each: of(s, laws))
        for each in says
    ]


QUESTIONS = {
    "accuracy": asked("accuracy", accuracy, OF_LABELS, HIGH),
    "F1": asked("f1", f1, OF_LABELS, (Guess(0.97, 200.0, share=0.5), Guess(0.3, 20.0, share=0.5))),
    "Jaccard": asked("jaccard_micro", jaccard, OF_LABELS, HIGH),
    "AUC": asked("roc_auc", area, OF_SCORES, HIGH),
    "Brier": asked("neg_brier_score", brier, OF_CHANCES, (Guess(-0.02, 200.0), Guess(-0.4, 20.0))),
    "MAE": asked(
        MEAN, lambda says, laws: -laws @ says, OF_NUMBERS,
        (Guess(-0.1, 200.0, deviation=0.2), Guess(-0.5, 20.0, deviation=0.5)), of_numbers=True,
    ),
    "difference": [
        Question(
            (Table(a), Table(b)), "accuracy", (Guess(0.6, 200.0), Guess(0.0, 20.0)),
            lambda laws, a=a, b=b: accuracy(b, laws) - accuracy(a, laws),
        )
        for a, b in PAIRS
    ],
}  # fmt: skip
QUESTIONS["mixed"] = [QUESTIONS[name][k] for k, name in enumerate(("AUC", "accuracy", "Brier"))]


def holdouts(name, rows, beta, **wrong):
    """Return all holdouts of so many rows, half of each class; a row of numbers has one of three values."""
    p, q = (each.ravel() for each in np.meshgrid(GRID, GRID))
    y, values = (0,) * (rows // 2) + (1,) * (rows // 2), {0: (0, 1), 1: (2, 3)}
    laws = np.column_stack((1.0 - p, p, 1.0 - q, q))
    if name == "MAE":
        y, values = (0.0,) * rows, {0.0: (0, 1, 2)}
        laws = np.column_stack((p, q, 1.0 - p - q))[p + q <= 1.0]
    return SmallHoldouts(y, values, tuple(QUESTIONS[name]), beta, laws, **wrong)


CASES = [  # questions, rows, steps, and at least how much of what is allowed is missed
    ("accuracy", 6, 2, 0.6, ()),
    ("mixed", 4, 2, 0.6, ()),
    *(
        (name, 6, 2, least, pytest.mark.thorough)
        for name, least in (("mixed", 0.6), ("F1", 0.3), ("Jaccard", 0.0), ("Brier", 0.3), ("MAE", 0.0))
    ),
    *((name, 6, 3, 0.0, pytest.mark.slow) for name in QUESTIONS),
]


@pytest.mark.parametrize("beta", [0.36, 0.05])
@pytest.mark.parametrize(
    ("name", "rows", "steps", "least"), [pytest.param(*case, marks=marks) for *case, marks in CASES]
)
def test_no_analyst_is_missed_more_often_than_promised(name, rows, steps, least, beta, record_property):
    worst = float(holdouts(name, rows, beta).worst(steps).max())
    record_property("worst", worst)
    assert least * beta < worst <= beta


def of_own_cell():
    """Let a count tilt its interval towards the cell that it lies in, at the level of before."""
    fixed_interval = LossCount.fixed_interval

    def mutant(self, low, high, ln_delta):
        return fixed_interval(replace(self, expected_count=(low + high) / 2.0), low, high, ln_delta)

    return patch.object(LossCount, "fixed_interval", mutant)


def without_prices():
    """Let a level forget what was released before."""
    ln_delta = description_length.ln_delta
    return patch("sklearn_ada.holdout.state.ln_delta", lambda ln, weight, nats: ln_delta(ln, weight, 0.0))


@pytest.mark.parametrize("mutant", [of_own_cell, without_prices])
def test_a_mutant_is_missed_more_often(mutant):
    with mutant():
        assert holdouts("accuracy", 6, 0.36).worst(2).max() > 0.36


def test_intervals_of_half_the_width_are_missed():
    half = holdouts("mixed", 4, 0.36, wrong=lambda ends, value: tuple((end + value) / 2.0 for end in ends))
    assert half.worst(1).max() > 0.36
