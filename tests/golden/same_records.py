"""Print every record of fixed sessions, so that two states of the code can be compared byte by byte.

``python tests/golden/same_records.py > FILE``, run in two checkouts, must write the same file. Only public
names are used, so that the sessions run in old and in new states. All that is random, and the time, is
replaced. ``--portable`` leaves out what depends on the processor or on versions of Python and of libraries:
the last digits of floats, hashes of such digits, and sessions with code of one's own, which is known by its
bytecode. With names, only these sessions run.
"""

import argparse
import contextlib
import datetime
import functools
import hashlib
import io
import itertools
import json
import os
import pathlib
import re
import secrets
import sys
import tempfile
import uuid
import warnings

import numpy as np
import scipy
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.model_selection import GridSearchCV, PredefinedSplit, RandomizedSearchCV

HELD, ROWS = 300, 480
SESSIONS, OF_OWN_CODE = {}, set()
IN_FULL = ("answers_of_each_kind", "exhausted", "rows_with_ids")  # with what is printed of their ledgers
_HASH = re.compile(r"\b([0-9a-f]{6})[0-9a-f]{26,}\b")
_LONG = re.compile(r"\d+\.\d{7,}(?:e[+-]?\d+)?|\d\.\d+e[+-]?\d+|\d+e-\d+")


# What is random is counted instead


class _Counted:
    """Bytes that are the same in every run: of each length one sequence, begun anew for every ledger."""

    def __init__(self):
        self.begin(0)

    def begin(self, ledger):
        """Begin the sequences of a ledger, whatever was drawn for others."""
        self.ledger, self.counts = ledger, {}

    def __call__(self, length=32):
        number = self.counts[length] = self.counts.get(length, 0) + 1
        return hashlib.shake_256(f"{self.ledger}: {length} bytes, {number}".encode()).digest(length)


class _Kind(type):
    def __instancecheck__(cls, value):
        return isinstance(value, cls.__mro__[1])


class _Stopped(datetime.datetime, metaclass=_Kind):
    """A clock that stands."""

    @classmethod
    def now(cls, tz=None):
        return cls.__mro__[1](2030, 1, 1, 12, 30, tzinfo=tz)

    @classmethod
    def utcnow(cls):
        return cls.now()


COUNTED = _Counted()


def replace_what_is_random():
    """Replace random bytes, names and the clock for good, before the package is imported."""
    os.urandom = secrets.token_bytes = COUNTED
    uuid.uuid4 = lambda: uuid.UUID(bytes=COUNTED(16), version=4)
    datetime.datetime = _Stopped
    for library in (np, scipy, sklearn):
        library.__version__ = "1.0"  # is a part of what questions and models are known by
    with contextlib.suppress(ImportError):
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        X25519PrivateKey.generate = staticmethod(lambda: X25519PrivateKey.from_private_bytes(COUNTED(32)))


if __name__ == "__main__":  # pytest imports this module, too
    replace_what_is_random()
    sys.path.insert(0, str(pathlib.Path.cwd()))

from sklearn_ada import (  # noqa: E402
    Guess,
    Holdout,
    HoldoutBudgetDisplay,
    LadderScorer,
    LadderSettings,
    MedianSettings,
    Metric,
    NoiseSettings,
    Predictions,
    ReusableHoldoutCV,
    StableHoldoutScorer,
    ThresholdoutScorer,
    plan_holdout,
)
from sklearn_ada.cli import main as command  # noqa: E402

CELLS = "coarse"  # what answers in cells are called
try:
    Holdout([[0.0], [1.0]], [0, 1], ledger=":memory:", answers=CELLS)
except ValueError:  # as in the first release
    CELLS = "cells"

# Rows and models, in whole numbers and eighths, of which sums are exact in any order


def bits(name, *shape):
    """Return whole numbers from 0 to 255 that belong to a name."""
    octets = hashlib.shake_256(name.encode()).digest(int(np.prod(shape)))
    return np.frombuffer(octets, dtype=np.uint8).reshape(shape).astype(np.int64)


X = (bits("columns", ROWS, 6) - 128.0) / 8
NOISE = (bits("noise", ROWS) - 128.0) / 8
TWO = (X[:, 0] + 0.5 * X[:, 1] + NOISE > 0).astype(int)
THREE = np.where(X[:, 2] + NOISE > 6, 2, TWO)
WORDS = np.array(["no", "yes"])[TWO]
NUMBERS = 60.0 + X[:, 0] + NOISE / 2
WEIGHTS = 1.0 + bits("weights", ROWS) % 4
GROUPS = np.arange(ROWS) // 3
H, O = slice(0, HELD), slice(HELD, ROWS)  # noqa: E741


def classifier(name, labels=TWO, scale=0.125):
    """Return a linear classifier with whole coefficients, of a class of scikit-learn."""
    model = LinearDiscriminantAnalysis()
    model.classes_ = np.unique(labels)
    some = bits(name, 3, X.shape[1]) % 5 - 2.0
    some[0, 0] += 3
    if len(model.classes_) == 2:
        model.coef_, model.intercept_ = scale * some[:1], np.zeros(1)
    else:
        some[0] *= -1
        model.coef_, model.intercept_ = scale * some, np.array([0.0, 0.0, -0.5])
    model.n_features_in_ = X.shape[1]
    return model


