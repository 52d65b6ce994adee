"""All of scikit-learn's classifiers and regressors: a model that was asked about stays one question."""

import pytest

from tests.support.consumers import one_question as asking

SOME = [
    "LogisticRegression", "RandomForestClassifier", "KNeighborsClassifier", "StackingClassifier",
    "RadiusNeighborsRegressor", "MultiOutputRegressor",
]  # fmt: skip
OF_SKLEARN, OF_LIBRARIES = asking.of_sklearn(), asking.of_other_libraries()
MODELS = {**OF_SKLEARN, **OF_LIBRARIES}
thorough = pytest.mark.thorough


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in SOME or n in OF_LIBRARIES else thorough) for n in MODELS]
)
def test_a_model_stays_one_question_whatever_happens_to_it_and_is_nearly_free_after_the_first_time(
    name, tmp_path
):
    model, ledger = MODELS[name], tmp_path / f"{name}.db"
    first, before = asking.answer_of(asking.fitted(model), ledger)
    assert not first.repeated
    assert first.verdict == "exact"
    answers = {change: asking.answer_of(after, ledger) for change, after in asking.variants(model)}
    assert [change for change, (answer, _) in answers.items() if not answer.repeated] == []
    assert {answer.value for answer, _ in answers.values()} == {first.value}
    assert max(nats for _, nats in answers.values()) < before + 0.02


installed = pytest.mark.skipif(
    not OF_LIBRARIES, reason="XGBoost, LightGBM, CatBoost and imbalanced-learn are not installed"
)
GROUPS = [
    pytest.param(SOME, id="some", marks=thorough),
    pytest.param(list(OF_SKLEARN), id="all", marks=thorough),
    pytest.param(sorted(OF_LIBRARIES), id="other libraries", marks=installed),
]


@pytest.mark.parametrize("names", GROUPS)
def test_another_interpreter_asks_the_same_questions(names, tmp_path):
    for name in names:
        asking.answer_of(asking.fitted(MODELS[name]), tmp_path / f"{name}.db")
    elsewhere = asking.asked_elsewhere(tmp_path, names)
    assert [name for name in names if not elsewhere[name]] == []
