"""All of scikit-learn's classifiers and regressors: a model that was asked about stays one question."""

import pytest

from tests.consumers.one_question import (
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


def marked(name):
    if name in SOME:
        return pytest.param(name)
    return pytest.param(name, marks=pytest.mark.thorough)


def check_one_question(name, folder):
    """Raise unless a model is one question, whatever happened to it, and nearly free after the first time."""
    ledger = folder / f"{name}.db"
    first, before = answer_of(fitted(MODELS[name]), ledger)
    assert not first.repeated
    assert first.verdict == "exact"
    answers = {change: answer_of(model, ledger) for change, model in variants(MODELS[name])}
    assert [change for change, (answer, _) in answers.items() if not answer.repeated] == []
    assert {answer.value for answer, _ in answers.values()} == {first.value}
    assert max(nats for _, nats in answers.values()) < before + 0.02


@pytest.mark.parametrize("name", [marked(name) for name in MODELS if name not in OF_LIBRARIES])
def test_a_model_of_sklearn_stays_one_question(name, tmp_path):
    check_one_question(name, tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("names", [SOME, None], ids=["some", "all"])
def test_another_interpreter_asks_the_same_questions_of_sklearn(names, tmp_path):
    names = names or [name for name in MODELS if name not in OF_LIBRARIES]
    for name in names:
        answer_of(fitted(MODELS[name]), tmp_path / f"{name}.db")
    known = asked_elsewhere(tmp_path, names)
    assert [name for name in names if not known[name]] == []


@pytest.mark.parametrize("name", sorted(OF_LIBRARIES))
def test_a_model_of_another_library_stays_one_question(name, tmp_path):
    check_one_question(name, tmp_path)


@pytest.mark.skipif(
    not OF_LIBRARIES, reason="XGBoost, LightGBM, CatBoost and imbalanced-learn are not installed"
)
def test_another_interpreter_asks_the_same_questions_of_other_libraries(tmp_path):
    for name in OF_LIBRARIES:
        answer_of(fitted(MODELS[name]), tmp_path / f"{name}.db")
    known = asked_elsewhere(tmp_path, sorted(OF_LIBRARIES))
    assert [name for name in OF_LIBRARIES if not known[name]] == []
