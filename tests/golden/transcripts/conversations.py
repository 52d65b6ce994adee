"""Conversations with a holdout, the same in every run: some two hundred questions for each mechanism.

``python -m tests.golden.transcripts.conversations FOLDER`` writes every record in full, so that two states
of the
code can be compared byte by byte.
"""

import contextlib
import itertools
import json
import pathlib
import sys
import tempfile
import warnings
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


class Said(BaseEstimator):
    """A model that is right about a share of the rows; what it says is fixed by the number of the row.

    Parameters
    ----------
    seed : int
    share : float
    truth : ndarray
    fails : bool
        Whether it raises an error on rows of the holdout.
    """

    def __init__(self, seed, share, truth, *, fails=False):
        self.seed, self.share, self.truth, self.fails = seed, share, truth, fails
        self.name_ = f"{seed} {share:.6f} {fails}"
        rng = np.random.default_rng([7, seed])
        self.noise_ = rng.normal(size=len(truth))
        if truth.dtype == float:
            self.said_ = share * truth + (1.0 - share) * self.noise_
            return
        self.classes_ = np.unique(truth)
        wrong = self.classes_[rng.integers(0, len(self.classes_), size=len(truth))]
        self.said_ = np.where(rng.random(len(truth)) < share, truth, wrong)

    def fit(self, X, y):
        """Learn nothing."""
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        """Return what was fixed for these rows."""
        rows = np.asarray(X)[:, 0].astype(int)
        if self.fails and (rows < ROWS_EACH).any():
            raise ValueError
        return self.said_[rows]

    def predict_proba(self, X):
        """Return probabilities that lean to what is predicted."""
        odds = np.exp(2.0 * (self.predict(X)[:, None] == self.classes_))
        odds[:, 0] *= np.exp(0.5 * self.noise_[np.asarray(X)[:, 0].astype(int)])
        return odds / odds.sum(axis=1, keepdims=True)


class Regressor(Said):
    """The same for numbers, which have no probabilities."""

    predict_proba = property()


