"""Where the labels do not allow a metric, the error says what to write instead, and that works."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from sklearn_ada import Guess, Holdout, MedianSettings, Metric, ReusableHoldoutCV, StableHoldoutScorer
from sklearn_ada.metrics import as_metric
from tests.support.searches import grid

OF_ONE_CLASS = ["average_precision", "f1", "jaccard", "precision", "recall"]
FOR_SEVERAL = {
    "average_precision": "'roc_auc_ovr'",
    "f1": "'f1_macro'",
    "jaccard": "'jaccard_macro'",
    "neg_brier_score": "Metric('neg_log_loss', range=(-10, 0))",
    "precision": "'precision_macro'",
    "recall": "'recall_macro'",
    "roc_auc": "'roc_auc_ovr'",
}
CODE = {"Metric": Metric}
GUESS = Guess(0.8, size=20.0, deviation=0.1)


@pytest.fixture
def asked_of(tmp_path):
    """A model and a holdout whose classes are some words."""

    def build(*words):
        X, codes = make_classification(
            600, 5, n_informative=4, n_redundant=0, n_classes=len(words), random_state=0
        )
        y = np.array(words, dtype=object)[codes]
        model = LogisticRegression().fit(X[:200], y[:200])
        return model, Holdout(X[200:], y[200:], tolerance=0.5, ledger=tmp_path / "ledger.db"), X, y

    return build


def refusal(ask, *args, **options):
    with pytest.raises(ValueError, match="parameter of") as caught:
        ask(*args, **options)
    return str(caught.value)


def answer_to(holdout, model, metric, guess):
    """Certify by the stable median where a metric has no interval of its own."""
    settings = None if as_metric(metric).has_interval else MedianSettings()
    return holdout.certify(model, scoring=metric, guess=guess, settings=settings)


@pytest.mark.parametrize("kind", [None, "general"])
@pytest.mark.parametrize("name", OF_ONE_CLASS)
def test_with_words_a_positive_class_is_named_and_what_is_written_works(name, kind, asked_of, uncharged):
    model, holdout, _, _ = asked_of("churn", "stays")
    with uncharged(holdout):
        message = refusal(holdout.certify, model, scoring=Metric(name, kind=kind), guess=GUESS)
    written = f"Metric({name!r}, pos_label='churn')"
    assert message == (
        f"The 'y' parameter of Holdout must be such that {name} is defined: it needs rows of class 1. Got "
        f"['churn', 'stays'] instead. Say which class is meant, 'churn' or 'stays': scoring={written}."
    )
    assert answer_to(holdout, model, eval(written, CODE), GUESS).answered


@pytest.mark.parametrize("name", sorted(FOR_SEVERAL))
def test_with_three_classes_a_metric_of_several_is_named_and_works(name, asked_of, uncharged):
    model, holdout, _, _ = asked_of("a", "b", "c")
    first, second = (Guess(-0.1), Guess(-0.7)) if name == "neg_brier_score" else (GUESS, GUESS)
    with uncharged(holdout):
        message = refusal(holdout.certify, model, scoring=name, guess=first)
    assert f"must be such that {name} is defined: " in message
    advice = f"For several classes write scoring={FOR_SEVERAL[name]}."
    assert message.endswith(f"Got ['a', 'b', 'c'] instead. {advice}")
    assert answer_to(holdout, model, eval(FOR_SEVERAL[name], CODE), second).answered


@pytest.mark.parametrize(
    ("name", "guess"), [("f1", 0.8), ("neg_brier_score", -0.1), ("average_precision", 0.8)]
)
def test_a_label_that_is_not_there_is_told_from_those_that_are(name, guess, asked_of):
    model, holdout, _, _ = asked_of("churn", "stays")
    message = refusal(holdout.certify, model, scoring=Metric(name, pos_label="chrun"), guess=guess)
    assert message.endswith(f"scoring=Metric('{name}', pos_label='churn').")


@pytest.mark.parametrize("name", ["balanced_accuracy", "roc_auc"])
def test_a_metric_of_two_classes_is_undefined_for_one(name, asked_of):
    model, _, X, y = asked_of("churn", "stays")
    holdout = Holdout(X[y == "churn"], y[y == "churn"], ledger=":memory:")
    message = refusal(holdout.certify, model, scoring=name, guess=0.8)
    assert message.endswith("needs two classes. Got ['churn'] instead. Bring rows of another class.")


def test_numbers_and_many_classes_are_counted_not_shown(asked_of):
    model, _, X, _ = asked_of("churn", "stays")
    numbers = Holdout(X, X[:, 0], ledger=":memory:")
    assert refusal(numbers.certify, model, scoring="f1", guess=0.8).endswith("Got '600 numbers' instead.")
    many = Holdout(X, np.arange(600) % 30, tolerance=0.5, ledger=":memory:")
    for metric in ("f1", "average_precision"):
        assert "Got '30 classes' instead." in refusal(many.remaining, metric)


@pytest.mark.parametrize("name", OF_ONE_CLASS)
def test_choices_scorers_and_searches_name_a_positive_class_before_anything_is_fitted(name, asked_of):
    model, holdout, X, y = asked_of("churn", "stays")
    written = f"scoring=Metric({name!r}, pos_label='churn')."
    scored = refusal(StableHoldoutScorer(name, holdout), model, X[:200], y[:200])
    assert scored.startswith(f"The 'y' parameter of {name} must be such that {name} is defined: ")
    assert scored.endswith(written)
    if Metric(name).has_interval:
        assert refusal(holdout.select, [model, model], scoring=name, epsilon=1.0).endswith(written)

    class Fitless(LogisticRegression):
        def fit(self, X, y):
            pytest.exit("a model was fitted")

    for ask in ("candidates", "winner"):
        search = ReusableHoldoutCV(grid(Fitless(), [1.0]), scoring=name, ask=ask, tolerance=0.5)
        assert refusal(search.fit, X + 0.5, y).endswith(written)


def test_blocks_that_cannot_be_computed_name_the_metric(asked_of):
    model, _, X, y = asked_of("churn", "stays")
    rows = np.arange(600).reshape(6, 100)
    message = refusal(Metric("average_precision").blocks, model, X, y, rows)
    assert message.startswith("The 'pos_label' parameter of Metric('average_precision') must be one of")
