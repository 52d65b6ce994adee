"""The model that is kept, and searches whose winners are compared with it."""

import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, Predictions, ReusableHoldoutCV
from tests.support.ledgers import bodies, kinds
from tests.support.searches import grid

X, Y = make_classification(2400, 6, n_informative=4, flip_y=0.1, random_state=3)
LOGISTIC = LogisticRegression()
ROOT = Path(__file__).parents[3]


@pytest.fixture
def searched(tmp_path):
    def fit(inner, **how):
        how = {"ledger": tmp_path / "ledger.db", "compare_with": "kept", **how}
        return ReusableHoldoutCV(inner, **how).fit(X, Y)

    return fit


def test_winners_are_compared_with_the_one_that_is_kept(searched, capsys):
    first = searched(grid(LOGISTIC))
    assert not hasattr(first, "comparison_")  # nothing was kept
    first.keep()
    first.keep()  # it is already
    second = searched(grid())
    answer, (low, high) = second.comparison_, second.comparison_.interval
    assert answer.cost.nats < 0.1
    right = [each.predict(X) == Y for each in (first, second)]
    held = np.setdiff1d(np.arange(len(Y)), second.train_indices_)
    assert low <= right[1][held].mean() - right[0][held].mean() <= high
    line = repr(second).splitlines()[-1]
    assert re.match(r"(better|worse) than the kept one by [+\d]", line)
    shown_low, shown_high = map(float, line.rsplit("in [", 1)[1].rstrip("]").split(", "))
    assert (shown_low, shown_high) == pytest.approx((low, high), abs=0.1 * (high - low))
    assert shown_low <= low <= high <= shown_high
    assert "than the kept one by" in second._repr_html_()
    second.keep()
    third = searched(grid())  # the same winner
    assert "as good as the kept one: both models are one, so nothing was asked" in repr(third)
    assert kinds(third.holdout_).count("keep") == 2
    from sklearn_ada.cli import main

    assert main(["ledger", "verify", str(second.ledger)]) == main(["ledger", "show", str(second.ledger)]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"kept: LogisticRegression, asked about in record \d", shown)
    assert "kept: DecisionTreeClassifier, asked about in record" in shown


KEEP = """
import pickle, sys
from tests.public.model_selection.test_kept_model import LOGISTIC, X, Y, ReusableHoldoutCV, grid
search = ReusableHoldoutCV(grid(LOGISTIC), ledger=sys.argv[1], compare_with="kept").fit(X, Y)
search.keep()
pickle.dump(search.best_estimator_, open(sys.argv[2], "wb"))
"""


@pytest.mark.thorough
def test_a_process_that_did_not_keep_the_model_passes_it(searched, tmp_path):
    ledger, kept = tmp_path / "ledger.db", tmp_path / "kept.pkl"
    subprocess.run([sys.executable, "-c", KEEP, ledger, kept], check=True, cwd=ROOT)
    with pytest.raises(ValueError, match=r"must be the model itself\. .* compare_with=model"):
        searched(grid())
    second = searched(grid(), compare_with=pickle.loads(kept.read_bytes()))
    assert "than the kept one by" in repr(second)
    assert second.comparison_.cost.nats < 0.1
    other = searched(grid(), compare_with=DecisionTreeClassifier(max_depth=1).fit(X, Y))
    assert "the model given" in repr(other)
    assert kinds(other.holdout_).count("keep") == 1


def test_what_is_kept_is_in_no_other_ledger_and_outlasts_pickles_and_checkpoints(
    searched, tmp_path, monkeypatch
):
    first = searched(grid(LOGISTIC))
    first.keep()
    elsewhere = searched(grid(), ledger=tmp_path / "other.db", random_state=1)
    assert not hasattr(elsewhere, "comparison_")
    second = searched(grid())
    again = pickle.loads(pickle.dumps(second))
    assert again.comparison_ == second.comparison_
    assert "the kept one" in repr(again)
    kept = [body["kept"] for body in bodies(first.holdout_) if body.get("kind") == "keep"]
    ledger = first.holdout_.ledger
    assert ledger.read(lambda state: state.to_dict()["kept"]) == [1, *kept]


def test_predictions_and_models_without_an_answer_are_kept_by_a_holdout():
    y = np.arange(60) % 2
    holdout = Holdout(np.empty((60, 0)), y, class_mix="priced", answers="coarse", ledger=":memory:")
    predictions = Predictions(y)
    with pytest.raises(ValueError, match="a metric by which the model was certified"):
        holdout.keep(predictions, scoring="accuracy")
    before = holdout.report().nats
    holdout.keep(predictions)
    asked = holdout.certify(predictions, scoring="accuracy", guess=0.9)
    holdout.keep(Predictions(1 - y))
    holdout.keep(predictions, scoring="accuracy")
    kept = [body for body in bodies(holdout) if body.get("kind") == "keep"]
    assert [body.get("of") for body in kept] == [None, None, asked.index]
    assert holdout.report().nats == before + asked.cost.nats
    assert not {"0", "1"} & {str(value) for value in kept[0].values() if not isinstance(value, str)}


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"compare_with": "last"}, ValueError, "'kept', a fitted estimator or None"),
        ({"compare_with": 3}, ValueError, "'kept', a fitted estimator or None"),
        ({"compare_with": LogisticRegression()}, NotFittedError, "not fitted"),
        ({"compare_with": LogisticRegression().fit(X[:, 1:], Y)}, ValueError, "fitted on 6 columns"),
        ({"compare_with": LogisticRegression().fit(X, Y + 1)}, ValueError, "all classes of the holdout"),
        ({"search": grid(refit=False)}, ValueError, "None with refit=False"),
        ({"scoring": "f1"}, ValueError, "None for f1 here"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_the_search(how, error, message, tmp_path):
    class Never(DecisionTreeClassifier):
        def fit(self, *args, **params):
            raise AssertionError("it was fitted")

    search = how.pop("search", grid(Never()))
    with pytest.raises(error, match=message):
        ReusableHoldoutCV(search, ledger=tmp_path / "ledger.db", **{"compare_with": "kept", **how}).fit(X, Y)


def test_keep_needs_a_best_model_and_the_rows(searched):
    with pytest.raises(NotFittedError):
        ReusableHoldoutCV(grid()).keep()
    with pytest.raises(ValueError, match="one that keeps a model"):
        searched(grid(refit=False), compare_with=None).keep()
    search = searched(grid())
    with pytest.raises(ValueError, match="Open the holdout on its ledger"):
        pickle.loads(pickle.dumps(search)).keep()


def test_a_copy_keeps_a_frozen_model(searched):
    model = FrozenEstimator(LogisticRegression().fit(X, Y))
    copied = clone(ReusableHoldoutCV(grid(), compare_with=model))
    assert copied.compare_with.predict(X[:2]).tolist() == model.predict(X[:2]).tolist()
    assert "the model given" in repr(searched(grid(), compare_with=model))
