"""Conversations with a holdout, the same in every run: some two hundred questions for each mechanism."""

import contextlib
import functools
import itertools
import os
import tempfile
import warnings
from types import SimpleNamespace
from unittest import mock

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV

from sklearn_ada import (
    Holdout,
    LadderScorer,
    Metric,
    ReusableHoldoutCV,
    StableHoldoutScorer,
    ThresholdoutScorer,
)
from sklearn_ada.exceptions import BudgetExhaustedError

ROWS_EACH = 600  # of the holdout, and of the rows that guesses come from
QUESTIONS = 200
BOTH = 2 * ROWS_EACH
X = np.column_stack([np.arange(float(BOTH)), np.random.default_rng(0).normal(size=BOTH)])
THREE = np.random.default_rng(1).choice(3, p=[0.5, 0.3, 0.2], size=BOTH)
TWO = (THREE > 0).astype(int)
NUMBERS = np.random.default_rng(2).normal(size=BOTH)
WEIGHTS = np.random.default_rng(3).integers(1, 5, size=BOTH).astype(float)
GROUPS = np.arange(BOTH) // 3
HELD, OTHER = slice(0, ROWS_EACH), slice(ROWS_EACH, BOTH)


class RightOfShare(BaseEstimator):
    """Is right about a share of the rows, fixed by the number of the row; may fail on rows of the holdout."""

    def __init__(self, seed, share, truth, *, fails=False):
        self.seed, self.share, self.truth, self.fails = seed, share, truth, fails
        self.name_ = f"{seed} {share:.6f} {fails}"
        rng = np.random.default_rng([7, seed])
        self.noise_ = rng.normal(size=len(truth))
        if truth.dtype == float:
            self.outputs_ = share * truth + (1.0 - share) * self.noise_
            return
        self.classes_ = np.unique(truth)
        wrong = self.classes_[rng.integers(0, len(self.classes_), size=len(truth))]
        self.outputs_ = np.where(rng.random(len(truth)) < share, truth, wrong)

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        rows = np.asarray(X)[:, 0].astype(int)
        if self.fails and (rows < ROWS_EACH).any():
            raise ValueError
        return self.outputs_[rows]

    def predict_proba(self, X):
        """Return probabilities that lean to what is predicted."""
        odds = np.exp(2.0 * (self.predict(X)[:, None] == self.classes_))
        odds[:, 0] *= np.exp(0.5 * self.noise_[np.asarray(X)[:, 0].astype(int)])
        return odds / odds.sum(axis=1, keepdims=True)


class Regressor(RightOfShare):
    """The same for numbers, which have no probabilities."""

    predict_proba = property()


