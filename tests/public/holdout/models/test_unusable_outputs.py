"""What a model says is refused before the charge where everybody can see it, else it fails at a price."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import average_precision_score

from sklearn_ada import Holdout, MedianSettings, Metric
from sklearn_ada.accounting import FAILURES
from tests.support import holdouts
from tests.support.ledgers import bodies

RNG = np.random.default_rng(0)
N = 120
X = np.arange(N)[:, None]
Y = RNG.integers(0, 2, N)
P = RNG.uniform(0, 1, N)


class Says(ClassifierMixin, BaseEstimator):
    """Predicts what was given for each row, again after the last one."""

    def __init__(self, labels=None, chance=None, classes=(0, 1)):
        self.labels, self.chance, self.classes = labels, chance, classes
        self.classes_ = np.array(classes)

    def predict(self, X):
        return self.labels[X[:, 0] % N]

    def predict_proba(self, X):
        return self.chance[X[:, 0] % N]


BOTH = np.stack([1 - P, P], axis=1)


@pytest.fixture
def asked(tmp_path):
    def ask(model, scoring, y=Y, **how):
        holdout = Holdout(X, y, ledger=tmp_path / "ledger.db")
        return holdouts.ask(holdout, model, scoring=scoring, purpose="certify", **how)

    return ask


NAMES = ["f1", "precision", "jaccard", "recall", "recall_macro"]
NO_CHANCES = [BOTH * 3 - 1, BOTH[:, 1:], np.c_[BOTH, P], np.where(BOTH > 0.9, np.nan, BOTH)]
FAILING = [
    *((name, Says(np.where(X[:, 0] == 3, 2, Y)), FAILURES[5]) for name in NAMES),  # undefined in scikit-learn
    *((Metric("neg_log_loss", range=(-50, 0)), Says(Y, chance), FAILURES[4]) for chance in NO_CHANCES),
    *(("neg_brier_score", Says(Y, chance), FAILURES[4]) for chance in NO_CHANCES),
]


@pytest.mark.parametrize(("scoring", "model", "reason"), FAILING)
def test_a_label_too_many_and_what_are_no_probabilities_of_two_classes_fail(scoring, model, reason, asked):
    answer = asked(model, scoring)
    assert (answer.verdict, answer.reason) == ("failed", reason)


@pytest.mark.parametrize("name", ["roc_auc", "neg_brier_score", "average_precision", "roc_auc_ovr"])
def test_classes_in_another_order_are_refused_before_the_charge(name, asked, sentence):
    with pytest.raises(ValueError, match=sentence("estimator")):
        asked(Says(Y, BOTH, classes=(1, 0)), name)


def test_the_average_precision_of_the_first_class_is_ranked_by_its_own_scores(asked):
    settings = MedianSettings(1, method="exact")
    answer = asked(Says(Y + 1, BOTH, classes=(1, 2)), "average_precision", Y + 1, settings=settings)
    assert answer.value == pytest.approx(average_precision_score(Y + 1, BOTH[:, 0], pos_label=1), abs=0.002)


@pytest.mark.parametrize("name", ["accuracy", "f1_macro", "roc_auc", "matthews_corrcoef", "rand_score"])
def test_numbers_are_refused_where_labels_are_needed(name, asked, sentence):
    with pytest.raises(ValueError, match=sentence("y", "Holdout")):
        asked(Says(Y, BOTH), name, P)


def test_the_brier_score_of_three_classes_has_no_median_either(asked, sentence):
    thirds = np.full((N, 3), 1 / 3)
    with pytest.raises(ValueError, match=sentence("y", "Holdout")):
        asked(Says(Y, thirds, classes=(0, 1, 2)), Metric("neg_brier_score", kind="general"), X[:, 0] % 3)


def test_a_median_of_nothing_is_a_failure(asked):
    settings = MedianSettings(5, method="exact")
    answer = asked(Says(np.where(X[:, 0] % 2, 2, Y)), Metric("f1", kind="general"), settings=settings)
    assert (answer.verdict, answer.reason) == ("failed", FAILURES[5])


@pytest.fixture
def guess(tmp_path):
    """Return the guess that is recorded of rows."""

    def guess(metric, model, X, y, settings=None):
        holdout = Holdout(np.arange(N, 2 * N)[:, None], 1 - Y, ledger=tmp_path / "guess.db")
        holdout.check(model, scoring=Metric(metric), guess_from=(X, y), settings=settings)
        return bodies(holdout)[-1]["guess"]

    return guess


HOW = pytest.mark.parametrize("settings", [None, MedianSettings()], ids=["value", "median"])


@HOW
@pytest.mark.parametrize("y", [Y[:, None], Y[:-1], np.where(Y == 1, np.nan, 0.0), None])
def test_labels_of_guess_rows_are_checked_as_those_of_a_holdout(y, settings, guess, sentence):
    with pytest.raises(ValueError, match=sentence("y")):
        guess("accuracy", Says(Y), X, y, settings)


@HOW
def test_a_guess_from_unusable_outputs_is_an_error_that_quotes_none(settings, guess, sentence):
    with pytest.raises(ValueError, match=sentence("estimator", "accuracy")) as error:
        guess("accuracy", Says(Y + 0.125), X, Y, settings)
    assert "125" not in str(error.value)


def test_a_column_has_the_guess_of_a_vector(guess):
    vector, column = (guess("f1", Says(labels), X, Y) for labels in (1 - Y, (1 - Y)[:, None]))
    assert vector == column


def test_small_integers_do_not_wrap_around(asked):
    small = Says((1 - Y).astype(np.uint8))
    answer = asked(small, Metric("neg_mean_absolute_error", range=(-1, 0)), Y.astype(np.uint8))
    assert answer.value == pytest.approx(-1.0, abs=0.01)


def test_a_model_that_fails_loses_a_selection(tmp_path):
    holdout = Holdout(X, Y, ledger=tmp_path / "ledger.db")
    models = [Says(np.c_[Y, Y]), Says(np.where(P < 0.3, 1 - Y, Y)[:, None])]
    assert [holdout.select(models, scoring=name, epsilon=None) for name in ("f1", "f1_macro")] == [1, 1]