class Nearby(ClassifierMixin, BaseEstimator):
    """A classifier by the sign of the second column, moved by ``shift``."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        """Remember the classes."""
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        """Return the first class or the last."""
        return self.classes_[(np.asarray(X)[:, 1] > self.shift).astype(int)]


def models(truth, *, share=0.6, failing=False, first=0):
    """Yield models for ever; every answer that is sent in moves the next one."""
    kind = Regressor if truth.dtype == float else Said
    for number in itertools.count(first):
        value = yield kind(number, share, truth, fails=failing and number % 20 == 13)
        drift = 0.0 if value is None or not np.isfinite(value) else 0.05 * np.tanh(value)
        share = 0.5 + 0.4 * ((number * 0.618) % 1.0) + drift


def converse(ask, truth, *, count=QUESTIONS, **options):
    """Put ``count`` questions, each to a model that depends on the answers before it."""
    asked, value = models(truth, **options), None
    next(asked)
    for number in range(count):
        value = ask(asked.send(value), number)


def by_turns(holdout, scoring, guess=0.6, every=7, width=0.3):
    """Return a way to ask that checks bare numbers and certifies every ``every``-th model."""

    def ask(model, number):
        here = guess + width * (((number * 0.381966) % 1.0) - 0.5)
        if number % every == every - 1:
            return holdout.certify(model, scoring=scoring, guess=here).value
        return holdout.check(model, scoring=scoring, guess=here).value

    return ask


def by_scorer(scorer, truth):
    """Return a way to ask by a scorer, whose guess is the metric on other rows."""
    return lambda model, number: scorer.answer(model, X[OTHER], truth[OTHER]).value


def accuracy(open_holdout):
    """Cells and exact values of an accuracy, some models failing."""
    converse(by_turns(open_holdout(THREE), "accuracy"), THREE, failing=True)


def tolerance(open_holdout):
    """Questions until the tolerance refuses them."""
    converse(by_turns(open_holdout(THREE, tolerance=0.09, expected_questions=50), "accuracy"), THREE)


def ranks(open_holdout):
    """A ROC AUC."""
    converse(by_turns(open_holdout(TWO), "roc_auc", 0.7), TWO)


def ratios(open_holdout):
    """A ratio, whose denominator is released."""
    converse(by_turns(open_holdout(TWO), "f1", 0.6), TWO)


def class_means(open_holdout):
    """Means of classes, together and one alone."""
    holdout = open_holdout(THREE)
    balanced = by_turns(holdout, "balanced_accuracy")
    one = by_turns(open_holdout(TWO), "recall")
    converse(balanced, THREE, count=QUESTIONS // 2)
    converse(one, TWO, count=QUESTIONS // 2)


def bounded_means(open_holdout):
    """Means of scores that are not counts, guessed from rows, so that a variance is released."""
    holdout = open_holdout(NUMBERS)
    metric = Metric("neg_mean_absolute_error", range=(-6.0, 0.0))
    scorer = ThresholdoutScorer(metric, holdout)
    converse(by_scorer(scorer, NUMBERS), NUMBERS, count=QUESTIONS // 2)
    converse(by_turns(holdout, metric, -0.5), NUMBERS, count=QUESTIONS // 2)


def probabilities(open_holdout):
    """A mean of scores made of probabilities."""
    holdout = open_holdout(TWO)
    converse(by_turns(holdout, "neg_brier_score", -0.2, width=0.1), TWO)


def weighted(open_holdout):
    """Rows with weights, which are known."""
    holdout = open_holdout(THREE, sample_weight=WEIGHTS[HELD])
    converse(by_turns(holdout, "accuracy"), THREE)


def weight_bound(open_holdout):
    """Rows with weights, for the population."""
    holdout = open_holdout(THREE, sample_weight=WEIGHTS[HELD], weight_bound=4.0)
    converse(by_turns(holdout, "accuracy"), THREE)


def groups(open_holdout):
    """Groups of rows."""
    converse(by_turns(open_holdout(THREE, groups=GROUPS[HELD]), "accuracy"), THREE)


def priced_classes(open_holdout):
    """Class counts that were paid for."""
    converse(by_turns(open_holdout(THREE, class_mix="priced"), "balanced_accuracy"), THREE)


def medians(open_holdout):
    """Stable medians, drawn in two ways and exact, of numbers."""
    holdout = open_holdout(NUMBERS)
    for part, method in enumerate(("exponential", "binary_search", "exact")):
        scorer = StableHoldoutScorer("r2", holdout, method=method, n_subsamples=31)
        converse(by_scorer(scorer, NUMBERS), NUMBERS, count=QUESTIONS // 3, first=1000 * part)


def medians_of_classes(open_holdout):
    """Stable medians over subsamples of one class mix, checked and certified."""
    holdout = open_holdout(TWO)
    scorer = StableHoldoutScorer("average_precision", holdout, stratify=True, n_subsamples=20)
    converse(by_scorer(scorer, TWO), TWO, count=QUESTIONS // 2)
    converse(
        by_turns(holdout, Metric("matthews_corrcoef", kind="general"), 0.4, every=2),
        TWO,
        count=QUESTIONS // 2,
    )


def thresholdout(open_holdout):
    """Thresholdout without noise and with both kinds of it."""
    for noise in ("none", "laplace", "gaussian"):
        holdout = open_holdout(THREE)
        hits = {} if noise == "none" else {"max_hits": 60}
        scorer = ThresholdoutScorer("accuracy", holdout, noise=noise, threshold=0.03, **hits)
        converse(by_scorer(scorer, THREE), THREE, failing=noise == "laplace")


def ladder(open_holdout):
    """A Ladder."""
    converse(by_scorer(LadderScorer("accuracy", open_holdout(THREE)), THREE), THREE)


def privacy(open_holdout):
    """Answers with noise, certified by privacy alone."""
    options = {"route": "differential_privacy", "expected_questions": QUESTIONS}
    converse(by_turns(open_holdout(THREE, **options), "accuracy"), THREE, count=QUESTIONS // 2)
    converse(by_turns(open_holdout(TWO, **options), "roc_auc", 0.7), TWO, count=QUESTIONS // 2)


def both_routes(open_holdout):
    """Answers with noise, certified by the better of two routes, until one without noise ends a route."""
    holdout = open_holdout(THREE, route="both", expected_questions=QUESTIONS)
    converse(by_turns(holdout, "accuracy"), THREE, count=QUESTIONS // 2)
    scorer = StableHoldoutScorer("f1_macro", holdout, n_subsamples=20)
    converse(by_scorer(scorer, THREE), THREE, count=QUESTIONS // 4)
    converse(by_turns(holdout, "accuracy"), THREE, count=QUESTIONS // 4, failing=True)


def choices(open_holdout):
    """Choices among models, the best and by the exponential mechanism, with a privacy budget and without."""
    for route in ("description_length", "both"):
        holdout = open_holdout(THREE, route=route)
        for number in range(QUESTIONS // 4):
            some = [Said(5 * number + j, 0.5 + 0.05 * j, THREE, fails=number % 9 == 8) for j in range(4)]
            epsilon = (None, "auto", 0.5)[number % 3]
            try:
                chosen = holdout.select(some, scoring="accuracy", epsilon=epsilon)
                holdout.check(some[chosen], scoring="accuracy", guess=0.6)
            except (ValueError, BudgetExhaustedError):
                continue


def declared(open_holdout):
    """Models declared before the first look, and others."""
    holdout = open_holdout(THREE)
    family = [Said(number, 0.5 + 0.002 * number, THREE) for number in range(QUESTIONS // 2)]
    holdout.declare(family, scoring="accuracy")
    for number, model in enumerate(family):
        holdout.check(model, scoring="accuracy", guess=0.5 + 0.003 * number)
    converse(by_turns(holdout, "accuracy"), THREE, count=QUESTIONS // 2)


def topped_up(open_holdout):
    """Rows are added between questions."""
    holdout = open_holdout(THREE)
    for part in range(4):
        converse(by_turns(holdout, "accuracy"), THREE, count=QUESTIONS // 4)
        new = slice(ROWS_EACH + 100 * part, ROWS_EACH + 100 * (part + 1))
        holdout = holdout.top_up(X[new], THREE[new])


def searches(open_holdout):
    """Searches wrapped in three ways: every candidate asked, the winners only, and one revealed."""
    y = (X[:, 1] + 0.5 * NUMBERS > 0).astype(int)
    holdout = open_holdout(y)
    for number in range(4):
        grid = {"shift": list(np.linspace(-1.0, 1.0, 9) + 0.01 * number)}
        for options in ({"ask": "candidates"}, {"ask": "winner"}, {"ask": 3}, {"reveal": "winner"}):
            wrapped = GridSearchCV(Nearby(), grid, cv=None)
            ask = {"ask": "candidates", **options}
            ReusableHoldoutCV(wrapped, holdout=holdout, **ask).fit(X[OTHER], y[OTHER])


CONVERSATIONS = {
    each.__name__: each
    for each in (
        accuracy, tolerance, ranks, ratios, class_means, bounded_means, probabilities, weighted, weight_bound,
        groups, priced_classes, medians, medians_of_classes, thresholdout, ladder, privacy, both_routes,
        choices, declared, topped_up, searches,
    )
}  # fmt: skip


def records_of(name):
    """Return all records and summaries of a conversation, without the time of day and the names of models.

    What a model said is left out: it is hidden by a pad, which turns every last digit into other text. So is
    the report's first line, which is made of its other parts.
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
            said = {name: value for name, value in report.to_dict().items() if name != "headline"}
            lines.append({"report": said | {"head": None}})
    left_out = ("time", "said", "model")
    return [{name: value for name, value in line.items() if name not in left_out} for line in lines]


@contextlib.contextmanager
def plain_identities():
    """Take names of models for their digests, which depend on versions of Python and of libraries."""

    def digest_of(content):
        if isinstance(content, tuple):  # a search, its rows and how it asks
            return f"search {content[0].get_params()} {content[3:]}"
        return f"model {getattr(content, 'name_', content)}"

    with (
        mock.patch("sklearn_ada.terms.models.canonical_digest", digest_of),
        mock.patch("sklearn_ada.terms.models._VERSIONS", {}),
        mock.patch("sklearn_ada.model_selection.certifying.canonical_digest", digest_of),
    ):
        yield


def main():
    """Write one file for each conversation, a record a line."""
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in CONVERSATIONS:
        lines = [json.dumps(line, sort_keys=True) for line in records_of(name)]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
        print(f"{name}: {len(lines)} lines")


if __name__ == "__main__":
    main()
