"""Predictions are asked about as models are, and refused by name where nothing certifies them."""

import copy
import json
import math
import pickle

import numpy as np
import pytest

from sklearn_ada import Holdout, LadderSettings, MedianSettings, NoiseSettings, Predictions
from sklearn_ada.cli import main
from sklearn_ada.guarantees import binomial_tail_ends, clopper_pearson

N = 200
TARGET = "expected accuracy on these rows of X, over labels drawn anew given X"
X_IS_KNOWN = "nobody who knows X of the holdout asks about a model, and not about predictions"


@pytest.fixture(scope="module")
def y():
    return np.random.default_rng(0).choice(["ham", "spam"], N)


@pytest.fixture(scope="module")
def said(y):
    """Four fifths right."""
    wrong = np.random.default_rng(1).random(N) < 0.2
    return np.where(wrong, np.where(y == "ham", "spam", "ham"), y)


@pytest.fixture
def made(y, tmp_path):
    """Return a holdout that can be asked about predictions, or one that differs in some parameter."""

    def make(labels=y, **how):
        how = {"class_mix": "priced", "ledger": tmp_path / "ledger.db"} | how
        return Holdout(np.zeros((len(labels), 1)), labels, **how)

    return make


def test_the_value_is_the_share_of_right_ones_and_the_interval_that_of_the_fixed_question(made, y, said):
    answer = made().certify(Predictions(said), scoring="accuracy", guess=0.8)
    count = int(np.sum(said == y))
    assert answer.value == pytest.approx(count / N)
    assert answer.interval == pytest.approx(clopper_pearson(count, count, N, answer.certificate.ln_delta))
    assert answer.target == TARGET


def test_every_check_and_certify_speaks_of_these_rows(made, said):
    holdout = made()
    asked = Predictions(said)
    answers = [
        holdout.check(asked, scoring="accuracy", guess=0.8),
        *holdout.check_many([asked, Predictions(said[::-1])], scoring="accuracy", guesses=[0.8, 0.5]),
        holdout.check(asked, scoring="accuracy", guess=0.8, settings=0.05),
        holdout.check(asked, scoring="accuracy", guess=0.8, settings=LadderSettings()),
        holdout.check(
            asked, scoring="accuracy", guess=0.8, settings=NoiseSettings("laplace", scale=0.01, threshold=0.1)
        ),
        holdout.certify(asked, scoring="f1_micro", guess=0.8),
    ]
    assert [answer.target.replace("f1_micro", "accuracy") for answer in answers] == [TARGET] * len(answers)
    assert all(low <= 0.8 <= high for low, high in (answers[0].interval, answers[-1].interval))


def test_the_same_predictions_are_the_same_question_whatever_holds_them(made, nearly_free):
    labels = np.arange(N) % 2
    holdout = made(labels)
    first = holdout.certify(Predictions(labels), scoring="accuracy", guess=0.9)
    forms = [labels.astype(float), labels.astype(bool), labels.tolist(), labels[:, None], labels.astype("i1")]
    with nearly_free(holdout, len(forms)):
        for form in forms:
            again = holdout.certify(Predictions(form), scoring="accuracy", guess=0.9)
            assert (again.repeated, again.index) == (True, first.index)
    other = holdout.certify(Predictions(1 - labels), scoring="accuracy", guess=0.9)
    assert (other.repeated, other.value) == (False, 0.0)


def test_ids_put_predictions_into_the_order_of_the_rows(made, y, said, nearly_free):
    ids = np.array([f"row {i}" for i in range(N)])
    holdout = made(ids=ids)
    order = np.random.default_rng(2).permutation(N)
    first = holdout.certify(Predictions(said, ids), scoring="accuracy", guess=0.8)
    assert first.value == pytest.approx(np.mean(said == y))
    with nearly_free(holdout):
        assert holdout.certify(Predictions(said[order], ids[order]), scoring="accuracy", guess=0.8).repeated