def regressor(name):
    """Return a linear model of numbers, likewise."""
    model = Ridge()
    model.coef_ = (bits(name, X.shape[1]) % 3 - 1.0) / 4 + np.eye(X.shape[1])[0]
    model.intercept_, model.n_features_in_ = 60.0 + len(name) / 4, X.shape[1]
    return model


def broken(labels=TWO):
    """Return a model that fails on all rows, for it has a column too many."""
    model = classifier("broken", labels)
    model.coef_ = np.ones((len(model.coef_), X.shape[1] + 1))
    return model


# A session and what is written of it


class Notes:
    """The ledgers of a session, which stand in a folder, and what was answered."""

    def __init__(self, folder):
        self.folder, self.holdouts, self.lines = folder, [], []
        self._numbers = itertools.count()

    def path(self):
        """Return where the next ledger is."""
        return f"{self.folder}/{next(self._numbers)}.db"

    def holdout(self, y=TWO, **options):
        """Return a holdout on a ledger of its own."""
        given = {"random_state": 7, "who": "ada", "ledger": self.path(), **options}
        COUNTED.begin(len(self.holdouts))
        self.holdouts.append(Holdout(X[H], y[H], **given))
        return self.holdouts[-1]

    def search(self, y=TWO, *, inner=None, given=None, **options):
        """Return a fitted search, or None where it raises."""
        inner = clone(INNER if inner is None else inner)
        if options.get("ask") == "candidates":
            inner.set_params(cv=None)
        place = {"ledger": self.path(), "random_state": 3} if given is None else {"holdout": given}
        wrapped = ReusableHoldoutCV(inner, who="ada", **place, **options)
        rows = slice(0, ROWS) if given is None else O
        found = self.ask(wrapped.fit, X[rows], y[rows])
        if found is None:
            return None
        self.note(getattr(found, "answers_", ()), found.best_index_, getattr(found, "best_score_", None))
        if given is None:
            self.holdouts.append(found.holdout_)
        return found

    def ask(self, method, /, *args, **options):
        """Return what a method returns, or None where it raises; note both."""
        try:
            result = method(*args, **options)
        except Exception as error:
            self.lines.append({"error": type(error).__name__})
            return None
        self.note(result)
        return result

    def publish(self, holdout, model, **how):
        """Publish a model of a holdout; in the first release a word to `certify` did."""
        first = functools.partial(holdout.certify, final=True)
        return self.ask(getattr(holdout, "publish", first), model, **how)

    def note(self, *results):
        """Write down what was returned."""
        self.lines.append({"returned": plain(results)})

    def finished(self):
        """Return all lines: answers, records, what the commands print of them, and certificates."""
        for number, holdout in enumerate(self.holdouts):
            for record in holdout.ledger.records():
                line = {"ledger": number, "seq": record.seq, "key": record.key}
                self.lines.append({**line, "body": dict(record.body)})
            path = getattr(holdout.ledger, "path", None)
            for action in ("show", "report", "verify") if path else ():
                self.lines += [{f"ledger {number}": line} for line in printed(action, os.fspath(path))]
            target = pathlib.Path(self.folder, "certificate.json")
            if self.ask(holdout.export, target) is not None:
                self.lines.append({"certificate": json.loads(target.read_text())})
        return self.lines


OF_ANSWERS = ("value", "interval", "verdict", "target", "index", "levels", "reason", "repeated", "published")


def plain(result):
    """Return what a method returned as content for JSON."""
    if isinstance(result, (list, tuple)):
        return [plain(one) for one in result]
    if hasattr(result, "verdict"):
        found = {name: getattr(result, name) for name in OF_ANSWERS}
        return found | {"nats": result.cost.nats, "summary": result.summary}
    if isinstance(result, (np.integer, np.floating)):
        return result.item()
    as_it_is = result is None or isinstance(result, (bool, int, float, str, dict))
    return result if as_it_is else type(result).__name__


def printed(action, path):
    """Return the lines that a command about a ledger prints."""
    how = {"show": ["--csv"], "report": ["--json"], "verify": []}[action]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = command(["ledger", action, path, *how])
    text = (out.getvalue() + err.getvalue()).replace(path, "FILE")
    return [f"{action} {status}", *text.splitlines()]


def session(of_own_code=False):
    """Register a session under the name of its function."""

    def register(function):
        SESSIONS[function.__name__] = function
        if of_own_code:
            OF_OWN_CODE.add(function.__name__)
        return function

    return register


# The sessions

COARSE, EXACT, PRICED = {"answers": CELLS}, {"answers": "exact"}, {"class_mix": "priced"}
WEIGHTED, GROUPED = {"sample_weight": WEIGHTS[H]}, {"groups": GROUPS[H]}
PRIVATE, BOTH = {"route": "differential_privacy"}, {"route": "both"}
OTHER = (X[O], TWO[O])
AVERAGED = [
    f"{name}_{how}"
    for name in ("f1", "jaccard", "precision", "recall")
    for how in ("macro", "weighted", "micro")
]
OF_TWO = [
    "accuracy", "balanced_accuracy", "f1", "jaccard", "precision", "recall", "roc_auc", "average_precision",
    "neg_brier_score", "neg_log_loss", "matthews_corrcoef", *AVERAGED,
]  # fmt: skip
OF_THREE = [
    "accuracy", "balanced_accuracy", "neg_log_loss", "top_k_accuracy", "matthews_corrcoef", *AVERAGED,
    "roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted", "roc_auc_ovo_weighted",
]  # fmt: skip
OF_NUMBERS = [
    "neg_mean_absolute_error", "neg_mean_absolute_percentage_error", "neg_mean_gamma_deviance",
    "neg_mean_poisson_deviance", "neg_mean_squared_error", "neg_mean_squared_log_error",
    "neg_root_mean_squared_error", "neg_root_mean_squared_log_error", "r2", "d2_absolute_error_score",
    "neg_median_absolute_error",
]  # fmt: skip


