"""However labels and outputs come: scikit-learn's own value, a failure that is charged, or an error before.

Each case says how y comes (its container and its labels) and how the model answers. ``plain`` is what the
answer means as plain arrays, written down here a second time; None where it means nothing that the metric
takes. A fourth outcome, a value that is not scikit-learn's, is what must never be.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import brier_score_loss, f1_score, get_scorer, get_scorer_names, make_scorer

from sklearn_ada import Holdout, MedianSettings, Metric
from sklearn_ada.accounting import FAILURES
from sklearn_ada.holdout.holdout import session_of
from sklearn_ada.mechanisms import UniformGrid
from sklearn_ada.metrics.base import SCORERS
from tests.support.models import stored

N, SUBSAMPLES, STEP = 75, 5, 1e-9
RNG = np.random.default_rng(3)
X = np.arange(N)[:, None]
CODES = RNG.integers(0, 2, N)
PREDICTED = np.where(RNG.random(N) < 0.7, CODES, 1 - CODES)
CHANCE = np.where(PREDICTED == 1, RNG.uniform(0.5, 1.0, N), RNG.uniform(0.0, 0.5, N)).round(2)
CHANCE[:4] = [0.0, 1.0, 1.0, 0.0]  # where scikit-learn clips the logarithm
NUMBERS = RNG.uniform(0.5, 3.0, N).round(1)
CLOSE = (NUMBERS * RNG.uniform(0.8, 1.3, N)).round(1)
MEDIAN = MedianSettings(SUBSAMPLES, UniformGrid(-1000.0, 100.0, 1_100_000_000_001), method="exact")

RESPONSES = {name: each.response for name, each in SCORERS.items() if not each.is_refused}
INSTALLED = [name for name in get_scorer_names() if name not in SCORERS or name in RESPONSES]
BRIER = {"neg_brier_score": lambda *args, **kw: -brier_score_loss(*args, **kw)}
if "d2_brier_score" in INSTALLED:
    from sklearn.metrics import d2_brier_score

    BRIER["d2_brier_score"] = d2_brier_score


class Model(BaseEstimator):
    """Answers with the outputs that it was given, whatever it is asked."""

    def __init__(self, outputs=None, method="predict", classes=None):
        self.outputs, self.method, self.classes = outputs, method, classes
        self.fitted_ = True
        if classes is not None:
            self.classes_ = classes

    def predict(self, X):
        return self.outputs if self.method == "predict" else np.zeros(len(X))

    def __getattr__(self, name):
        if name in ("predict_proba", "decision_function") and name == self.__dict__.get("method"):
            return lambda X: self.outputs
        raise AttributeError(name)


class ClassifierModel(ClassifierMixin, Model):
    """The same of a classifier, of which scikit-learn's scorers take one column."""


def oracle(name, y, plain, method):
    """Return scikit-learn's scorer as a function of row numbers, NaN where it raises an error."""
    classes = np.unique(y)
    if name in BRIER:  # the scorer has no way to be told which word is positive

        def scored(rows):
            return BRIER[name](y[rows], plain[rows, 1], pos_label=classes[1])
    else:
        scorer = make_scorer(f1_score, pos_label=classes[1]) if name == "f1 of one" else get_scorer(name)
        model = stored(plain, None if is_of_numbers(name) else classes, method)

        def scored(rows):
            return scorer(model, rows[:, None], y[rows])

    def value(rows):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                return float(scored(rows))
            except (ValueError, TypeError):
                return np.nan

    return value


def spent(state):
    return state.account.nats


def is_of_numbers(name):
    return name in RESPONSES and RESPONSES[name].target == "numbers"


def form_of(name):
    return "labels" if name == "f1 of one" else RESPONSES[name].form


def objects(values):
    return np.array(list(values), dtype=object)


