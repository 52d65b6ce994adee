"""Predictions are asked about as models are, and refused by name where nothing certifies them."""

import copy
import json
import pickle

import numpy as np
import pytest

from sklearn_ada import Holdout, LadderSettings, MedianSettings, NoiseSettings, Predictions
from sklearn_ada.cli import main
from sklearn_ada.guarantees import clopper_pearson

N = 200
TARGET = "expected accuracy on these rows of X, over labels drawn anew given X"
X_IS_KNOWN = "nobody who knows X of the holdout asks about a model, and not about predictions"


@pytest.fixture(scope="module")
def y():
    return np.random.default_rng(0).choice(["ham", "spam"], N)


@pytest.fixture(scope="module")
def predicted(y):
    """Predictions of which four fifths are right."""
    wrong = np.random.default_rng(1).random(N) < 0.2
    return np.where(wrong, np.where(y == "ham", "spam", "ham"), y)


@pytest.fixture
def made(y, tmp_path):
    """Return a holdout that can be asked about predictions, or one that differs in some parameter."""

    def make(labels=y, **how):
        how = {"class_mix": "priced", "ledger": tmp_path / "ledger.db"} | how
        return Holdout(np.zeros((len(labels), 1)), labels, **how)

    return make


def check(holdout, asked, **how):
    return holdout.check(asked, **{"scoring": "accuracy", "guess": 0.8, **how})


def certify(holdout, asked, **how):
    return holdout.certify(asked, **{"scoring": "accuracy", "guess": 0.8, **how})


def test_the_value_is_the_share_of_right_ones_and_the_interval_that_of_the_fixed_question(made, y, predicted):
    answer = certify(made(), Predictions(predicted))
    count = int(np.sum(predicted == y))
    assert answer.value == pytest.approx(count / N)
    assert answer.interval == pytest.approx(clopper_pearson(count, count, N, answer.certificate.ln_delta))
    assert answer.target == TARGET


def test_every_check_and_certify_speaks_of_these_rows(made, predicted):
    holdout, asked = made(), Predictions(predicted)
    noise = NoiseSettings("laplace", scale=0.01, threshold=0.1)
    answers = [
        *(check(holdout, asked, settings=settings) for settings in (None, 0.05, LadderSettings(), noise)),
        *holdout.check_many([asked, Predictions(predicted[::-1])], scoring="accuracy", guesses=[0.8, 0.5]),
        certify(holdout, asked, scoring="f1_micro"),
    ]
    assert [answer.target.replace("f1_micro", "accuracy") for answer in answers] == [TARGET] * len(answers)
    assert all(low <= 0.8 <= high for low, high in (answers[0].interval, answers[-1].interval))


def test_the_same_predictions_are_the_same_question_whatever_holds_them(made, nearly_free):
    labels = np.arange(N) % 2
    holdout = made(labels)
    first = certify(holdout, Predictions(labels))
    forms = [labels.astype(float), labels.astype(bool), labels.tolist(), labels[:, None], labels.astype("i1")]
    with nearly_free(holdout, len(forms)):
        again = [certify(holdout, Predictions(form)) for form in forms]
    assert [(answer.repeated, answer.index) for answer in again] == [(True, first.index)] * len(forms)
    other = certify(holdout, Predictions(1 - labels))
    assert (other.repeated, other.value) == (False, 0.0)


def test_ids_put_predictions_into_the_order_of_the_rows(made, y, predicted, nearly_free):
    ids, order = np.array([f"row {i}" for i in range(N)]), np.random.default_rng(2).permutation(N)
    holdout = made(ids=ids)
    first = certify(holdout, Predictions(predicted, ids))
    assert first.value == pytest.approx(np.mean(predicted == y))
    with nearly_free(holdout):
        assert certify(holdout, Predictions(predicted[order], ids[order])).repeated


def test_a_guess_from_public_rows_is_their_accuracy(made, predicted, y):
    holdout, public = made(), (Predictions(predicted[:100]), y[:100])
    answer = check(holdout, Predictions(predicted), guess=None, guess_from=public)
    body = holdout.ledger.record(answer.index).body
    assert (body["guess"]["value"], body["guess"]["size"]) == (np.mean(predicted[:100] == y[:100]), 100)
    assert body["model"] == "Predictions"


