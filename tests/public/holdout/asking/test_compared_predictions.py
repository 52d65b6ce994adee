"""Which of two predictions of the same rows is better: exact coverage given X, cost, identity, bad input."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_ada import Holdout, Predictions, bits_of_choice
from sklearn_ada.guarantees import paired_given_interval, paired_table_interval
from tests.support.laws import is_too_often
from tests.support.models import Column

ROWS = 2000
ROOT = Path(__file__).parents[4]


def rows_of(rng, labels, n=ROWS, share=0.85):
    """Return labels, and predictions of them by two models that mostly agree."""
    y = rng.integers(0, labels, n)
    a = np.where(rng.random(n) < 0.7, y, rng.integers(0, labels, n))
    return y, a, np.where(rng.random(n) < share, a, np.where(rng.random(n) < 0.9, y, 0))


def held(y, **how):
    how = {"ledger": ":memory:", "class_mix": "priced", "answers": "coarse", **how}
    return Holdout(np.empty((len(y), 0)), y, **how)


def compared(holdout, a, b, **how):
    return holdout.compare(Predictions(a), Predictions(b), scoring="accuracy", **how)


def law(chances):
    masses = np.ones(1)
    for p in chances:
        masses = np.convolve(masses, [1.0 - p, p])
    return masses


def misses(chances, n, interval, ln_delta):
    """Return the exact chance of a miss where the models differ on the rows of these chances, of n."""
    differ = len(chances)
    truth, masses = (2.0 * sum(chances) - differ) / n, law(chances)
    ends = [interval(x, differ - x, n, ln_delta) for x in range(differ + 1)]
    return sum(m for m, (low, high) in zip(masses, ends, strict=True) if not low <= truth <= high)


def test_given_x_the_interval_misses_no_oftener_than_it_says_and_one_of_equal_rows_does():
    rng, laws = np.random.default_rng(0), []
    for differ in (1, 2, 5, 12):
        laws += [np.full(differ, 0.5), np.linspace(0.0, 1.0, differ), rng.beta(0.2, 0.2, differ)]
        laws += [np.r_[np.full(ones, 0.5), np.ones(differ - ones)] for ones in range(differ)]
    for delta in (0.5, 0.36, 0.05):
        for n in (12, 40):
            worst = max(misses(each, n, paired_given_interval, math.log(delta)) for each in laws)
            assert worst <= delta + 1e-9
    # Two rows on which they always differ, of ten: tables of pairs of one law miss too often.
    assert misses(np.full(2, 0.5), 10, paired_table_interval, math.log(0.36)) > 0.36


@pytest.mark.parametrize("labels", [2, 4])
def test_a_difference_that_validation_foresaw_is_nearly_free_and_narrow_once_unsealed(labels):
    rng = np.random.default_rng(labels)
    y, a, b = rows_of(rng, labels)
    other, *of_others = rows_of(rng, labels, 3 * ROWS)
    holdout = held(y)
    answer = compared(holdout, a, b, guess_from=([Predictions(each) for each in of_others], other))
    away = (b == y) * 1.0 - (a == y)
    assert answer.cost.nats < 0.1
    assert answer.interval[0] < away.mean() < answer.interval[1]
    assert answer.target.startswith("expected accuracy of b minus a on these rows of X")
    assert "unequal rows" in answer.certificate.theorem
    assert ("secret" in str(answer.certificate.assumptions)) == (labels > 2)  # coins are drawn
    for how in (
        {"guess": -answer.guess},
        {"guess_from": ([Predictions(each) for each in reversed(of_others)], other)},
    ):
        turned = compared(holdout, b, a, **how)
        assert (turned.repeated, turned.interval) == (True, tuple(-end for end in reversed(answer.interval)))
        assert (turned.verdict, turned.guess) == (answer.verdict, pytest.approx(-answer.guess))
    holdout.close()
    (exact,) = holdout.unseal(answer)
    assert exact.value == pytest.approx(away.mean(), abs=1e-6)
    assert exact.half_width < 4.0 * 1.96 * away.std() / math.sqrt(ROWS)  # one in a row of windows


PAGE = (ROOT / "docs" / "gate.rst").read_text()
WIDTHS = re.findall(r"^two (models|files).*?, (as|ten) .*?  \+-(\.\d+)  \+-(\.\d+)", PAGE, re.MULTILINE)
PASSES = re.findall(r"^([\d,]+) +(\.\d+) +(\.\d+) +(never|mostly|always)$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("what", "times", "width", "of_more"), WIDTHS)
def test_the_page_has_the_widths_of_first_questions(what, times, width, of_more, tmp_path):
    for n, expected in ((2_000, width), (10_000, of_more)):
        (X, y), validation = (made(m, m) for m in (n, n * 10 if times == "ten" else n + 1))
        assert first(what, X, y, validation, tmp_path).half_width == pytest.approx(float(expected), rel=0.05)


@pytest.mark.parametrize(("rows", "disagree", "better", "how_often"), PASSES)
def test_the_page_has_the_smallest_improvement_that_passes(rows, disagree, better, how_often, tmp_path):
    n, passed = int(rows.replace(",", "")), 0
    for seed in range(12):
        (X, y), validation = (made([seed, part], n, float(disagree), float(better)) for part in (0, 1))
        passed += first("files", X, y, validation, tmp_path).is_above(0.0)
        away = (X[:, 1] == y) * 1.0 - (X[:, 0] == y)
        assert away.mean() > 1.96 * away.std() / math.sqrt(n)  # a plain test shows it
    assert {"never": passed == 0, "mostly": 6 <= passed < 12, "always": passed == 12}[how_often], passed


def test_the_page_has_the_widths_of_what_is_published_and_of_bits_used_before(tmp_path):
    of_files, of_models = map(float, re.search(r"\+-(\.\d+) on 3,000 rows .* \+-(\.\d+)\.", PAGE).groups())
    (X, y), (X_val, y_val) = (made(seed, 3_000) for seed in (0, 1))
    first("files", X, y, (X_val, y_val), tmp_path)
    board = held(y, ledger=tmp_path / "0.db")
    kept, guess = Predictions(X[:, 0]), (Predictions(X_val[:, 0]), y_val)
    final = board.publish(kept, scoring="accuracy", guess_from=guess)
    assert final.half_width == pytest.approx(of_files, rel=0.05)
    holdout = Holdout(X, y, ledger=tmp_path / "published.db", answers="coarse")
    final = holdout.publish(Column(0), scoring="accuracy", guess_from=(X_val, y_val))
    assert final.half_width == pytest.approx(of_models, rel=0.1)
    widths = re.search(r"then \+-(\.\d+), and not \+-(\.\d+)\..*?\+-(\.\d+)", PAGE, re.DOTALL)
    fixed, fresh, scored = map(float, widths.groups())
    bits = {0.0: fresh, bits_of_choice(1, 30): fixed, bits_of_choice(30, n_values=101): scored}
    for before, expected in bits.items():
        answer = first("models", X, y, (X_val, y_val), tmp_path, used_before=before)
        assert answer.half_width == pytest.approx(expected, rel=0.05)


def first(what, X, y, validation, folder, **how):
    """Return the first answer of a new ledger about two columns of predictions."""
    path, (X_val, y_val) = folder / f"{len(list(folder.iterdir()))}.db", validation
    if what == "models":
        holdout = Holdout(X, y, ledger=path, answers="coarse", **how)
        return holdout.compare(Column(0), Column(1), scoring="accuracy", guess_from=validation)
    rows = [Predictions(each) for each in X_val.T]
    return compared(held(y, ledger=path), *X.T, guess_from=(rows, y_val))


def made(seed, n, disagree=0.1, better=0.0):
    """Return two columns of predictions, of which the second is so much better, and labels."""
    rng, right = np.random.default_rng(seed), 0.8
    y = rng.integers(0, 2, n)
    a, chance = np.where(rng.random(n) < right, y, 1 - y), rng.random(n)
    turned = np.where(a == y, (disagree - better) / 2 / right, (disagree + better) / 2 / (1 - right))
    return np.c_[a, np.where(chance < turned, 1 - a, a)], y


def test_whether_the_secret_is_needed_may_be_refused_and_costs_width():
    rng = np.random.default_rng(1)
    y, a, b = rows_of(rng, 4)
    orders = {True: slice(None), False: slice(None, None, -1)}  # two ledgers
    by_coins, plain = (
        compared(held(y[rows], answers="exact"), a[rows], b[rows], guess=0.1, drawn=drawn)
        for drawn, rows in orders.items()
    )
    assert "secret" not in str(plain.certificate.assumptions)
    assert by_coins.half_width < plain.half_width


@pytest.mark.thorough
@pytest.mark.parametrize("labels", [2, 4])
def test_intervals_of_answers_cover_what_labels_drawn_anew_would_give(labels):
    """Predictions that depend on all of X; each row's label has a law of its own."""
    runs, missed = 200, 0
    for run in range(runs):
        rng = np.random.default_rng([labels, run])
        chances = rng.dirichlet(np.full(labels, 0.5), 60)
        y = np.array([rng.choice(labels, p=each) for each in chances])
        y[:labels] = np.arange(labels)
        chances[:labels] = np.eye(labels)
        a, b = rng.integers(0, labels, (2, 60))
        answer = compared(held(y, answers="exact", confidence_level=0.3), a, b, guess=0.0)
        truth = np.mean(chances[np.arange(60), b] - chances[np.arange(60), a])
        missed += not answer.interval[0] <= truth <= answer.interval[1]
    assert not is_too_often(missed, runs, math.exp(answer.certificate.ln_delta))