WORDS = np.array(["no", "yes"])
# How y comes: what is given, the plain labels of codes 0 and 1 (None where it is refused).
CLASSES = {
    "array": (lambda c: c, np.array([0, 1])),
    "list": (np.ndarray.tolist, np.array([0, 1])),
    "Series": (pd.Series, np.array([0, 1])),
    "objects": (objects, np.array([0, 1])),
    "nullable": (lambda c: pd.Series(c, dtype="Int64"), np.array([0, 1])),
    "categories": (lambda c: pd.Series(c, dtype="category"), np.array([0, 1])),
    "whole floats": (lambda c: c.astype(float), np.array([0.0, 1.0])),
    "bools": (lambda c: c == 1, np.array([False, True])),
    "from one": (lambda c: c + 1, np.array([1, 2])),
    "signs": (lambda c: 2 * c - 1, np.array([-1, 1])),
    "words": (lambda c: WORDS[c], WORDS),
    "objects of text": (lambda c: objects(WORDS[c].tolist()), WORDS),
    "string dtype": (lambda c: pd.Series(WORDS[c], dtype="string"), WORDS),
    "categories of text": (lambda c: pd.Series(WORDS[c], dtype="category"), WORDS),
    "fractions": (lambda c: c + 0.5, None),
    "bytes": (lambda c: WORDS[c].astype("S"), None),
    "a column": (lambda c: c[:, None], None),
    "a frame": (lambda c: pd.DataFrame({"y": c}), None),
    "a sparse column": (lambda c: sparse.csr_array(c[:, None]), None),
    "two columns": (lambda c: np.c_[c, c], None),
    "missing": (lambda c: np.where(c == 1, np.nan, 0.0), None),
    "nullable, missing": (lambda c: pd.Series(c, dtype="Int64").replace(1, pd.NA), None),
    "masked": (lambda c: np.ma.masked_array(c, c == 1), None),
}
MANY = ("array", "words")  # with every answer; others with a few
FEW = ("array", "column", "objects", "third label", "fractions", "(n, 2)", "(n,)", "(n, 1)")


def in_containers(p, column="column"):
    """Yield (name, outputs, what they mean) of plain outputs in each container."""
    yield "array", p, p
    yield "list", p.tolist(), p
    yield column, p[:, None], p
    yield "Series", pd.Series(p), p
    yield "frame", pd.DataFrame({"outputs": p}), p
    yield "objects", objects(p.tolist()), p


def misshapen(p):
    yield "two columns", np.c_[p, p], None
    yield "three dimensions", p[:, None, None], None
    yield "too few", p[:-1], None


def labels_of(labels):
    """Yield (name, what predict returns, the labels that it means or None)."""
    p, other = labels[PREDICTED], "maybe" if labels.dtype.kind == "U" else 7
    third = np.array([*p[:-1].tolist(), other])
    yield from in_containers(p)
    yield "column of objects", objects(p.tolist())[:, None], p
    yield "categories", pd.Series(p, dtype="category"), p
    yield "third label", third, third
    yield "column of three labels", third[:, None], third
    if labels.dtype.kind in "iu":
        yield "whole floats", p.astype(float), p
        yield "bools", p == labels[1], p if labels.tolist() == [0, 1] else (p == labels[1])
        yield "nullable", pd.Series(p, dtype="Int64"), p
        yield "nullable, missing", pd.Series(p, dtype="Int64").replace(int(labels[1]), pd.NA), None
        yield "fractions", p + 0.25, None
        yield "NaN", np.where(PREDICTED == 1, np.nan, 0.0), None
        yield "infinite", np.where(PREDICTED == 1, np.inf, 0.0), None
        yield "huge", np.where(PREDICTED == 1, 1e300, 0.0), None
    if labels.dtype.kind == "U":
        yield "string dtype", pd.Series(p, dtype="string"), p
        yield "bytes", p.astype("S"), None
    yield "text or numbers", PREDICTED if labels.dtype.kind == "U" else PREDICTED.astype(str), None
    yield "mixed", objects([*p[:-1].tolist(), 3 if labels.dtype.kind == "U" else "3"]), None
    yield "None", objects([*p[:-1].tolist(), None]), None
    yield "sparse column", sparse.csr_array(PREDICTED[:, None]), None
    yield from misshapen(p)
    yield "a scalar", p[0], None
    yield "ragged", [[1], [1, 2], *([[1]] * (N - 2))], None
    yield "masked", np.ma.masked_array(p, PREDICTED == 1), None
    yield "complex", PREDICTED + 1j, None


