"""What messages say: what is the matter, what to do, and never what would void a certificate."""

import re

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, Metric, ReusableHoldoutCV, ThresholdoutScorer
from sklearn_ada.exceptions import BudgetExhaustedError
from tests.support.processes import ROOT
from tests.support.searches import asking, grid, warned

X, Y = make_classification(600, 5, random_state=0)
SOURCES = sorted((ROOT / "sklearn_ada").rglob("*.py"))


class FailsOn(DecisionTreeClassifier):
    """A model that fails on so many rows, the holdout's, if its depth is at least this."""

    def predict(self, X):
        if len(X) == 200 and self.max_depth > 1:
            raise ValueError("a value that nobody may see")
        return super().predict(X)


def opened(folder, labels=Y, **how):
    return Holdout(X[:200], labels[:200], ledger=folder / "a.db", **how)


def stump(labels=Y):
    return DecisionTreeClassifier(max_depth=1).fit(X[200:], labels[200:])


def searched(model, holdout, depths):
    search = asking(ThresholdoutScorer("accuracy", holdout), depths, error_score=np.nan)
    return warned("", search.set_params(estimator=model).fit, X[200:], Y[200:])


def test_failures_are_not_called_exhaustion_and_refusals_are(tmp_path):
    with pytest.raises(ValueError, match=r"^Only 1 of 3 .+ failed \(prediction raised ValueError\)\."):
        searched(FailsOn(), opened(tmp_path), [1, 2, 3])
    tight = Holdout(X[:200], Y[:200], ledger=tmp_path / "b.db", tolerance=0.02)
    with pytest.raises(BudgetExhaustedError, match=r"^Only 0 of 2 .+ refused .+ add fresh rows"):
        searched(DecisionTreeClassifier(), tight, [1, 2])


def test_a_refusal_is_an_answer_from_a_holdout_and_an_exception_from_a_search(tmp_path):
    holdout, model = opened(tmp_path, tolerance=0.02), stump()
    asked = [holdout.check(model, scoring="accuracy", guess=0.8), holdout.certify(model, scoring="accuracy")]
    assert [answer.verdict for answer in asked] == ["refused", "refused"]
    assert all("add fresh rows (top_up; plan_holdout says how many)" in answer.reason for answer in asked)
    assert ["certify the model that is kept" in answer.reason for answer in asked] == [True, False]
    wrapped = ReusableHoldoutCV(grid(cv=3), tolerance=0.02, ledger=tmp_path / "b.db")
    with pytest.raises(BudgetExhaustedError, match=r"Nothing was asked\. .*To go on, add fresh rows"):
        wrapped.fit(X, Y)


def test_a_reason_stands_once_in_a_report(tmp_path):
    holdout, model = opened(tmp_path, tolerance=0.02), stump()
    for guess in (0.7, 0.8, 0.9):
        reason = holdout.check(model, scoring="accuracy", guess=guess).reason
    text = repr(holdout.report())
    assert text.count(reason) == 1
    assert text.count("refused, for the same reason") == 2


def test_rows_in_place_of_a_holdout_are_refused_with_the_way_to_make_one():
    for given in ((X[:200], Y[:200]), X[:200]):
        with pytest.raises(ValueError, match=r"^The 'holdout' .+=Holdout\(X_hold, y_hold\)\.$"):
            ReusableHoldoutCV(grid(cv=3), holdout=given).fit(X[200:], Y[200:])


def test_of_two_classes_the_one_that_scikit_learn_takes_as_positive_is_suggested(tmp_path):
    labels = np.where(Y == 1, "yes", "no")
    with pytest.raises(ValueError, match=r"Metric\('f1', pos_label='yes'\)\.$"):
        opened(tmp_path, labels).certify(stump(labels), scoring="f1", guess=0.8)


def test_a_winner_that_failed_is_called_uncertified(tmp_path):
    wrapped = ReusableHoldoutCV(grid(FailsOn(), [2], cv=3), holdout=opened(tmp_path))
    with pytest.warns(UserWarning, match=r"nothing is certified of it\. The failure was"):
        wrapped.fit(X[200:], Y[200:])


def test_a_name_that_is_nearly_one_gets_a_suggestion():
    with pytest.raises(ValueError, match=r"Did you mean 'accuracy'"):
        Metric("acuracy")
    with pytest.raises(ValueError, match=r"Got 'qqqq' instead\.$"):
        Metric("qqqq")


ADVICE = re.compile(
    r"\b(use|take|try) [^.;]{0,40}(another|a second|a new|a fresh|a different) ledger\b"
    r"|delete the ledger|larger holdout or tolerance",
    re.IGNORECASE,
)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_text_advises_a_second_ledger(path):
    text = re.sub(r'"\s*\n\s*f?"', "", path.read_text())  # sentences over several lines
    assert ADVICE.search(text) is None


def test_advice_to_take_another_ledger_or_tolerance_is_found():
    assert ADVICE.search("Use ledger=None, or another ledger.")
    assert ADVICE.search("take a larger holdout or tolerance")