def test_a_guess_from_public_rows_is_their_accuracy(made, said, y):
    answer = made().check(
        Predictions(said), scoring="accuracy", guess_from=(Predictions(said[:100]), y[:100])
    )
    body = list(made().ledger.records())[answer.index].body
    assert (body["guess"]["value"], body["guess"]["size"]) == (np.mean(said[:100] == y[:100]), 100)
    assert body["model"] == "Predictions"


def test_what_is_certified_names_what_it_rests_on(made, said, y):
    holdout = made()
    first = holdout.certify(Predictions(said), scoring="accuracy", guess=0.8).certificate.assumptions
    assert "predictions depend on the holdout's labels through the answers of this ledger alone" in first
    assert not any("row by row" in each for each in first)

    class Constant:
        def predict(self, X):
            return np.full(len(X), "ham")

    later = holdout.certify(Constant(), scoring="accuracy", guess=0.5).certificate
    assert X_IS_KNOWN in later.assumptions
    assert any("row by row" in each for each in later.assumptions)
    assert later.target == "population accuracy"


def test_a_sealed_count_takes_the_tails_of_unequal_rows_and_its_certificate_is_recomputed(
    made, y, tmp_path, capsys
):
    holdout, asked = made(answers="coarse"), Predictions(y)
    holdout.check(asked, scoring="accuracy", guess=1.0)
    answer = holdout.certify(asked, scoring="accuracy", guess=1.0)
    assert holdout.ledger.record(answer.index).body["mechanism"]["identical_rows"] is False
    published = holdout.publish(asked, scoring="accuracy", guess=1.0)
    assert (published.value, published.target) == (1.0, TARGET)
    path = holdout.export(tmp_path / "certificate.json")
    assert TARGET in json.loads(path.read_text())["targets"]
    assert main(["ledger", "verify", str(tmp_path / "ledger.db"), "--certificate", str(path)]) == 0
    assert "3 intervals computed again" in capsys.readouterr().out


def test_predictions_can_be_declared_and_selected(made, said, y):
    holdout = made()
    both = [Predictions(said[::-1]), Predictions(said)]
    assert holdout.declare(both, scoring="accuracy") == 2
    assert holdout.select(both, scoring="accuracy", epsilon=None) == 1
    assert X_IS_KNOWN in holdout.certify(both[0], scoring="accuracy", guess=0.5).certificate.assumptions
    assert holdout.certify(both[1], scoring="accuracy", guess=0.8).value == pytest.approx(np.mean(said == y))


def test_predictions_do_not_change(said):
    mine = said.copy()
    asked = Predictions(mine)
    mine[:] = "ham"
    assert (asked.values == said).all()
    with pytest.raises(ValueError, match="read-only"):
        asked.values[0] = "ham"
    with pytest.raises(AttributeError, match="do not change"):
        asked._values = mine
    assert copy.deepcopy(asked) is asked
    assert (pickle.loads(pickle.dumps(asked)).values == said).all()
    assert repr(asked) == f"Predictions({N} rows)"
    assert not any(label in repr(asked) for label in ("ham", "spam"))


def test_a_label_without_a_row_is_a_typing_error_unless_it_is_named(made, uncharged, said, y):
    holdout, odd = made(), said.astype("U9")
    odd[:3] = "spam "
    with uncharged(holdout), pytest.raises(ValueError, match=r"1 other label: 'spam '.*classes="):
        holdout.check(Predictions(odd), scoring="accuracy", guess=0.8)
    answer = holdout.certify(Predictions(odd, classes=["spam "]), scoring="accuracy", guess=0.8)
    assert answer.value == pytest.approx(np.mean(odd == y))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (None, "class labels, one for each row"),
        ([], "0 rows"),
        (np.zeros((5, 2)), r"shape \(5, 2\)' instead. Of scores or probabilities"),
        ([[1, 2], [3]], "unequal length"),
        (3, r"shape \(\)"),
        ([0.2, 0.9], "numbers with a fraction, NaN or infinite"),
        ([0.0, np.nan], "numbers with a fraction, NaN or infinite"),
        ([0.0, np.inf], "numbers with a fraction, NaN or infinite"),
        (np.array(["a", None], dtype=object), "missing values or NaN"),
        (np.array(["a", np.nan], dtype=object), "missing values or NaN"),
        (np.array(["a", 1], dtype=object), "of numbers only, or of text only"),
        (np.ma.masked_array([0, 1], [0, 1]), "masked values"),
        ([1j, 2j], "complex128"),
        ([b"a", b"b"], "S1"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "datetime64"),
    ],
)
def test_bad_labels_are_refused_by_name(values, message):
    with pytest.raises(ValueError, match=f"The 'values' parameter of Predictions must be .*{message}"):
        Predictions(values)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1, 1, 2], "1 ids more than once"),
        ([1, 2], r"one id for each row. Got 'an array of shape \(2,\)'"),
        ([1, None, 2], "1 missing ids"),
        ([1.5, 2.0, 3.0], "no whole numbers"),
    ],
)
def test_bad_ids_are_refused_by_name(ids, message):
    with pytest.raises(ValueError, match=f"The 'ids' parameter of Predictions .*{message}"):
        Predictions([0, 1, 0], ids)


