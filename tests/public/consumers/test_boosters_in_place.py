"""A model that another library keeps behind a handle is another one when it is edited in place."""

import numpy as np
import pytest

from sklearn_ada import Holdout

X = np.random.default_rng(0).normal(size=(120, 3)).round(1)
Y = (X[:, 0] > 0).astype(int)


def xgboost_loaded_with_another():
    xgboost = pytest.importorskip("xgboost")
    model, other = (xgboost.XGBClassifier(n_estimators=3, n_jobs=1).fit(X, y) for y in (Y, 1 - Y))
    yield model
    model.get_booster().load_model(other.get_booster().save_raw("ubj"))
    yield model


def lightgbm_with_other_leaves():
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=3, min_child_samples=5, verbose=-1, n_jobs=1).fit(X, Y)
    yield model
    trees = model.booster_
    for tree, each in enumerate(trees.dump_model()["tree_info"]):
        for leaf in range(each["num_leaves"]):
            trees.set_leaf_output(tree, leaf, -trees.get_leaf_output(tree, leaf))
    yield model


def catboost_turned_round():
    catboost = pytest.importorskip("catboost")
    settings = {"iterations": 3, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoostClassifier(**settings).fit(X, Y)
    yield model
    scale, bias = model.get_scale_and_bias()
    model.set_scale_and_bias(-scale, -bias)
    yield model


@pytest.mark.parametrize(
    "edited", [xgboost_loaded_with_another, lightgbm_with_other_leaves, catboost_turned_round]
)
def test_a_booster_edited_in_place_is_another_model(edited, tmp_path):
    holdout = Holdout(X, Y, ledger=tmp_path / "ledger.db")
    for model in edited():
        answer = holdout.certify(model, scoring="accuracy", guess=0.5)
        assert not answer.repeated
        assert answer.value == pytest.approx(np.mean(model.predict(X) == Y), abs=1e-9)
    assert answer.value < 0.5