def numbers_of(y):
    p = CLOSE
    yield from in_containers(p)
    yield "nullable", pd.Series(p, dtype="Float64"), p
    yield "single precision", p.astype(np.float32), p.astype(np.float32)
    yield "bytes of eight bits", np.ceil(p).astype(np.uint8), np.ceil(p)
    yield "bools", p > 0, np.ones(N)
    yield "negative", -p, -p
    yield "NaN", np.where(PREDICTED == 1, np.nan, p), None
    yield "infinite", np.where(PREDICTED == 1, np.inf, p), None
    yield "text", p.astype(str), None
    yield "missing", pd.Series(p, dtype="Float64").replace(p[0], pd.NA), None
    yield "sparse column", sparse.csr_array(p[:, None]), None
    yield from misshapen(p)
    yield "complex", p + 1j, None


def probabilities_of(labels):
    two = np.stack([1 - CHANCE, CHANCE], axis=1)
    off = two * [[1.0, 0.8]]
    yield "(n, 2)", two, two
    yield "lists", two.tolist(), two
    yield "frame", pd.DataFrame(two, columns=["a", "b"]), two
    yield "objects", two.astype(object), two
    yield "single precision", two.astype(np.float32), two.astype(np.float32)
    yield "certain", (two > 0.5).astype(int), (two > 0.5).astype(float)
    yield "(n,)", CHANCE, two
    yield "sums of less than one", off, off
    yield "(n, 1)", CHANCE[:, None], None
    yield "(n, 3)", np.c_[two / 2, CHANCE / 2 + 0.25], None
    yield "(n, 2, 1)", two[:, :, None], None
    yield "NaN", np.where(two == two[5, 1], np.nan, two), None
    yield "above one", two * 3 - 1, two * 3 - 1
    yield "text", two.astype(str), None
    yield "sparse", sparse.csr_array(two), None
    yield "too few", two[:-1], None


def decisions_of(labels):
    d = np.round(2 * CHANCE - 1, 2)
    yield "(n,)", d, d
    yield from in_containers(d, column="(n, 1)")
    yield "whole numbers", np.sign(d).astype(int), np.sign(d).astype(int)
    yield "(n, 2)", np.c_[-d, d], None
    yield "NaN", np.where(PREDICTED == 1, np.nan, d), None
    yield "infinite", np.where(PREDICTED == 1, np.inf, d), None
    yield "text", d.astype(str), None
    yield "too few", d[:-1], None


