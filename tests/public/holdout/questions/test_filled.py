"""Cells that fill the tolerance: as wide as it allows by now, and never wider."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada import Guess, Holdout, ReusableHoldoutCV, ThresholdoutScorer
from sklearn_ada.exceptions import BudgetExhaustedError
from sklearn_ada.guarantees import clopper_pearson, hoeffding_half_width
from tests.support.ledgers import bodies

N, TOLERANCE = 2000, 0.1
X, Y = load_breast_cancer(return_X_y=True)
SHALLOW, DEEP = (DecisionTreeClassifier(max_depth=d, random_state=0).fit(X[:200], Y[:200]) for d in (1, None))


def answers_until_one_is_refused(settings, most=2000, **kwargs):
    holdout = SimulatedHoldout.of_counts(N, tolerance=TOLERANCE, check_share=0.999, **kwargs)
    rng, answers = np.random.default_rng(0), []
    while len(answers) < most:
        guess = Guess(rng.binomial(N, 0.5) / N, float(N))
        answer = holdout.ask_count(rng.binomial(N, 0.5), "check", guess, settings=settings)
        if answer.verdict == "refused":
            break
        answers.append(answer)
    return answers


@pytest.fixture
def opened(tmp_path):
    paths = (tmp_path / f"{number}.db" for number in range(9))
    return lambda **policy: Holdout(X[200:], Y[200:], random_state=0, ledger=next(paths), **policy)


def test_no_answer_is_wider_than_the_tolerance_hardly_one_narrower_and_there_are_more_than_of_fixed_cells():
    filled = answers_until_one_is_refused("fill")
    widths = [answer.half_width for answer in filled]
    assert 0.9 * TOLERANCE < min(widths) < max(widths) <= TOLERANCE  # the bound is a little too wide
    assert len(filled) > 100
    assert len(filled) > len(answers_until_one_is_refused(None, expected_questions=len(filled)))


def test_intervals_are_those_of_the_edges_of_the_cell_that_was_released():
    """The value is within half a cell of what was released, and the cell is what the width leaves over."""
    (answer,) = answers_until_one_is_refused("fill", most=1)
    ln_delta = answer.certificate.ln_delta
    half = TOLERANCE - hoeffding_half_width(N, ln_delta, 1.0)
    low, high = np.ceil((answer.value - half) * N), np.floor((answer.value + half) * N)
    assert answer.interval == pytest.approx(clopper_pearson(int(low), int(high), N, ln_delta), abs=1.5 / N)


def test_asked_again_it_is_the_same_question_though_its_cells_would_be_narrower(opened):
    holdout, how = opened(tolerance=0.25), {"scoring": "accuracy", "settings": "fill"}
    first = holdout.check(SHALLOW, guess=0.9, **how)
    holdout.check(DEEP, guess=0.1, **how)  # a surprise
    again = holdout.check(SHALLOW, guess=0.9, **how)
    assert (again.repeated, again.interval) == (True, first.interval)


class Breaks:
    classes_ = np.array([0, 1])

    def predict(self, X):
        raise ValueError("no")


def test_a_failure_is_an_answer_with_a_price_and_ratios_are_filled_too(opened):
    holdout = opened(tolerance=0.45)
    assert holdout.check(Breaks(), scoring="accuracy", guess=0.9, settings="fill").verdict == "failed"
    assert holdout.report().nats > 1.0
    guess_from = X[:200:2], Y[:200:2]
    answer = opened(tolerance=0.45).check(DEEP, scoring="f1", guess_from=guess_from, settings="fill")
    assert answer.half_width <= 0.45
    assert answer.interval[0] < answer.value <= answer.interval[1]


def test_without_a_tolerance_there_is_nothing_to_fill(opened):
    holdout, asked = opened(), {"scoring": "accuracy", "guess": 0.9}
    with pytest.raises(ValueError, match="tolerance="):
        holdout.check(DEEP, settings="fill", **asked)
    with pytest.raises(ValueError, match=r"'threshold' parameter of ThresholdoutScorer"):
        ThresholdoutScorer("accuracy", holdout, threshold="fill")
    with pytest.raises(ValueError, match="'settings' parameter"):
        holdout.check(DEEP, settings="full", **asked)
    assert holdout.report().nats == 0.0


def test_the_scorer_asks_with_such_cells(opened):
    holdout = opened(tolerance=0.2)
    ThresholdoutScorer("accuracy", holdout, threshold="fill")(SHALLOW, X[100:200], Y[100:200])
    (body,) = [body for body in bodies(holdout) if body.get("purpose") == "check"]
    assert body["mechanism"]["half_cell"] == "fill"


def test_a_search_asks_about_its_candidates_with_such_cells():
    """Its round is admitted by what is left of the tolerance, not by the cells it would have otherwise."""
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]})
    wrapped = {}
    for threshold in ("fill", "auto"):
        holdout = SimulatedHoldout(X[350:], Y[350:], tolerance=0.17, check_share=0.5)
        scorer = ThresholdoutScorer("accuracy", holdout, threshold=threshold)
        wrapped[threshold] = ReusableHoldoutCV(search, mechanism=scorer, ask="candidates", holdout=holdout)
    assert len(wrapped["fill"].fit(X[:350], Y[:350]).answers_) == 4  # and the certified winner
    with pytest.raises(BudgetExhaustedError):
        wrapped["auto"].fit(X[:350], Y[:350])