def test_what_is_certified_names_what_it_rests_on(made, predicted, y):
    holdout = made()
    first = certify(holdout, Predictions(predicted)).certificate.assumptions
    assert "predictions depend on the holdout's labels through the answers of this ledger alone" in first
    assert not any("row by row" in each for each in first)

    class Constant:
        def predict(self, X):
            return np.full(len(X), "ham")

    later = certify(holdout, Constant()).certificate
    assert X_IS_KNOWN in later.assumptions
    assert any("row by row" in each for each in later.assumptions)
    assert later.target == "population accuracy"


def test_a_sealed_count_takes_the_tails_of_unequal_rows_and_its_certificate_is_recomputed(
    made, y, tmp_path, capsys
):
    holdout, asked = made(answers="coarse"), Predictions(y)
    check(holdout, asked, guess=1.0)
    answer = certify(holdout, asked, guess=1.0)
    assert holdout.ledger.record(answer.index).body["mechanism"]["identical_rows"] is False
    published = holdout.publish(asked, scoring="accuracy", guess=1.0)
    assert (published.value, published.target) == (1.0, TARGET)
    path = holdout.export(tmp_path / "certificate.json")
    assert TARGET in json.loads(path.read_text())["targets"]
    assert main(["ledger", "verify", str(tmp_path / "ledger.db"), "--certificate", str(path)]) == 0
    assert "3 intervals computed again" in capsys.readouterr().out


def test_predictions_can_be_declared_and_selected(made, predicted, y):
    holdout, both = made(), [Predictions(predicted[::-1]), Predictions(predicted)]
    assert holdout.declare(both, scoring="accuracy") == 2
    assert holdout.select(both, scoring="accuracy", epsilon=None) == 1
    assert X_IS_KNOWN in certify(holdout, both[0]).certificate.assumptions
    assert certify(holdout, both[1]).value == pytest.approx(np.mean(predicted == y))


def test_predictions_do_not_change(predicted):
    mine = predicted.copy()
    asked = Predictions(mine)
    mine[:] = "ham"
    assert (asked.values == predicted).all()
    with pytest.raises(ValueError, match="read-only"):
        asked.values[0] = "ham"
    with pytest.raises(AttributeError, match="do not change"):
        asked._values = mine
    assert copy.deepcopy(asked) is asked
    assert (pickle.loads(pickle.dumps(asked)).values == predicted).all()
    assert repr(asked) == f"Predictions({N} rows)"
    assert not any(label in repr(asked) for label in ("ham", "spam"))


def test_a_label_without_a_row_is_a_typing_error_unless_it_is_named(made, uncharged, predicted, y):
    holdout, odd = made(), predicted.astype("U9")
    odd[:3] = "spam "
    with uncharged(holdout), pytest.raises(ValueError, match=r"1 other label: 'spam '.*classes="):
        check(holdout, Predictions(odd))
    assert certify(holdout, Predictions(odd, classes=["spam "])).value == pytest.approx(np.mean(odd == y))


BAD = [
    (None, "class labels, one for each row"),
    ([], "0 rows"),
    (np.zeros((5, 2)), r"shape \(5, 2\)' instead. Of scores or probabilities"),
    ([[1, 2], [3]], "unequal length"),
    (3, r"shape \(\)"),
    *(([0.5, number], "numbers with a fraction, NaN or infinite") for number in (0.9, np.nan, np.inf)),
    *((np.array(["a", gap], dtype=object), "missing values or NaN") for gap in (None, np.nan)),
    (np.array(["a", 1], dtype=object), "of numbers only, or of text only"),
    (np.ma.masked_array([0, 1], [0, 1]), "masked values"),
    ([1j, 2j], "complex128"),
    ([b"a", b"b"], "S1"),
    (np.array(["2020-01-01"], dtype="M8[D]"), "datetime64"),
]
BAD_IDS = [
    ([1, 1, 2], "1 ids more than once"),
    ([1, 2], r"one id for each row. Got 'an array of shape \(2,\)'"),
    ([1, None, 2], "1 missing ids"),
    ([1.5, 2.0, 3.0], "no whole numbers"),
]


