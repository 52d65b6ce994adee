"""All of scikit-learn's classifiers and regressors: a model that was asked about stays one question."""

import pytest

from tests.support.consumers.one_question import (
    answer_of,
    asked_elsewhere,
    fitted,
    of_other_libraries,
    of_sklearn,
    variants,
)

SOME = [
    "LogisticRegression", "RandomForestClassifier", "KNeighborsClassifier", "StackingClassifier",
    "RadiusNeighborsRegressor", "MultiOutputRegressor",
]  # fmt: skip
MODELS = {**of_sklearn(), **of_other_libraries()}
OF_LIBRARIES = set(of_other_libraries())


NAMES = [
    pytest.param(name, marks=() if name in SOME or name in OF_LIBRARIES else pytest.mark.thorough)
    for name in MODELS
]


@pytest.mark.parametrize("name", NAMES)
def test_a_model_stays_one_question_whatever_happens_to_it_and_is_nearly_free_after_the_first_time(
    name, tmp_path
):
    ledger = tmp_path / f"{name}.db"
    first, before = answer_of(fitted(MODELS[name]), ledger)
    assert not first.repeated
    assert first.verdict == "exact"
    answers = {change: answer_of(model, ledger) for change, model in variants(MODELS[name])}
    assert [change for change, (answer, _) in answers.items() if not answer.repeated] == []
    assert {answer.value for answer, _ in answers.values()} == {first.value}
    assert max(nats for _, nats in answers.values()) < before + 0.02


thorough = pytest.mark.thorough
installed = pytest.mark.skipif(
    not OF_LIBRARIES, reason="XGBoost, LightGBM, CatBoost and imbalanced-learn are not installed"
)
GROUPS = [
    pytest.param(SOME, id="some", marks=thorough),
    pytest.param([name for name in MODELS if name not in OF_LIBRARIES], id="all", marks=thorough),
    pytest.param(sorted(OF_LIBRARIES), id="other libraries", marks=installed),
]


@pytest.mark.parametrize("names", GROUPS)
def test_another_interpreter_asks_the_same_questions(names, tmp_path):
    for name in names:
        answer_of(fitted(MODELS[name]), tmp_path / f"{name}.db")
    known = asked_elsewhere(tmp_path, names)
    assert [name for name in names if not known[name]] == []
