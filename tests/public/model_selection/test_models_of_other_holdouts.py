"""A model that a search has fitted is not asked about on a holdout whose rows it was trained on."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

from sklearn_ada import Holdout, ReusableHoldoutCV, ThresholdoutScorer
from sklearn_ada.exceptions import HoldoutLeakError

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(600, 3)), RNG.integers(0, 2, 600)  # the labels are coins
ORDER = np.argsort(X[:, 0])
RELABELLED = np.r_[1 - Y[:1], Y[1:]]


def fitted(X, y, **parameters):
    search = GridSearchCV(KNeighborsClassifier(1), {"p": [2]}, cv=2)
    return ReusableHoldoutCV(search, **parameters).fit(X, y)


OTHERS = {
    "sorted": lambda path, search: fitted(X[ORDER], Y[ORDER]).holdout_,
    "rows dropped": lambda path, search: fitted(X[:-9], Y[:-9]).holdout_,
    "a label corrected": lambda path, search: fitted(X, RELABELLED).holdout_,
    "another share": lambda path, search: fitted(X, Y, holdout=0.4, ledger=path).holdout_,
    "made by hand": lambda path, search: Holdout(X[:200], Y[:200], ledger=path),
}
WAYS = {
    "certify": lambda holdout, model: holdout.certify(model, scoring="accuracy", guess=0.5),
    "publish": lambda holdout, model: holdout.publish(model, scoring="accuracy", guess=0.5),
    "check_many": lambda holdout, model: holdout.check_many([model], scoring="accuracy", guesses=[0.5]),
    "select": lambda holdout, model: holdout.select([model], scoring="accuracy"),
    "declare": lambda holdout, model: holdout.declare([model], scoring="accuracy"),
    "compare": lambda holdout, model: holdout.compare(
        KNeighborsClassifier(3).fit(X[:9], Y[:9]), model, scoring="accuracy"
    ),
    "frozen": lambda holdout, model: holdout.certify(FrozenEstimator(model), scoring="accuracy", guess=0.5),
    "calibrated": lambda holdout, model: holdout.check(
        CalibratedClassifierCV(FrozenEstimator(model)).fit(X[300:], Y[300:]), scoring="accuracy", guess=0.5
    ),
    "a scorer": lambda holdout, model: float(ThresholdoutScorer("accuracy", holdout)(model, X + 9.0, Y)),
}


@pytest.mark.filterwarnings("ignore:These rows, or nearly all of them")  # which a path is another budget for
@pytest.mark.parametrize(
    ("other", "way"), [*((other, "certify") for other in OTHERS), *(("made by hand", way) for way in WAYS)]
)
def test_a_model_of_another_holdout_is_refused_once_for_its_price(other, way, tmp_path):
    search = fitted(X, Y)
    holdout = OTHERS[other](tmp_path / "other.db", search)
    before = holdout.report().nats
    for _ in range(2):
        with pytest.raises(HoldoutLeakError, match="trained on no row of the holdout"):
            WAYS[way](holdout, search.best_estimator_)
    assert holdout.report().nats - before == pytest.approx(13.8, abs=0.1)


def test_a_winner_is_asked_about_again_beside_its_own_holdout_and_on_new_rows(tmp_path):
    search = fitted(X, Y, ledger=tmp_path / "own.db")
    records, own = len(search.holdout_.report().entries), search.holdout_
    assert own.certify(search.best_estimator_, scoring="accuracy", guess=0.5).verdict != "refused"
    assert len(own.report().entries) <= records + 1  # nothing is compared once more
    new = RNG.normal(size=(300, 3)), RNG.integers(0, 2, 300)
    answer = own.top_up(*new).certify(search.best_estimator_, scoring="accuracy", guess=0.5)
    assert answer.interval[0] < 0.5 < answer.interval[1]


def test_equal_models_of_two_orders_are_each_asked_about(tmp_path):
    search = GridSearchCV(DummyClassifier(strategy="constant", constant=1), {}, cv=2)
    answers = [
        ReusableHoldoutCV(search, ledger=tmp_path / name).fit(*rows).best_answer_
        for name, rows in (("a.db", (X, Y)), ("b.db", (X[ORDER], Y[ORDER])))
    ]
    assert [answer.verdict for answer in answers] == ["agrees", "agrees"]


def by_a_scorer(holdout, rows):
    scorer = ThresholdoutScorer("accuracy", holdout)
    search = GridSearchCV(
        KNeighborsClassifier(1), {"p": [1, 2]}, scoring=scorer, cv=scorer.cv, refit=scorer.select_best
    )
    search.fit(X[rows], Y[rows])


@pytest.mark.parametrize(
    "train", [by_a_scorer, lambda holdout, rows: fitted(X[rows], Y[rows], holdout=holdout)]
)
@pytest.mark.parametrize("added", [slice(200, 600), slice(580, 200, -3), slice(599, 600)])
def test_training_rows_are_not_added_to_a_holdout(train, added, tmp_path):
    holdout = Holdout(X[:200], Y[:200], ledger=tmp_path / "ledger.db")
    train(holdout, slice(200, 500))
    train(holdout, slice(300, 600))
    before = holdout.report().to_dict()
    with pytest.raises(HoldoutLeakError, match=r"nothing was trained on.*nothing was recorded or charged"):
        holdout.top_up(X[added], Y[added])
    assert holdout.report().to_dict() == before
    new = RNG.normal(size=(100, 3)), RNG.integers(0, 2, 100)
    assert holdout.top_up(*new).n_rows == holdout.top_up(*new).n_rows == 300


def test_rows_that_are_equal_by_chance_are_added(tmp_path):
    dice, labels = RNG.integers(1, 7, size=(600, 2)), RNG.integers(0, 2, 600)
    holdout = Holdout(dice[:200], labels[:200], ledger=tmp_path / "ledger.db")
    fitted(dice[200:400], labels[200:400], holdout=holdout)
    assert holdout.top_up(dice[400:], labels[400:]).n_rows == 400