class Nearby(ClassifierMixin, BaseEstimator):
    """A classifier by the sign of the second column, moved by ``shift``."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(np.asarray(X)[:, 1] > self.shift).astype(int)]


def models(truth, *, share=0.6, failing=False, first=0):
    """Yield models for ever; every answer that is sent in moves the next one."""
    kind = Regressor if truth.dtype == float else RightOfShare
    for number in itertools.count(first):
        value = yield kind(number, share, truth, fails=failing and number % 20 == 13)
        drift = 0.0 if value is None or not np.isfinite(value) else 0.05 * np.tanh(value)
        share = 0.5 + 0.4 * ((number * 0.618) % 1.0) + drift


def converse(ask, truth, *, part=1, **options):
    """Put a part of the questions, each to a model that depends on the answers before it."""
    asked, value = models(truth, **options), None
    next(asked)
    for number in range(QUESTIONS // part):
        value = ask(asked.send(value), number)


def by_turns(holdout, scoring, guess=0.6, every=7, width=0.3):
    """Return a way to ask that checks bare numbers and certifies every ``every``-th model."""

    def ask(model, number):
        here = guess + width * (((number * 0.381966) % 1.0) - 0.5)
        method = holdout.certify if number % every == every - 1 else holdout.check
        return method(model, scoring=scoring, guess=here).value

    return ask


def by_scorer(scorer, truth):
    """Return a way to ask by a scorer, whose guess is the metric on other rows."""
    return lambda model, number: scorer.answer(model, X[OTHER], truth[OTHER]).value


WEIGHED = {"sample_weight": WEIGHTS[HELD]}
OF_ONE_METRIC = {  # of labels: a metric, how it is asked for, and of which holdout
    "accuracy": (THREE, "accuracy", {}, {}),  # where some models fail
    "tolerance": (THREE, "accuracy", {}, {"tolerance": 0.09, "expected_questions": 50}),  # until it refuses
    "ranks": (TWO, "roc_auc", {"guess": 0.7}, {}),
    "ratios": (TWO, "f1", {}, {}),  # whose denominator is released
    "probabilities": (TWO, "neg_brier_score", {"guess": -0.2, "width": 0.1}, {}),
    "weighted": (THREE, "accuracy", {}, WEIGHED),
    "weight_bound": (THREE, "accuracy", {}, {**WEIGHED, "weight_bound": 4.0}),
    "groups": (THREE, "accuracy", {}, {"groups": GROUPS[HELD]}),
    "priced_classes": (THREE, "balanced_accuracy", {}, {"class_mix": "priced"}),
}


def of_one_metric(name, open_holdout):
    truth, metric, how, options = OF_ONE_METRIC[name]
    converse(by_turns(open_holdout(truth, **options), metric, **how), truth, failing=name == "accuracy")


def class_means(open_holdout):
    """Means of classes, together and one alone."""
    balanced = by_turns(open_holdout(THREE), "balanced_accuracy")
    one = by_turns(open_holdout(TWO), "recall")
    converse(balanced, THREE, part=2)
    converse(one, TWO, part=2)


def bounded_means(open_holdout):
    """Means of scores that are not counts, guessed from rows, so that a variance is released."""
    holdout, metric = open_holdout(NUMBERS), Metric("neg_mean_absolute_error", range=(-6.0, 0.0))
    converse(by_scorer(ThresholdoutScorer(metric, holdout), NUMBERS), NUMBERS, part=2)
    converse(by_turns(holdout, metric, -0.5), NUMBERS, part=2)


def medians(open_holdout):
    """Stable medians, drawn in two ways and exact, of numbers."""
    holdout = open_holdout(NUMBERS)
    for number, method in enumerate(("exponential", "binary_search", "exact")):
        scorer = StableHoldoutScorer("r2", holdout, method=method, n_subsamples=31)
        converse(by_scorer(scorer, NUMBERS), NUMBERS, part=3, first=1000 * number)


def medians_of_classes(open_holdout):
    """Stable medians over subsamples of one class mix, checked and certified."""
    holdout = open_holdout(TWO)
    scorer = StableHoldoutScorer("average_precision", holdout, stratify=True, n_subsamples=20)
    converse(by_scorer(scorer, TWO), TWO, part=2)
    general = Metric("matthews_corrcoef", kind="general")
    converse(by_turns(holdout, general, 0.4, every=2), TWO, part=2)


def thresholdout(open_holdout):
    """Thresholdout without noise and with both kinds of it."""
    for noise in ("none", "laplace", "gaussian"):
        hits = {} if noise == "none" else {"max_hits": 60}
        scorer = ThresholdoutScorer("accuracy", open_holdout(THREE), noise=noise, threshold=0.03, **hits)
        converse(by_scorer(scorer, THREE), THREE, failing=noise == "laplace")


def ladder(open_holdout):
    converse(by_scorer(LadderScorer("accuracy", open_holdout(THREE)), THREE), THREE)


def privacy(open_holdout):
    """Answers with noise, certified by privacy alone."""
    options = {"route": "differential_privacy", "expected_questions": QUESTIONS}
    converse(by_turns(open_holdout(THREE, **options), "accuracy"), THREE, part=2)
    converse(by_turns(open_holdout(TWO, **options), "roc_auc", 0.7), TWO, part=2)


def both_routes(open_holdout):
    """Answers with noise, certified by the better of two routes, until one without noise ends a route."""
    holdout = open_holdout(THREE, route="both", expected_questions=QUESTIONS)
    converse(by_turns(holdout, "accuracy"), THREE, part=2)
    scorer = StableHoldoutScorer("f1_macro", holdout, n_subsamples=20)
    converse(by_scorer(scorer, THREE), THREE, part=4)
    converse(by_turns(holdout, "accuracy"), THREE, part=4, failing=True)


def choices(open_holdout):
    """Choices among models, the best and by the exponential mechanism, with a privacy budget and without."""
    for route in ("description_length", "both"):
        holdout = open_holdout(THREE, route=route)
        for number in range(QUESTIONS // 4):
            fails, first = number % 9 == 8, 5 * number
            some = [RightOfShare(first + j, 0.5 + 0.05 * j, THREE, fails=fails) for j in range(4)]
            with contextlib.suppress(ValueError, BudgetExhaustedError):
                chosen = holdout.select(some, scoring="accuracy", epsilon=(None, "auto", 0.5)[number % 3])
                holdout.check(some[chosen], scoring="accuracy", guess=0.6)


def declared(open_holdout):
    """Models declared before the first look, and others."""
    holdout = open_holdout(THREE)
    family = [RightOfShare(number, 0.5 + 0.002 * number, THREE) for number in range(QUESTIONS // 2)]
    holdout.declare(family, scoring="accuracy")
    for number, model in enumerate(family):
        holdout.check(model, scoring="accuracy", guess=0.5 + 0.003 * number)
    converse(by_turns(holdout, "accuracy"), THREE, part=2)


def topped_up(open_holdout):
    """Rows are added between questions."""
    holdout = open_holdout(THREE)
    for part in range(4):
        converse(by_turns(holdout, "accuracy"), THREE, part=4)
        new = slice(ROWS_EACH + 100 * part, ROWS_EACH + 100 * (part + 1))
        holdout = holdout.top_up(X[new], THREE[new])


def searches(open_holdout):
    """Searches wrapped in three ways: every candidate asked, the winners only, and one revealed."""
    y = (X[:, 1] + 0.5 * NUMBERS > 0).astype(int)
    holdout = open_holdout(y)
    for number in range(4):
        grid = {"shift": list(np.linspace(-1.0, 1.0, 9) + 0.01 * number)}
        for options in ({"ask": "candidates"}, {"ask": "winner"}, {"ask": 3}, {"reveal": "winner"}):
            asked = {"ask": "candidates", **options}
            wrapped = ReusableHoldoutCV(GridSearchCV(Nearby(), grid, cv=None), holdout=holdout, **asked)
            wrapped.fit(X[OTHER], y[OTHER])


CONVERSATIONS = {name: functools.partial(of_one_metric, name) for name in OF_ONE_METRIC} | {
    each.__name__: each
    for each in (
        class_means, bounded_means, medians, medians_of_classes, thresholdout, ladder, privacy, both_routes,
        choices, declared, topped_up, searches,
    )
}  # fmt: skip


def records_of(name):
    """Return all records and summaries of a conversation, without the time of day and the names of models.

    What a model answered is left out: it is hidden by a pad, which turns every last digit into other text. So
    is the report's first line, which is made of its other parts.
    """
    opened, lines = [], []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")

        def open_holdout(truth, **options):
            path = f"{folder}/{len(opened)}.db"
            opened.append(Holdout(X[HELD], truth[HELD], random_state=5, ledger=path, who="ada", **options))
            return opened[-1]

        CONVERSATIONS[name](open_holdout)
        for holdout in opened:
            lines += [{"key": record.key, **record.body} for record in holdout.ledger.records()]
            report = holdout.report()
            lines += [{"summary": answer.summary} for _, answer in report.answers]
            lines.append({"report": without(report.to_dict(), "headline") | {"head": None}})
    return [without(line, "time", "said", "model") for line in lines]


def without(line, *left_out):
    return {name: value for name, value in line.items() if name not in left_out}


@contextlib.contextmanager
def plain_identities():
    """Take names of models for their digests, which depend on versions of Python and of libraries."""

    def digest_of(content):
        if isinstance(content, tuple):  # a search, its rows and how it asks
            return f"search {content[0].get_params()} {content[3:]}"
        return f"model {getattr(content, 'name_', content)}"

    system = SimpleNamespace(**{**vars(os), "urandom": bytes})  # a salt of zeros
    with (
        mock.patch("sklearn_ada.terms.policy.os", system),
        mock.patch("sklearn_ada.terms.models.canonical_digest", digest_of),
        mock.patch("sklearn_ada.terms.models._VERSIONS", {}),
    ):
        yield
