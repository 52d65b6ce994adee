"""What an attacker would try on windows: tuning after the fact, fresh questions for nothing, shared pads."""

import os
from unittest.mock import patch

import numpy as np
import pytest

from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada import Guess
from sklearn_ada.questions import seals
from sklearn_ada.questions.seals import seal_of, sealed_context, shown

N, GUESSED = 200, 300
pytestmark = pytest.mark.filterwarnings(
    "ignore:An answer of the holdout certifies nothing", "ignore:The errors of the model on the rows of guess"
)
OF_CLASSES = [
    "roc_auc", "f1", "f1_macro", "matthews_corrcoef", "balanced_accuracy", "average_precision",
    "neg_log_loss", "neg_brier_score", "jaccard_micro",
]  # fmt: skip
OF_NUMBERS = [
    "neg_mean_absolute_error", "neg_root_mean_squared_error", "neg_median_absolute_error", "r2",
    "d2_absolute_error_score",
]  # fmt: skip


class Linear:
    """A linear model of numbers, or of two classes."""

    def __init__(self, weights, *, of_classes):
        self.weights_ = np.asarray(weights, dtype=float)
        if of_classes:
            self.classes_ = np.array([0, 1])

    def fit(self, X, y=None):
        return self

    def decision_function(self, X):
        return X @ self.weights_

    def predict_proba(self, X):
        positive = 1.0 / (1.0 + np.exp(-self.decision_function(X)))
        return np.column_stack((1.0 - positive, positive))

    def predict(self, X):
        score = self.decision_function(X)
        return (score > 0.0).astype(int) if hasattr(self, "classes_") else score


class FromOutside:
    """A model of numbers that is told from outside how far a few rows are off, which no digest sees."""

    def __init__(self):
        self.weights_ = np.ones(1)

    def fit(self, X, y=None):
        return self

    def predict(self, X):
        return X[:, 0] + float(os.environ["OFF"]) * (X[:, 1] > 2.0)


