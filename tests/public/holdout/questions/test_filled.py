"""Cells that fill the tolerance: as wide as it allows by now, and never wider."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada import Guess, Holdout, ReusableHoldoutCV, ThresholdoutScorer
from sklearn_ada.exceptions import BudgetExhaustedError

N, TOLERANCE = 2000, 0.1


def _asked(settings, seed=0, most=2000, **kwargs):
    holdout = SimulatedHoldout.of_counts(N, tolerance=TOLERANCE, check_share=0.999, **kwargs)
    rng = np.random.default_rng(seed)
    answers = []
    while len(answers) < most:
        guess = Guess(rng.binomial(N, 0.5) / N, float(N))
        answer = holdout.ask_count(rng.binomial(N, 0.5), "check", guess, settings=settings)
        if answer.verdict == "refused":
            break
        answers.append(answer)
    return answers


def test_no_answer_is_wider_than_the_tolerance_and_hardly_one_is_narrower():
    widths = np.array([answer.half_width for answer in _asked("fill")])
    assert widths.max() <= TOLERANCE
    assert widths.min() > 0.9 * TOLERANCE  # the binomial interval is a little narrower than its bound


def test_it_answers_more_questions_than_cells_fixed_for_as_many():
    filled = len(_asked("fill"))
    assert filled > 100
    assert filled > len(_asked(None, expected_questions=filled))


def test_intervals_are_those_of_the_edges_of_the_cell_that_was_told():
    """The value is within half a cell of what was told, and the cell is what the width leaves over."""
    from sklearn_ada.guarantees import clopper_pearson, hoeffding_half_width

    (answer,) = _asked("fill", most=1)
    ln_delta = answer.certificate.ln_delta
    half = TOLERANCE - hoeffding_half_width(N, ln_delta, 1.0)
    low, high = np.ceil((answer.value - half) * N), np.floor((answer.value + half) * N)
    assert answer.interval == pytest.approx(clopper_pearson(int(low), int(high), N, ln_delta), abs=1.5 / N)


def test_asked_again_it_is_the_same_question_though_its_cells_would_be_narrower():
    X, y = load_breast_cancer(return_X_y=True)
    trees = [
        DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X[:200], y[:200]) for depth in (1, 2)
    ]
    holdout = Holdout(X[200:], y[200:], tolerance=0.25, random_state=0)
    first = holdout.check(trees[0], scoring="accuracy", guess=0.9, settings="fill")
    holdout.check(trees[1], scoring="accuracy", guess=0.1, settings="fill")  # a surprise
    again = holdout.check(trees[0], scoring="accuracy", guess=0.9, settings="fill")
    assert (again.repeated, again.interval) == (True, first.interval)


def test_a_failure_is_an_answer_with_a_price():
    class Breaks:
        classes_ = np.array([0])

        def predict(self, X):
            raise ValueError("no")

    holdout = Holdout(np.arange(500)[:, None], np.arange(500) % 2 * 0, tolerance=0.4, random_state=0)
    assert holdout.check(Breaks(), scoring="accuracy", guess=0.9, settings="fill").verdict == "failed"
    assert holdout.report().nats > 1.0


def test_ratios_are_filled_too():
    X, y = load_breast_cancer(return_X_y=True)
    tree = DecisionTreeClassifier(random_state=0).fit(X[:200], y[:200])
    holdout = Holdout(X[200:], y[200:], tolerance=0.45, random_state=0)
    answer = holdout.check(tree, scoring="f1", guess_from=(X[:200:2], y[:200:2]), settings="fill")
    assert answer.half_width <= 0.45
    assert answer.interval[0] < answer.value <= answer.interval[1]


def test_without_a_tolerance_there_is_nothing_to_fill():
    X, y = load_breast_cancer(return_X_y=True)
    tree = DecisionTreeClassifier(random_state=0).fit(X[:200], y[:200])
    holdout = Holdout(X[200:], y[200:], random_state=0)
    with pytest.raises(ValueError, match="tolerance="):
        holdout.check(tree, scoring="accuracy", guess=0.9, settings="fill")
    with pytest.raises(ValueError, match=r"'threshold' parameter of ThresholdoutScorer"):
        ThresholdoutScorer("accuracy", holdout, threshold="fill")
    with pytest.raises(ValueError, match="'settings' parameter"):
        holdout.check(tree, scoring="accuracy", guess=0.9, settings="full")
    assert holdout.report().nats == 0.0


def test_the_scorer_asks_with_such_cells():
    X, y = load_breast_cancer(return_X_y=True)
    tree = DecisionTreeClassifier(random_state=0).fit(X[:100], y[:100])
    holdout = Holdout(X[200:], y[200:], tolerance=0.2, random_state=0)
    ThresholdoutScorer("accuracy", holdout, threshold="fill")(tree, X[100:200], y[100:200])
    (entry,) = [record for record in holdout.ledger.records() if record.body.get("purpose") == "check"]
    assert entry.body["mechanism"]["half_cell"] == "fill"


def test_a_search_asks_about_its_candidates_with_such_cells():
    """Its round is admitted by what is left of the tolerance, not by the cells it would have otherwise."""
    X, y = load_breast_cancer(return_X_y=True)
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]})
    for threshold, is_admitted in (("fill", True), ("auto", False)):
        holdout = SimulatedHoldout(X[350:], y[350:], tolerance=0.17, check_share=0.5)
        scorer = ThresholdoutScorer("accuracy", holdout, threshold=threshold)
        wrapped = ReusableHoldoutCV(search, mechanism=scorer, ask="candidates", holdout=holdout)
        if is_admitted:
            assert len(wrapped.fit(X[:350], y[:350]).answers_) == 4  # and the certified winner
        else:
            with pytest.raises(BudgetExhaustedError):
                wrapped.fit(X[:350], y[:350])