def certify_each(notes, names, y=TWO, model="a", **options):
    """Ask a new holdout for each metric with a number as the guess, with rows, and once more."""
    numbers, rows, holdout = y is NUMBERS, (X[O], y[O]), notes.holdout(y, **options)
    model = regressor(model) if numbers else classifier(model, y)
    for name in names:
        guess = -0.4 if name.startswith("neg") else 0.6
        if not numbers:
            notes.ask(holdout.check, model, scoring=name, guess=guess)
        for scoring in (name, Metric(name, range=(-40.0, 0.0))) if numbers else (name,):
            notes.ask(holdout.certify, model, scoring=scoring, guess=10 * guess if numbers else guess)
            notes.ask(holdout.certify, model, scoring=scoring, guess_from=rows)
            notes.ask(holdout.certify, model, scoring=scoring, guess_from=rows)


@session()
def metrics_of_two_classes(notes):
    certify_each(notes, OF_TWO)


@session()
def metrics_of_words(notes):
    holdout, model = notes.holdout(WORDS), classifier("a", WORDS)
    for name in ("f1", "jaccard", "precision", "recall", "average_precision"):
        metric = Metric(name, pos_label="yes")
        notes.ask(holdout.certify, model, scoring=metric, guess_from=(X[O], WORDS[O]))
        notes.ask(holdout.certify, model, scoring=name, guess=0.6)
    notes.ask(holdout.certify, model, scoring="accuracy", guess=0.6)


@session()
def metrics_of_three_classes(notes):
    certify_each(notes, OF_THREE, THREE)


@session()
def metrics_of_numbers(notes):
    certify_each(notes, OF_NUMBERS, NUMBERS)


@session()
def metrics_at_priced_classes(notes):
    certify_each(notes, OF_TWO[:10], **PRICED)
    certify_each(notes, OF_THREE[:6], THREE, "b", **PRICED)


@session()
def metrics_with_weights(notes):
    for options in (WEIGHTED, {**WEIGHTED, "weight_bound": 4.0}):
        certify_each(notes, OF_TWO[:10], **options)
        certify_each(notes, OF_NUMBERS[:5], NUMBERS, **options)


@session()
def metrics_with_groups(notes):
    certify_each(notes, OF_TWO[:10], **GROUPED)
    certify_each(notes, OF_NUMBERS[:5], NUMBERS, **GROUPED)
    certify_each(notes, OF_TWO[:3], **GROUPED, **WEIGHTED)


@session()
def metrics_without_intervals(notes):
    numbers, two = notes.holdout(NUMBERS), notes.holdout()
    for name in ("explained_variance", "neg_max_error"):
        notes.ask(numbers.certify, regressor("a"), scoring=name, guess=0.3)
        notes.ask(numbers.certify, regressor("a"), scoring=name, settings=MedianSettings())
        notes.ask(numbers.check, regressor("a"), scoring=Metric(name, kind="general"))
    for name in ("adjusted_rand_score", "positive_likelihood_ratio", "f1_samples", "no_such_scorer"):
        notes.ask(two.certify, classifier("a"), scoring=name, guess=0.3)
        notes.ask(two.certify, classifier("a"), scoring=name, settings=MedianSettings(n_subsamples=20))
    notes.ask(two.certify, classifier("a"), scoring=make_scorer(fbeta_score, beta=2))


def ask_many(notes, holdout, y=TWO, count=12, scoring="accuracy"):
    """Check and certify by turns; every third question is a repetition."""
    for number in range(count):
        model = classifier(f"model {number - number % 3 // 2}", y)
        guess = 0.5 + bits(f"guess {number}", 1)[0] / 600
        method = holdout.certify if number % 4 == 3 else holdout.check
        notes.ask(method, model, scoring=scoring, guess=float(guess))
    return notes.ask(holdout.certify, classifier("model 0", y), scoring=scoring, guess_from=(X[O], y[O]))


def certify_four(notes, holdout, letter):
    """Return the answers about four models."""
    models = [classifier(f"{letter}{k}") for k in range(4)]
    return [notes.ask(holdout.certify, model, scoring="accuracy", guess_from=OTHER) for model in models]


@session()
def answers_of_each_kind(notes):
    """Publish, unseal and close, of answers that are exact or coarse."""
    for answers in ("exact", CELLS, "auto", None):
        holdout = notes.holdout(answers=answers, expected_questions=20)
        sealed = certify_four(notes, holdout, "s")
        ask_many(notes, holdout)
        notes.ask(holdout.remaining)
        notes.ask(holdout.remaining, "f1", purpose="check")
        for name, scoring in (("s1", "accuracy"), ("s1", "accuracy"), ("s2", "recall")):
            notes.publish(holdout, classifier(name), scoring=scoring, guess=0.7)
        notes.ask(holdout.unseal, sealed[0])
        notes.ask(holdout.unseal, [sealed[1], sealed[0].index])
        ask_many(notes, holdout, count=2)
        notes.ask(holdout.unseal)
        notes.ask(holdout.close)
        notes.ask(holdout.close)
        notes.ask(holdout.unseal)
        ask_many(notes, holdout, count=3)
        notes.publish(holdout, classifier("s3"), scoring="accuracy", guess=0.7)