@pytest.mark.parametrize(
    ("name", "bad", "message"), [*(("values", *each) for each in BAD), *(("ids", *each) for each in BAD_IDS)]
)
def test_bad_labels_and_ids_are_refused_by_name(name, bad, message):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of Predictions .*{message}"):
        Predictions(**{"values": [0, 1, 0], name: bad})


IDS = np.arange(N)


@pytest.mark.parametrize(
    ("how", "values", "ids", "message"),
    [
        ({}, ["ham"] * (N - 1), None, f"labels for the {N} rows of the holdout. Got '{N - 1} labels'"),
        ({}, [0] * N, None, "labels that are text, as y is. Got 'numbers, such as 0'"),
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
        lambda: check(holdout, asked),
        lambda: certify(holdout, asked),
        lambda: holdout.publish(asked, scoring="accuracy", guess=0.5),
        lambda: holdout.check_many([asked], scoring="accuracy", guesses=[0.5]),
        lambda: holdout.select([asked], scoring="accuracy"),
        lambda: holdout.declare([asked], scoring="accuracy"),
    ):
        with uncharged(holdout), pytest.raises(ValueError, match=message):
            ask()


CANNOT_CERTIFY = [
    ({"class_mix": "conditional"}, "class_mix"),
    *(({"class_mix": "conditional", "route": route}, "route") for route in ("differential_privacy", "both")),
    ({"sample_weight": np.ones(N)}, "sample_weight"),
    ({"groups": IDS // 2}, "groups"),
    ({"ids": IDS // 2}, "groups"),
    ({"labels": np.linspace(0.0, 1.0, N), "class_mix": "conditional"}, "y"),
]


@pytest.mark.parametrize(("how", "name"), CANNOT_CERTIFY)
def test_a_holdout_that_cannot_certify_them_says_why(made, uncharged, predicted, how, name):
    holdout, asked = made(**how), Predictions(np.zeros(N) if name == "y" else predicted)
    owner, needed = (
        (".*", "class labels") if name == "y" else ("a Holdout that is asked about Predictions", "")
    )
    message = f"The '{name}' parameter of {owner} must be {needed}"
    with uncharged(holdout), pytest.raises(ValueError, match=message):
        check(holdout, asked)


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "recall_macro", "matthews_corrcoef", "f1_macro"])
def test_only_means_of_zero_one_losses_are_certified(made, uncharged, predicted, scoring):
    holdout = made()
    with uncharged(holdout), pytest.raises(ValueError, match=r"a mean of 0/1 losses.*" + scoring):
        certify(holdout, Predictions(predicted), scoring=scoring)


def test_no_median_and_no_guess_without_rows(made, uncharged, predicted, y):
    holdout, asked = made(), Predictions(predicted)
    bad = [
        ({"settings": MedianSettings()}, "other than a median"),
        ({}, "The 'guess' parameter of Holdout.check must be an estimate"),
        (
            {"guess_from": (np.zeros((10, 1)), y[:10])},
            "Got 'ndarray' instead. Predictions know no other rows",
        ),
        ({"guess_from": (Predictions(predicted[:10], IDS[:10]), y[:10])}, "without ids"),
        ({"guess_from": (Predictions(predicted[:10]), y[:11])}, "as long as X, which has 10 rows"),
        ({"guess_from": (Predictions([0, 1]), y[:2])}, "class labels that are text"),
        ({"guess": 0.5, "guess_from": (asked, y)}, "None where a guess is given"),
    ]
    for how, message in bad:
        with uncharged(holdout), pytest.raises(ValueError, match=message):
            check(holdout, asked, **{"guess": None, **how})


def test_wide_rows_are_not_looked_at(made, monkeypatch):
    """A model is shown many rows in chunks; predictions are for all of them, whatever X holds."""
    monkeypatch.setattr("sklearn_ada.metrics.outputs.CHUNK_CELLS", 50)
    assert certify(made(IDS % 2), Predictions(IDS % 2)).value == 1.0