def test_one_model_twice_is_no_question(uncharged):
    rng = np.random.default_rng(2)
    y, a, _ = rows_of(rng, 2)
    holdout, X = held(y), rng.normal(size=(ROWS, 2))
    model = LogisticRegression().fit(X, y)
    with uncharged(holdout):
        same = compared(holdout, a, a.astype(float), guess=0.5)
    assert (same.value, same.interval, same.cost.nats, same.index) == (0.0, (0.0, 0.0), 0.0, 0)
    assert "both models are one, so nothing was asked" in str(same)
    plain = Holdout(X[::-1], y[::-1], ledger=":memory:")
    twins = [LogisticRegression().fit(X, y) for _ in range(2)]
    with uncharged(plain):
        assert plain.compare(model, model, scoring="accuracy").interval == (0.0, 0.0)
        assert plain.compare(*twins, scoring="accuracy").interval == (0.0, 0.0)


PAIR = ((Predictions([0, 1]), Predictions([1, 0])), [0, 1])
LABELS, GUESS = np.arange(40) % 2, (Predictions([0, 1]), [0, 1])


@pytest.mark.parametrize(
    ("a", "b", "how", "message"),
    [
        (Predictions(LABELS), LogisticRegression(), {}, "'b' parameter .* must be Predictions as a is"),
        (LogisticRegression(), Predictions(LABELS), {}, "'b' parameter .* must be a fitted model as a is"),
        (Predictions(LABELS), Predictions(LABELS[1:]), {}, "labels for the 40 rows"),
        (Predictions(LABELS), Predictions(1 - LABELS), {"scoring": "f1"}, "0/1 losses|bounded"),
        (Predictions(LABELS), Predictions(1 - LABELS), {"guess_from": GUESS}, r"\(\(Predictions\(of a\)"),
        (
            Predictions(LABELS), Predictions(1 - LABELS),
            {"guess_from": ((Predictions([0, 1]), Predictions([0])), [0, 1])}, "for the same rows",
        ),
        (
            Predictions(LABELS), Predictions(1 - LABELS),
            {"guess_from": (([0, 1], [1, 0]), [0, 1])}, r"\(\(Predictions\(of a\).*Got 'list'",
        ),
        (
            Predictions(LABELS), Predictions(1 - LABELS),
            {"scoring": "neg_log_loss", "guess_from": PAIR}, "0/1 losses",
        ),
    ],
)  # fmt: skip
def test_bad_pairs_are_refused_before_anything_is_charged(a, b, how, message, uncharged):
    holdout = held(LABELS)
    with uncharged(holdout), pytest.raises(ValueError, match=message):
        holdout.compare(a, b, **{"scoring": "accuracy", "guess": None if "guess_from" in how else 0.0, **how})