@session()
def cells_of_each_form(notes):
    """Ask for coarse answers where values are sealed and where they are not."""
    for options in (WEIGHTED, GROUPED, PRICED, {"tolerance": 0.12}, {"confidence_level": 0.8}):
        holdout = notes.holdout(answers=CELLS, **options)
        for name in ("accuracy", "balanced_accuracy", "recall", "f1", "roc_auc"):
            notes.ask(holdout.certify, classifier(name), scoring=name, guess_from=OTHER)
            notes.ask(holdout.certify, classifier(name), scoring=name, guess=0.9)
        notes.publish(holdout, classifier("recall"), scoring="accuracy", guess=0.6)
        notes.publish(holdout, classifier("accuracy"), scoring="accuracy", guess_from=OTHER)
        notes.ask(holdout.compare, classifier("a"), classifier("b"), scoring="accuracy")


@session()
def values_sealed_with_a_key(notes):
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    private, other = (X25519PrivateKey.from_private_bytes(bytes([k]) * 32) for k in (1, 2))
    holdout = notes.holdout(answers=CELLS, seal_key=private.public_key())
    first, *_ = certify_four(notes, holdout, "k")
    notes.ask(holdout.unseal, first)
    notes.ask(holdout.unseal, first, key=other)
    notes.ask(holdout.unseal, first, key=private)
    notes.ask(holdout.certify, classifier("k1"), scoring="accuracy", guess=0.6)
    notes.publish(holdout, classifier("k1"), scoring="accuracy", guess=0.6)
    notes.ask(holdout.close)
    notes.ask(holdout.unseal, key=private)
    notes.ask(Holdout, X[H], TWO[H], ledger=holdout.ledger.path, seal_key=other.public_key())


@session()
def routes(notes):
    settings = MedianSettings(n_subsamples=20)
    for route in (PRIVATE, BOTH):
        for y, scoring in ((TWO, "accuracy"), (THREE, "balanced_accuracy"), (TWO, "roc_auc"), (TWO, "f1")):
            a, b, c = (classifier(k, y) for k in "abc")
            holdout = notes.holdout(y, expected_questions=30, **route, **EXACT)
            ask_many(notes, holdout, y, count=8, scoring=scoring)
            notes.ask(holdout.remaining, scoring)
            notes.ask(holdout.select, [a, b, c], scoring=scoring)
            notes.ask(holdout.certify, a, scoring=scoring, settings=settings)
            notes.ask(holdout.compare, a, b, scoring="accuracy")
            notes.ask(holdout.check, broken(y), scoring=scoring, guess=0.5)
            ask_many(notes, holdout, y, count=3, scoring=scoring)