# Numbers as y: what is given, and the plain numbers (None where it is refused).
TARGETS = {
    "array": (NUMBERS, NUMBERS),
    "list": (NUMBERS.tolist(), NUMBERS),
    "Series": (pd.Series(NUMBERS), NUMBERS),
    "objects": (objects(NUMBERS.tolist()), NUMBERS),
    "nullable": (pd.Series(NUMBERS, dtype="Float64"), NUMBERS),
    "single precision": (NUMBERS.astype(np.float32), NUMBERS.astype(np.float32)),
    "integers": (np.ceil(NUMBERS).astype(int), np.ceil(NUMBERS)),
    "bytes of eight bits": (np.floor(NUMBERS).astype(np.uint8) + 1, np.floor(NUMBERS) + 1),
    "bools": (NUMBERS > 0, np.ones(N)),
    "text": (NUMBERS.astype(str), None),
    "a column": (NUMBERS[:, None], None),
    "a frame": (pd.DataFrame({"y": NUMBERS}), None),
    "missing": (np.where(CODES == 1, np.nan, NUMBERS), None),
    "complex": (NUMBERS + 1j, None),
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """The holdout of some y, with a ledger of its own; None where it is refused."""
    made, folder = {}, tmp_path_factory.mktemp("ledgers")

    def of(kind, how, y):
        if (kind, how) not in made:
            try:
                made[kind, how] = Holdout(X, y, ledger=folder / f"{len(made)}.db", random_state=0)
            except ValueError:
                made[kind, how] = None
        return made[kind, how]

    return of


SOME = ("array", "objects of text", "from one", "fractions", "a column", "missing")


def cases(name, route):
    """Yield how y comes, y, plain y; how it is answered, the method, the outputs, the plain outputs."""
    if is_of_numbers(name):
        for how, (y, plain_y) in TARGETS.items():
            for answer, outputs, plain in numbers_of(y):
                few = answer in ("column", "bytes of eight bits") and (route == "interval" or how in SOME)
                if how == "array" or few:
                    yield how, y, plain_y, answer, "predict", outputs, plain
        return
    for how, (given, labels) in CLASSES.items():
        vocabulary = np.array([0, 1]) if labels is None else labels
        plain_y = None if labels is None else labels[CODES]
        ways = {"predict": labels_of}
        if form_of(name) != "labels":
            ways = {"predict_proba": probabilities_of}
            if "decision_function" in RESPONSES[name].methods:
                ways["decision_function"] = decisions_of
        for method, outputs_of in ways.items():
            for answer, outputs, plain in outputs_of(vocabulary):
                if route == "median" and (how not in SOME or (how != "array" and answer not in FEW)):
                    continue
                if how in MANY or answer in FEW:
                    yield how, given(CODES), plain_y, answer, method, outputs, plain


EXPECTED = {}
ALIKE = {f"{name}_micro" for name in ("f1", "precision", "recall")} | {"recall_weighted"}  # the accuracy
ALIKE |= {"roc_auc_ovo_weighted", "roc_auc_ovr_weighted"}  # outputs are read as for the plain averages


def allowed_range(name):
    lacks_range = name != "f1 of one" and not Metric(name).range and Metric(name).lacks_range
    return (-900, int(name[:3] == "d2_")) if lacks_range else None


@pytest.mark.parametrize("route", ["interval", pytest.param("median", marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    "name",
    [
        *(name for name in [*INSTALLED, "f1 of one"] if name not in ALIKE),
        *(pytest.param(name, marks=pytest.mark.thorough) for name in sorted(ALIKE)),
    ],
)
def test_an_answer_is_scikit_learns_or_none(name, route, opened):
    plainly_answered = total = 0
    for how, y, plain_y, answer, method, outputs, plain in cases(name, route):
        holdout = opened(is_of_numbers(name), how, y)
        case = f"{name}: y {how}, {method} {answer}"
        if holdout is None:
            assert plain_y is None, case
            continue
        classes = None if is_of_numbers(name) else np.unique([0, 1] if plain_y is None else plain_y)
        positive = None if name != "f1 of one" else classes[1].item()
        metric = Metric(name.split()[0], pos_label=positive, range=allowed_range(name))
        if route == "interval" and not metric.has_interval:
            return
        expected = np.nan
        if plain is not None and plain_y is not None:
            key = (name, route, method, *(of.dtype.str + str(of.tolist()) for of in (plain_y, plain)))
            if key not in EXPECTED:  # all holdouts have the same subsamples
                EXPECTED[key] = expected_value(holdout, oracle(name, plain_y, plain, method), route)
            expected = EXPECTED[key]
        total += 1
        before = holdout.ledger.read(spent)
        model = (Model if classes is None else ClassifierModel)(outputs, method, classes)
        guess = None if route == "median" else expected if np.isfinite(expected) else metric.range[1]
        settings = MEDIAN if route == "median" else STEP
        try:
            found = holdout.check(model, scoring=metric, guess=guess, settings=settings)
        except (ValueError, TypeError):
            assert holdout.ledger.read(spent) == before, case
            continue
        if found.verdict == "failed":
            assert found.reason in FAILURES, case
            assert found.cost.nats > 0, case
            continue
        assert np.isfinite(expected), f"{case}: scikit-learn has no value, and {found.value} was answered"
        single = np.float32 in (plain.dtype, plain_y.dtype)  # in which scikit-learn computes, then
        assert found.value == pytest.approx(expected, abs=2 * STEP, rel=1e-4 if single else 1e-7), case
        if route == "interval" and not single:
            assert found.verdict == "agrees", case
        plainly_answered += 1
    assert plainly_answered >= 8, f"{plainly_answered} of {total} answered"


def expected_value(holdout, value, route):
    """Return scikit-learn's value on the holdout, or the median over its very subsamples."""
    if route == "interval":
        return value(np.arange(N))
    rows = session_of(holdout).partition(SUBSAMPLES, stratify=False)
    values = np.array([value(block) for block in rows])
    if 2 * np.isnan(values).sum() >= len(values):
        return np.nan
    return float(np.sort(np.where(np.isnan(values), -1000.0, values))[SUBSAMPLES // 2])