IDS = np.arange(N)


@pytest.mark.parametrize(
    ("how", "values", "ids", "message"),
    [
        ({}, ["ham"] * (N - 1), None, f"labels for the {N} rows of the holdout. Got '{N - 1} labels'"),
        ({}, [0] * N, None, "labels that are text, as y is. Got 'int64 values'"),
        ({}, ["ham"] * N, IDS, "ids of the predictions alone' instead. Leave out"),
        ({"ids": IDS}, ["ham"] * N, None, r"ids of the holdout alone' instead. Give them: Predictions\("),
        ({"ids": IDS}, ["ham"] * N, IDS + 5, "5 rows without a prediction, 5 unknown ids"),
        ({"ids": IDS}, ["ham"] * N, IDS.astype(str), f"{N} rows without a prediction, {N} unknown ids"),
        ({"ids": IDS}, ["ham"] * 5, IDS[:5], f"{N - 5} rows without a prediction, 0 unknown ids"),
    ],
)
def test_predictions_for_other_rows_are_refused_before_anything_is_charged(
    made, uncharged, how, values, ids, message
):
    holdout, asked = made(**how), Predictions(values, ids)
    for ask in (
        lambda: holdout.check(asked, scoring="accuracy", guess=0.5),
        lambda: holdout.certify(asked, scoring="accuracy", guess=0.5),
        lambda: holdout.publish(asked, scoring="accuracy", guess=0.5),
        lambda: holdout.check_many([asked], scoring="accuracy", guesses=[0.5]),
        lambda: holdout.select([asked], scoring="accuracy"),
        lambda: holdout.declare([asked], scoring="accuracy"),
    ):
        with uncharged(holdout), pytest.raises(ValueError, match=message):
            ask()