def rows(seed, n, *, of_classes):
    """Return rows and labels that depend on their first column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + rng.normal(size=n)
    return X, (y > np.median(y)).astype(int) if of_classes else y


def begun(scoring, *, of_classes, seed=1, **settings):
    """Return a holdout that answers coarsely, and other rows."""
    X, y = rows(seed, N, of_classes=of_classes)
    settings = {"answers": "coarse", "scoring": scoring, **settings}
    return SimulatedHoldout(X, y, **settings), rows(2, GUESSED, of_classes=of_classes)


def last(holdout):
    """Return what the last record says."""
    return [*holdout.ledger.records()][-1].body


ALL = [*((each, True) for each in OF_CLASSES), *((each, False) for each in OF_NUMBERS)]


@pytest.mark.parametrize(("scoring", "of_classes"), ALL)
def test_all_that_is_announced_is_the_same_whatever_the_rows_of_the_holdout_are(scoring, of_classes):
    mechanisms, foreseen = [], []
    for seed, spread in ((1, 1.0), (3, 1.02), (4, 0.98)):
        X, y = rows(seed, N, of_classes=of_classes)
        holdout = SimulatedHoldout(spread * X, y, answers="coarse", scoring=scoring)
        model = Linear([1.0, 0.3, 0.0], of_classes=of_classes)
        answer = holdout.certify(model, scoring=scoring, guess_from=rows(2, GUESSED, of_classes=of_classes))
        assert answer.verdict in ("agrees", "differs", "failed")
        mechanisms.append(last(holdout)["mechanism"])
        if answer.verdict == "agrees":
            foreseen.append((answer.value, answer.interval, last(holdout)["published"], holdout.nats))
    assert mechanisms[1:] == mechanisms[:1] * 2
    assert len(set(foreseen)) <= 1


@pytest.mark.parametrize("power", [1, 2])
def test_another_version_of_a_model_is_published_as_it_was_asked(power, monkeypatch):
    """A few errors of the second version are far beyond the range that the first one has suggested."""
    scoring = {1: "neg_mean_absolute_error", 2: "neg_mean_squared_error"}[power]
    holdout, guess_from = begun(scoring, of_classes=False)
    model, asked = FromOutside(), []
    for off in ("0", "30"):
        monkeypatch.setenv("OFF", off)
        asked.append(holdout.certify(model, scoring=scoring, guess_from=guess_from))
    assert last(holdout)["mechanism"] != holdout.ledger.record(asked[0].index).body["mechanism"]
    assert holdout.ledger.record(asked[1].index).key.endswith(" version 2")
    published = holdout.publish(model, scoring=scoring, guess_from=guess_from)
    assert published.target.split(", rounded")[0] == asked[1].target.split(", shown")[0]
    X, y = rows(1, N, of_classes=False)
    error = np.abs(model.predict(X) - y)
    assert published.value == pytest.approx(-(error**power).mean(), rel=0.02)
    holdout.close()
    (exact,) = holdout.unseal_quietly([asked[1]])
    assert (exact.value, exact.interval) == (published.value, published.interval)


@pytest.mark.parametrize("scoring", OF_NUMBERS)
def test_other_rows_of_a_guess_change_nothing_of_what_is_published(scoring):
    model, narrow = Linear([1.0, 0.3, 0.0], of_classes=False), rows(5, 40, of_classes=False)[0]
    ends = []
    for other in (False, True):
        holdout, guess_from = begun(scoring, of_classes=False)
        told = holdout.certify(model, scoring=scoring, guess_from=guess_from)
        if other:  # on which the model is nearly right
            guess_from = narrow, model.predict(narrow) + 0.01 * narrow[:, 2]
        again = holdout.certify(model, scoring=scoring, guess_from=guess_from)
        assert (again.index, again.interval) == (told.index, told.interval)
        published = holdout.publish(model, scoring=scoring, guess_from=guess_from)
        ends.append((published.value, published.interval))
    assert ends[0] == ends[1]


@pytest.mark.parametrize("with_key", [False, True])
def test_a_question_that_is_asked_again_has_its_record_whatever_the_guess_is(with_key):
    settings = {}
    if with_key:
        keys = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.x25519")
        settings["seal_key"] = keys.X25519PrivateKey.generate().public_key()
    holdout, guess_from = begun("roc_auc", of_classes=True, **settings)
    model = Linear([1.0, 0.3, 0.0], of_classes=True)
    told = holdout.certify(model, scoring="roc_auc", guess_from=guess_from)
    before = holdout.nats
    for how in ({"guess": 0.3}, {"guess": Guess(0.9, 50.0)}, {}):
        again = holdout.certify(model, scoring="roc_auc", **how)
        assert (again.index, again.value, again.interval) == (told.index, told.value, told.interval)
    assert holdout.nats - before < 0.01


@pytest.mark.filterwarnings("ignore:Without guess_from=")
@pytest.mark.parametrize("scoring", ["accuracy", "neg_brier_score"])
def test_a_comparison_the_other_way_round_is_the_mirrored_record(scoring):
    holdout, guess_from = begun(scoring, of_classes=True)
    a, b = (Linear([1.0, slope, 0.0], of_classes=True) for slope in (0.3, -0.6))
    one, before = holdout.compare(a, b, scoring=scoring, guess_from=guess_from), holdout.nats
    other = holdout.compare(b, a, scoring=scoring, guess=0.4)
    mirrored = -one.interval[1], -one.interval[0]
    assert (other.index, other.value, other.interval) == (one.index, -one.value, mirrored)
    assert holdout.nats - before < 0.01
    holdout.close()
    exact, negated = holdout.unseal_quietly([one, other])
    assert (negated.value, negated.interval) == (-exact.value, (-exact.interval[1], -exact.interval[0]))


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_what_was_asked_again_with_another_guess_is_unsealed(scoring):
    holdout, guess_from = begun(scoring, of_classes=True)
    model = Linear([1.0, 0.3, 0.0], of_classes=True)
    told = holdout.certify(model, scoring=scoring, guess_from=guess_from)
    again = holdout.certify(model, scoring=scoring, guess=0.2)
    assert (told.verdict, again.verdict) == ("agrees", "differs")
    holdout.close()
    assert holdout.unseal_quietly([again]) == holdout.unseal_quietly([told])


def pads_of_messages():
    """Return the pads of all messages that a ledger keeps sealed, in pieces of eight octets."""
    holdout, guess_from = begun("roc_auc", of_classes=True)
    for slope in (0.0, 0.3, 0.6):
        model = Linear([1.0, slope, 0.0], of_classes=True)
        for scoring in ("roc_auc", "f1", "neg_brier_score", "accuracy"):
            holdout.certify(model, scoring=scoring, guess_from=guess_from)
    holdout.close()
    pads, lengths, fingerprint = [], set(), holdout.ledger.genesis["fingerprint"]
    for record in [*holdout.ledger.records()]:
        if "sealed" not in record.body:
            continue
        text = record.body["sealed"]
        content = shown(text, holdout.ledger.secret(), sealed_context(fingerprint, record.key))
        pad = bytes(a ^ b for a, b in zip(bytes.fromhex(text), content, strict=True))
        pads += [pad[start : start + 8] for start in range(0, len(pad), 8)]
        lengths.add((record.body["mechanism"]["statistic"], len(pad)))
        if record.body["mechanism"]["statistic"] == "interval":
            seal = seal_of(record.body["mechanism"])
            assert seal.is_within(seal.point(content), record.body["outcome"]["interval"])
    assert lengths == {("interval", 24), ("loss count", 8)}
    return pads


def of_one_message(padded):
    """Let value and both ends be under one pad."""
    return lambda content, *given: b"".join(
        padded(content[start : start + 8], *given) for start in range(0, len(content), 8)
    )


def of_all_records(padded):
    """Let all records have one pad."""
    return lambda content, secret, context: padded(content, secret, "sealed")


@pytest.mark.parametrize("mutant", [of_one_message, of_all_records])
def test_no_eight_octets_of_what_is_sealed_are_under_the_pad_of_others(mutant):
    pads = pads_of_messages()
    assert len(set(pads)) == len(pads) == 9 * 3 + 3
    with patch("sklearn_ada.questions.seals._padded", mutant(seals._padded)):
        pads = pads_of_messages()
    assert len(set(pads)) < len(pads)