@session()
def rows_with_ids(notes):
    """Shuffle, drop, add and relabel rows."""
    numbers = 1000 + 7 * np.arange(HELD)
    dates = np.datetime64("2024-01-01") + np.arange(HELD)
    order = np.argsort(bits("order", HELD), kind="stable")
    few, most, last = order[:200], order[:280], order[280:]
    for ids in (numbers, numbers.astype(str), dates, numbers // 3):
        options = {"ledger": notes.path(), "random_state": 7, "who": "ada", **EXACT}
        notes.holdouts.append(Holdout(X[few], TWO[few], ids=ids[few], **options))
        ask_many(notes, notes.holdouts[-1], count=4)
        if grown := notes.ask(Holdout, X[most], TWO[most], ids=ids[most], **options):
            ask_many(notes, grown, count=4)
            if whole := notes.ask(grown.top_up, X[last], TWO[last], ids=ids[last]):
                ask_many(notes, whole, count=4)
        notes.ask(Holdout, X[few], TWO[few], ids=ids[few], **options)
        if left := notes.ask(Holdout, X[few], TWO[few], ids=ids[few], missing="ignore", **options):
            ask_many(notes, left, count=4)
        changed = TWO[H].copy()
        changed[::50] = 1 - changed[::50]
        if relabelled := notes.ask(Holdout, X[H], changed, ids=ids, **options):
            ask_many(notes, relabelled, count=4)
            notes.holdouts[-1] = relabelled
        notes.ask(Holdout, X[H], changed, ids=ids + 1 if ids is numbers else ids[::-1], **options)


@session()
def rows_added(notes):
    """Add rows without ids, and compare training rows."""
    for options in ({}, COARSE, PRICED, {**BOTH, **EXACT}):
        holdout = notes.holdout(**options)
        ask_many(notes, holdout, count=4)
        notes.ask(holdout.check_overlap, X[O].copy())
        notes.ask(holdout.check_overlap, X[O].copy())
        larger = notes.ask(holdout.top_up, X[O][:100], TWO[O][:100]) or holdout
        ask_many(notes, larger, count=4)
        ask_many(notes, holdout, count=4)
        notes.ask(holdout.top_up, X[O][:100], TWO[O][:100])
        notes.ask(holdout.top_up, X[O][100:], TWO[O][100:])
        notes.ask(larger.top_up, X[H], TWO[H])
        notes.ask(larger.check_overlap, X.copy())
        ask_many(notes, larger, count=4)
        notes.ask(larger.close)
        notes.ask(larger.check_overlap, X[::2].copy())


@session()
def declared(notes):
    """Declare models before the first question, and ask about others, too."""
    for y, scoring in ((TWO, "accuracy"), (TWO, "roc_auc"), (THREE, "balanced_accuracy"), (TWO, "f1")):
        for options in (EXACT, COARSE):
            holdout, models = notes.holdout(y, **options), [classifier(f"model {k}", y) for k in range(6)]
            notes.ask(holdout.declare, [models[0], models[0]], scoring=scoring)
            notes.ask(holdout.declare, models, scoring=scoring)
            ask_many(notes, holdout, y, count=8, scoring=scoring)
            notes.ask(holdout.declare, models, scoring=scoring)


@session()
def rounds(notes):
    """Check models together."""
    models = [classifier(f"model {k}") for k in range(5)]
    guesses = [0.55, 0.6, 0.7, 0.8, 0.5]
    for options in ({}, {"tolerance": 0.15}, BOTH, PRIVATE, COARSE):
        check = notes.holdout(**options).check_many
        for scoring, settings in (("accuracy", None), ("f1", None), ("accuracy", 0.05), ("roc_auc", None)):
            for guess in ({"guesses": guesses}, {"guess_from": OTHER}, {"guesses": guesses}):
                notes.ask(check, models, scoring=scoring, settings=settings, **guess)
        notes.ask(check, models, scoring="accuracy", guesses=guesses, settings="fill")
        notes.ask(check, [*models[:2], broken()], scoring="accuracy", guesses=guesses[:3])
        notes.ask(check, models, scoring="accuracy")


SCORERS = [
    (LadderScorer, {}), (LadderScorer, {"step": 0.02}),
    (ThresholdoutScorer, {}), (ThresholdoutScorer, {"threshold": 0.04}),
    (ThresholdoutScorer, {"threshold": "fill"}), (ThresholdoutScorer, {"noise": "laplace"}),
    (ThresholdoutScorer, {"noise": "laplace", "max_hits": 2, "threshold": 0.02}),
    (ThresholdoutScorer, {"noise": "gaussian", "threshold": 0.04}),
    (ThresholdoutScorer, {"noise": "gaussian", "noise_scale": 0.01}),
    (StableHoldoutScorer, {}), (StableHoldoutScorer, {"method": "binary_search"}),
    (StableHoldoutScorer, {"method": "exact"}), (StableHoldoutScorer, {"n_subsamples": 20, "stratify": True}),
    (StableHoldoutScorer, {"epsilon": 0.5}),
]  # fmt: skip


@session()
def scorers(notes):
    for (kind, settings), options in itertools.product(SCORERS, (EXACT, BOTH, {"tolerance": 0.2})):
        scorer = notes.ask(kind, "accuracy", notes.holdout(**options), **settings)
        if scorer is None:
            continue
        for number in range(8):
            model = broken() if number == 5 else classifier(f"model {number - number % 3 // 2}")
            notes.ask(scorer.answer, model, X[O], TWO[O])
        notes.ask(scorer, classifier("last"), X[O], TWO[O])


@session()
def medians(notes):
    """Draw stable medians in each way."""
    settings = [
        MedianSettings(), MedianSettings(method="binary_search"), MedianSettings(method="exact"),
        MedianSettings(n_subsamples=30, epsilon=0.3), MedianSettings(n_subsamples=15, stratify=True),
    ]  # fmt: skip
    for options in ({}, GROUPED, WEIGHTED, BOTH, {"tolerance": 0.3}):
        holdout = notes.holdout(**options)
        for one, name in itertools.product(settings, ("accuracy", "f1_macro", "matthews_corrcoef")):
            notes.ask(holdout.certify, classifier("a"), scoring=name, settings=one)
            notes.ask(holdout.check, classifier("b"), scoring=name, guess=0.6, settings=one)
            notes.ask(holdout.certify, classifier("a"), scoring=name, settings=one)
    certify, rows = notes.holdout(NUMBERS).certify, (X[O], NUMBERS[O])
    for one, name in itertools.product(settings, ("r2", "neg_mean_absolute_error")):
        notes.ask(certify, regressor("a"), scoring=name, guess_from=rows, settings=one)
        notes.ask(certify, regressor("b"), scoring=name, guess=-0.5, settings=one)


@session()
def settings_of_questions(notes):
    """Name mechanisms in questions."""
    settings = [
        None, 0.03, "fill", LadderSettings(), LadderSettings(0.01), NoiseSettings("laplace"),
        NoiseSettings("gaussian", threshold=0.05), NoiseSettings("laplace", 0.01, 3, 0.05), MedianSettings(),
    ]  # fmt: skip
    guesses = (0.6, Guess(0.7, size=180), Guess(0.65, size=180, deviation=0.45), 0.6)
    for options in (EXACT, BOTH, PRIVATE, {"tolerance": 0.1}):
        check = functools.partial(notes.ask, notes.holdout(**options).check)
        for (number, one), guess in itertools.product(enumerate(settings), guesses):
            check(classifier(f"m{number}"), scoring="accuracy", guess=guess, settings=one)
        for how in ({}, {"guess": 1.5}, {"guess": 0.5, "settings": "wide"}):
            check(classifier("a"), scoring="accuracy", **how)


@session()
def comparisons(notes):
    a, b, c = (classifier(k) for k in "abc")
    for options in ({}, COARSE, WEIGHTED, GROUPED, PRICED):
        holdout = notes.holdout(**options)
        for name in ("accuracy", "neg_brier_score", "neg_log_loss", "f1"):
            for one, other in ((a, b), (b, a), (a, c), (a, a)):
                notes.ask(holdout.compare, one, other, scoring=name)
                notes.ask(holdout.compare, one, other, scoring=name, guess_from=OTHER)
        notes.ask(holdout.compare, a, broken(), scoring="accuracy", guess=0.05)
    compare, models = notes.holdout(NUMBERS).compare, (regressor("a"), regressor("bc"))
    metric = Metric("neg_mean_absolute_error", range=(-30.0, 0.0))
    for how in ({}, {"guess": 0.5}, {"guess_from": (X[O], NUMBERS[O])}):
        notes.ask(compare, *models, scoring=metric, **how)
        notes.ask(compare, *models, scoring="neg_mean_squared_error", **how)


@session()
def selections(notes):
    for options in ({}, BOTH, PRIVATE, WEIGHTED, COARSE):
        holdout = notes.holdout(**options)
        for epsilon, name in itertools.product(("auto", None, 0.5, 5.0), ("accuracy", "roc_auc", "f1")):
            models = [classifier(f"{name} {k}") for k in range(4)]
            notes.ask(holdout.select, models, scoring=name, epsilon=epsilon)
            notes.ask(holdout.select, models, scoring=name, epsilon=epsilon)
        for models in ([classifier("a"), broken(), classifier("b")], [broken(), broken()], []):
            notes.ask(holdout.select, models, scoring="accuracy")
        notes.ask(holdout.certify, classifier("accuracy 0"), scoring="accuracy", guess=0.6)


CLASS = DummyClassifier(strategy="constant")
INNER = GridSearchCV(CLASS, {"constant": [0, 1]}, cv=3, scoring="accuracy")
OF_THREE_CLASSES = GridSearchCV(CLASS, {"constant": [2, 1, 0]}, cv=3, scoring="accuracy")
RANDOMIZED = RandomizedSearchCV(CLASS, {"constant": [0, 1]}, n_iter=2, cv=3, random_state=0)
REGRESSION = GridSearchCV(
    DummyRegressor(strategy="constant"), {"constant": [55, 60, 65]}, cv=3, scoring="neg_mean_absolute_error"
)
CANDIDATES, WINNER_OF_ALL = {"ask": "candidates"}, {"ask": "candidates", "reveal": "winner"}


@session()
def searches(notes):
    """Ask in each way, by each mechanism."""
    for way in (
        {"ask": "winner"}, CANDIDATES, {"ask": 2}, WINNER_OF_ALL,
        {"ask": 2, "mechanism": "exponential_mechanism"}, {**CANDIDATES, "mechanism": "ladder"},
        {**CANDIDATES, "mechanism": "thresholdout"}, {"ask": "winner", "mechanism": "stable_median"},
        {**CANDIDATES, "mechanism": "stable_median"}, {**CANDIDATES, "one_standard_error": True},
        EXACT, COARSE, {**COARSE, "ask": 2}, {"tolerance": 0.001}, {"tolerance": 0.5, **CANDIDATES},
        {"expected_questions": 5}, {"scoring": "f1_macro"},
        {"inner": RANDOMIZED}, {"inner": RANDOMIZED, **WINNER_OF_ALL}, {"scoring": "roc_auc", **CANDIDATES},
        {"scoring": "balanced_accuracy"}, {"confidence_level": 0.8},
    ):  # fmt: skip
        if found := notes.search(**way):
            publish = getattr(found, "publish", None) or found.certify
            notes.ask(publish)
            notes.ask(publish)
            notes.ask(found.compare, classifier("a"))


@session()
def searches_of_other_targets(notes):
    for way in ({}, CANDIDATES, {"ask": 2}, {"ask": 3, "mechanism": "exponential_mechanism"}):
        notes.search(THREE, inner=OF_THREE_CLASSES, **way)
        if found := notes.search(NUMBERS, inner=REGRESSION, **way):
            notes.ask(getattr(found, "publish", None) or found.certify)
    bounded = Metric("neg_mean_absolute_error", range=(-50, 0))
    notes.search(NUMBERS, inner=REGRESSION, scoring=bounded, **CANDIDATES)
    notes.search(NUMBERS, inner=REGRESSION, scoring="r2")


@session()
def searches_of_one_holdout(notes):
    """Search with a given holdout, the same and others, by scorers, too."""
    grid, folds = {"constant": [0, 1, 2]}, PredefinedSplit(np.arange(ROWS - HELD) % 2 - 1)
    for options in (EXACT, COARSE):
        holdout = notes.holdout(THREE, **options)
        search = functools.partial(notes.search, THREE, given=holdout)
        for way in ({}, CANDIDATES, {"ask": 2}, {}, WINNER_OF_ALL):
            search(inner=OF_THREE_CLASSES, **way)
        scorer = ThresholdoutScorer("accuracy", holdout, noise="laplace")
        search(inner=OF_THREE_CLASSES, mechanism=scorer, **CANDIDATES)
        search(inner=GridSearchCV(CLASS, grid, cv=folds))
        for made in (ThresholdoutScorer("accuracy", holdout), LadderScorer("accuracy", holdout)):
            alone = GridSearchCV(CLASS, grid, scoring=made, cv=made.cv, refit=made.select_best)
            notes.ask(alone.fit, X[O], THREE[O])


@session()
def failures(notes):
    """Ask about models that fail on the holdout."""
    nan = regressor("nan")
    nan.coef_ = nan.coef_ * np.nan
    for options in ({}, COARSE, BOTH, PRIVATE):
        holdout = notes.holdout(**options)
        for name in ("accuracy", "roc_auc", "f1", "balanced_accuracy", "neg_log_loss", "f1_macro"):
            for method in (holdout.check, holdout.certify, holdout.certify):
                notes.ask(method, broken(), scoring=name, guess=0.5)
        notes.ask(holdout.certify, broken(), scoring="accuracy", settings=MedianSettings(n_subsamples=20))
        for model in (classifier("a", THREE), "no model", LinearDiscriminantAnalysis()):
            notes.ask(holdout.certify, model, scoring="accuracy", guess=0.5)
    holdout = notes.holdout(NUMBERS)
    for name in OF_NUMBERS:
        notes.ask(holdout.certify, nan, scoring=Metric(name, range=(-9.0, 0.0)), guess=-0.5)
        notes.ask(holdout.certify, nan, scoring=name, guess_from=(X[O], NUMBERS[O]))


@session()
def exhausted(notes):
    """Ask until questions are refused, and some more."""
    for options in (
        {"tolerance": 0.09, "expected_questions": 10}, {"tolerance": 0.1, **COARSE}, {"tolerance": 0.01},
        {**PRIVATE, "tolerance": 0.4, "expected_questions": 10}, {**PRIVATE, "expected_questions": 10},
    ):  # fmt: skip
        holdout = notes.holdout(**options)
        for number in range(30):
            method = holdout.certify if number % 2 else holdout.check
            notes.ask(method, classifier(f"model {number}"), scoring="accuracy", guess=0.4 + 0.02 * number)
        notes.ask(holdout.remaining)
        notes.ask(holdout.remaining, "roc_auc", purpose="certify", guess_rows=100)
        notes.publish(holdout, classifier("model 3"), scoring="accuracy", guess=0.5)
        notes.ask(holdout.select, [classifier("a"), classifier("b")], scoring="accuracy")


@session()
def predictions(notes):
    """Ask about labels that were made elsewhere."""
    ids = np.arange(HELD) + 500
    labels = [[classifier(f"model {k}").predict(rows) for rows in (X[H], X[O])] for k in range(4)]
    for options in ({}, {"ids": ids}, COARSE, {"tolerance": 0.2}):
        holdout = notes.holdout(**PRICED, **options)
        turned = {"ids": ids[::-1]} if "ids" in options else {}
        given = [Predictions(held[::-1] if turned else held, **turned) for held, _ in labels]
        for one, (_, other) in zip(given, labels, strict=True):
            notes.ask(holdout.check, one, scoring="accuracy", guess=0.6)
            notes.ask(holdout.certify, one, scoring="accuracy", guess_from=(Predictions(other), TWO[O]))
            notes.ask(holdout.certify, one, scoring="accuracy", guess=0.7)
            notes.ask(holdout.certify, one, scoring="f1", guess=0.7)
        notes.ask(holdout.check_many, given, scoring="accuracy", guesses=[0.6] * 4)
        notes.ask(holdout.select, given, scoring="accuracy")
        notes.publish(holdout, given[0], scoring="accuracy", guess=0.6)
        notes.ask(holdout.certify, classifier("a"), scoring="accuracy", guess=0.6)
    notes.ask(notes.holdout(**PRICED).declare, given, scoring="accuracy")
    words, named = notes.holdout(WORDS, **PRICED), np.array(["no", "yes"])[labels[0][0]]
    other = np.r_[["may"], named[1:]]
    for one in (Predictions(named), Predictions(other), Predictions(other, classes=["maybe"])):
        notes.ask(words.certify, one, scoring="accuracy", guess=0.6)
    notes.ask(notes.holdout().certify, given[0], scoring="accuracy", guess=0.6)


@session()
def ledgers(notes):
    """Open ledgers again, by others and wrongly; secrets are seeded by nothing."""
    path = notes.path()
    split = {"rows": [1, 2], "how": "at random"}
    first = notes.holdout(ledger=path, random_state=None, label="day 1", split=split)
    ask_many(notes, first, count=4)
    again = Holdout(X[H], TWO[H], ledger=path, split=split, who="bob", label="day 2")
    ask_many(notes, again, count=6)
    for options in ({"tolerance": 0.1}, BOTH, COARSE, {"confidence_level": 0.9}, PRICED):
        notes.ask(Holdout, X[H], TWO[H], ledger=path, split=split, **options)
    notes.ask(Holdout, X[O], TWO[O], ledger=path)
    notes.ask(Holdout, X[H], 1 - TWO[H], ledger=path)
    for y, options in (
        (TWO, {"ledger": ":memory:"}), (TWO, {"ledger": None}),
        (THREE, {"ledger": ":memory:", "answers": "auto"}),
    ):  # fmt: skip
        holdout = notes.holdout(y, random_state=None, **options)
        ask_many(notes, holdout, y, count=4)
        notes.ask(holdout.report().to_dict)


@session(of_own_code=True)
def own_code(notes):
    """Metrics, models and searches of one's own."""
    rows = (X[O], TWO[O])
    notes.ask(plan_holdout, n_questions=10, tolerance=0.05)
    holdout = notes.holdout()
    for metric in (
        Metric(lambda y, said: (y == said) * 1.0, kind="mean", range=(0, 1)),
        Metric(lambda y, said: (y == said) * 2.5 - (said == 1), kind="mean", range=(-1, 2.5)),
        Metric("neg_mean_absolute_error", range=(-1.0, 0.0)), Metric("accuracy", kind="general"),
        lambda model, X, y: float(np.mean(model.predict(X) == y)), make_scorer(fbeta_score, beta=0.5),
    ):  # fmt: skip
        for how in ({"guess": 0.6}, {"guess_from": rows}, {"settings": MedianSettings(n_subsamples=20)}):
            notes.ask(holdout.check, classifier("a"), scoring=metric, **how)
            notes.ask(holdout.certify, classifier("a"), scoring=metric, **how)
        notes.ask(holdout.select, [classifier("a"), classifier("b")], scoring=metric)
    moody = Moody()
    for _ in range(4):
        notes.ask(holdout.check, moody, scoring="accuracy", guess=0.5)
    for number in range(4):
        notes.ask(holdout.check, Unreadable(number), scoring="accuracy", guess=0.5)
        notes.ask(holdout.check, Unreadable(number, fails=True), scoring="accuracy", guess=0.5)
    grid = {"number": [0, 1, 2, 3], "fails": [False, True]}
    for kind, ask in itertools.product((Sign, Unreadable), ("winner", "candidates", 2)):
        notes.search(inner=GridSearchCV(kind(), grid, cv=3), ask=ask)
        notes.search(inner=GridSearchCV(kind(), grid, cv=3), given=holdout, ask=ask)
    notes.ask(HoldoutBudgetDisplay.from_holdout, holdout)


@session(of_own_code=True)
def metrics_of_newer_versions(notes):
    """Ask for metrics that old versions of scikit-learn have not."""
    certify_each(notes, ["d2_brier_score", "d2_log_loss_score"])
    certify_each(notes, ["d2_brier_score", "d2_log_loss_score", "neg_brier_score"], THREE)


@session(of_own_code=True)
def many_records(notes):
    """A ledger that is long enough for a checkpoint."""
    holdout, model = notes.holdout(1 - TWO, ledger=":memory:"), classifier("a")
    for number in range(10_200):
        holdout.check(model, scoring="accuracy", guess=0.5 + 0.01 * (number % 7))


class Sign(ClassifierMixin, BaseEstimator):
    """Predict whether a column is positive."""

    def __init__(self, number=0, fails=False):
        self.number, self.fails = number, fails

    def fit(self, X, y):
        """Learn the classes."""
        self.classes_ = np.unique(y)
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        """Return 0 or 1."""
        if self.fails and len(X) > 100:
            raise ValueError("too many rows")
        return (np.asarray(X)[:, self.number] > 0).astype(int)


class Unreadable(Sign):
    """Likewise, with a part that no digest can read."""

    def fit(self, X, y):
        """Hold a generator."""
        self.part_ = Part()
        return super().fit(X, y)

    def __init__(self, number=0, fails=False):
        super().__init__(number, fails)
        self.part = Part()


class Part:
    """What cannot be pickled."""

    def __reduce_ex__(self, protocol):
        raise TypeError("cannot be pickled")

    def __deepcopy__(self, memo):
        return self


class Moody(Sign):
    """A model that says something else each time, which no digest sees."""

    def predict(self, X):
        """Return other labels than before."""
        return (super().predict(X) + next(MOODS)) % 2


MOODS = itertools.cycle([0, 0, 1, 0])


def cut(value):
    """Return content for JSON with floats and hashes cut short; without hashes of all digits of floats."""
    if isinstance(value, float):
        return f"{value:.7g}"
    if isinstance(value, str):
        return _LONG.sub(lambda found: f"{float(found.group()):.7g}", _HASH.sub(r"\1", value))
    if isinstance(value, dict):
        found = {name: cut(one) for name, one in value.items() if name not in ("head", "headline", "summary")}
        if "said" in value:
            found["said"] = value["said"][:8]  # of labels: sums of numbers come after them
        return found
    return [cut(one) for one in value] if isinstance(value, (list, tuple)) else value


def lines_of(name, portable=False):
    """Return the lines of a session."""
    COUNTED.begin(0)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        notes = Notes(folder)
        SESSIONS[name](notes)
        lines = [{"session": name}, *notes.finished()]
    if portable:  # certificates and what is printed are made of records
        derived = re.compile("certificate|ledger [0-9]")
        lines = [cut(line) for line in lines if name in IN_FULL or not any(map(derived.match, line))]
        lines = [line for line in lines if '"headline"' not in str(line)]  # names methods
    return [json.dumps(line, sort_keys=True, default=str) for line in lines]


def main():
    """Print the lines of all sessions, or of those that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sessions", nargs="*")
    parser.add_argument("--portable", action="store_true")
    given = parser.parse_args()
    names = given.sessions or [name for name in SESSIONS if not (given.portable and name in OF_OWN_CODE)]
    for name in names:
        print("\n".join(lines_of(name, given.portable)))


if __name__ == "__main__":
    main()