@pytest.mark.parametrize(
    ("how", "name"),
    [
        ({"class_mix": "conditional"}, "class_mix"),
        ({"class_mix": "conditional", "route": "differential_privacy"}, "route"),
        ({"class_mix": "conditional", "route": "both"}, "route"),
        ({"sample_weight": np.ones(N)}, "sample_weight"),
        ({"groups": np.arange(N) // 2}, "groups"),
        ({"ids": np.arange(N) // 2}, "groups"),
    ],
)
def test_a_holdout_that_cannot_certify_them_says_why(made, uncharged, said, how, name):
    holdout = made(**how)
    message = f"The '{name}' parameter of a Holdout that is asked about Predictions must be"
    with uncharged(holdout), pytest.raises(ValueError, match=message):
        holdout.check(Predictions(said), scoring="accuracy", guess=0.8)


def test_numbers_are_no_labels(made, uncharged):
    holdout = made(np.linspace(0.0, 1.0, N), class_mix="conditional")
    with uncharged(holdout), pytest.raises(ValueError, match=r"The 'y' parameter .* must be class labels"):
        holdout.check(Predictions(np.zeros(N)), scoring="accuracy", guess=0.8)


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "recall_macro", "matthews_corrcoef", "f1_macro"])
def test_only_means_of_zero_one_losses_are_certified(made, uncharged, said, scoring):
    holdout = made()
    with uncharged(holdout), pytest.raises(ValueError, match=r"a mean of 0/1 losses.*" + scoring):
        holdout.certify(Predictions(said), scoring=scoring, guess=0.8)


def test_no_median_and_no_guess_without_rows(made, uncharged, said, y):
    holdout, asked = made(), Predictions(said)
    bad = [
        ({"settings": MedianSettings()}, "other than a median"),
        ({}, "The 'guess' parameter of Holdout.check must be an estimate"),
        (
            {"guess_from": (np.zeros((10, 1)), y[:10])},
            r"Got 'ndarray' instead. Predictions know no other rows",
        ),
        ({"guess_from": (Predictions(said[:10], IDS[:10]), y[:10])}, "without ids"),
        ({"guess_from": (Predictions(said[:10]), y[:11])}, "as long as X, which has 10 rows"),
        ({"guess_from": (Predictions([0, 1]), y[:2])}, "class labels that are text"),
        ({"guess": 0.5, "guess_from": (asked, y)}, "None where a guess is given"),
    ]
    for how, message in bad:
        with uncharged(holdout), pytest.raises(ValueError, match=message):
            holdout.check(asked, scoring="accuracy", **how)


def law(probabilities):
    """Return the law of the number of successes in independent trials, of counts 0 to n."""
    masses = np.ones(1)
    for p in probabilities:
        masses = np.convolve(masses, [1.0 - p, p])
    return masses


def misses(probabilities, side, **how):
    """Return how likely each end of the interval misses the mean probability."""
    n, masses, mean = len(probabilities), law(probabilities), np.mean(probabilities)
    ends = [binomial_tail_ends(count, count, n, math.log(side), **how) for count in range(n + 1)]
    low = sum(mass for mass, (end, _) in zip(masses, ends, strict=True) if end > mean)
    return low, sum(mass for mass, (_, end) in zip(masses, ends, strict=True) if end < mean)


def trials(repetitions):
    """Yield probabilities of all kinds of unequal trials, with few rows and with many."""
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 5, 10, 40):
        for _ in range(repetitions):
            yield rng.random(n)
            yield rng.beta(0.1, 0.1, n)
            yield rng.beta(0.05, 1.0, n)
            yield np.where(np.arange(n) < rng.integers(0, n + 1), rng.random(), rng.random())
        for certain in range(n + 1):  # the extreme points of Hoeffding's theorem
            yield np.r_[np.ones(certain), np.full(n - certain, 0.3)]
            yield np.r_[np.zeros(certain), np.full(n - certain, 0.7)]


@pytest.mark.parametrize(
    ("side", "repetitions"),
    [
        pytest.param(0.25, 2),
        *(pytest.param(side, 100, marks=pytest.mark.thorough) for side in (0.25, 0.1, 0.025, 1e-4, 1e-9)),
    ],
)
def test_unequal_trials_are_missed_no_oftener_than_a_binomial_may_be(side, repetitions):
    """By their exact law; the extreme points of the theorem are among them."""
    assert max(max(misses(each, side)) for each in trials(repetitions)) <= side * (1.0 + 1e-9)


def test_for_a_single_success_the_tail_of_equal_trials_would_miss():
    """The power arm: one row decides, and the binomial tail of one success is too small for it."""
    side = 0.2
    end, _ = binomial_tail_ends(1, 1, 10, math.log(side), identical_rows=True)
    unequal = np.r_[end * 10 * 0.9999, np.zeros(9)]
    assert misses(unequal, side, identical_rows=True)[0] > side
    assert misses(unequal, side)[0] <= side


def test_wide_rows_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model is shown many rows in chunks; predictions are for all of them, whatever X holds."""
    monkeypatch.setattr("sklearn_ada.metrics.outputs.CHUNK_CELLS", 100)
    y = np.tile([0, 1], 200)
    holdout = Holdout(np.zeros((400, 3)), y, class_mix="priced", ledger=":memory:")
    assert holdout.certify(Predictions(y), scoring="accuracy", guess=0.9).value == 1.0
