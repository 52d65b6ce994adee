"""The command line: ``python -m sklearn_ada demo | plan | ask | ledger``, of which the first two are here.

``plan`` says what a holdout can certify, by every method. ``demo`` does the main job on real data, then the
same thing where there is nothing to find. It ends with a contrast, which is also the README's picture: one
choice on random labels, with two intervals. Labels are coins, so every classifier is right with probability
one half, whatever it looks at. An analyst takes the best of ``k`` candidates *on the holdout* and reports its
score there. The naive interval is Clopper and Pearson's, as if that one model had been the only one. Ours is
what `Holdout.select` and `Holdout.certify` say of the same choice: the selection is charged ``ln k`` nats,
and the interval allows for it.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import math
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from scipy.stats import binomtest, loguniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada._validation import aligned
from sklearn_ada.answer import population_of
from sklearn_ada.cli.ledger_commands import add_ask_command, add_ledger_commands
from sklearn_ada.cli.tools import Parser, count, picture, print_json, save_picture, write_csv
from sklearn_ada.exceptions import LedgerError
from sklearn_ada.holdout.holdout import Holdout
from sklearn_ada.ledger.addresses import without_passwords
from sklearn_ada.model_selection.reusable import ReusableHoldoutCV
from sklearn_ada.planning.plan import HoldoutPlan, plan_holdout

T = TypeVar("T")
TRUTH = 0.5
_COLUMNS = 20  # of random rows
_SUBSET = 4  # columns that a candidate sees
_ROWS = 2000  # of random labels
_REPETITIONS, _CHOICES = 100, 20  # of the contrast
_FLAGS: dict[str, tuple[str, type, str]] = {
    "n": ("--rows", int, "rows of the holdout"),
    "n_questions": ("--questions", int, "adaptive questions"),
    "searches": ("--searches", int, "searches in a row, each asked about its winner; for --questions"),
    "scoring": ("--scoring", str, "by which metric searches choose, such as roc_auc; accuracy unless given"),
    "width": ("--width", float, "half-width of every interval, such as 0.02"),
    "confidence_level": ("--confidence-level", float, "that all intervals hold together; 0.95 unless given"),
    "expected_value": ("--expected-value", float, "about what the scores will be; 0.85 unless given"),
    "guess_rows": ("--guess-rows", int, "validation rows behind each guess; --rows unless given"),
    "surprise_rate": ("--surprise-rate", float, "share of guesses off by more than sampling; 0 unless given"),
    "subsample_size": ("--subsample-size", int, "rows in each subsample of a median; 20 unless given"),
    "grid_size": ("--grid-size", int, "points of a median's grid; 401 unless given"),
    "passes": ("--passes", int, "of --verdicts: the process stops after so many passes"),
    "disagreement": ("--disagreement", float, "of --verdicts about two models: largest share they differ on"),
    "positive_share": ("--positive-share", float, "of --scoring: share of positive rows; 0.5 unless given"),
    "error_spread": (
        "--error-spread",
        float,
        "of --scoring: deviation of the errors' sizes over their mean; 0.76, of normal errors, unless given",
    ),
}
_WORDS = {
    "set 'verdicts' to True": "give --verdicts",
    "None where 'verdicts' is False": "left out without --verdicts",
    "None where 'verdicts' is True": "left out with --verdicts",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 0, or 1 for a bad ledger or an output that takes no more."""
    parser = Parser(prog="sklearn_ada", description="Reusable holdouts for scikit-learn.")
    commands = parser.add_subparsers(dest="command", required=True)
    _add_demo_command(commands)
    _add_plan_command(commands)
    add_ask_command(commands)
    add_ledger_commands(commands)
    chosen = parser.parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name may have signs that a terminal has not
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        chosen.run(chosen)
        print(end="", flush=True)
    except LedgerError as error:
        print(without_passwords(str(error)), file=sys.stderr)
        return 1
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # whoever was reading has enough, as ``head`` has
            cause = error.strerror or error
            print(f"Not all could be written: {cause}. What was recorded stands.", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return 1
    return 0


def _add_plan_command(commands: Any) -> None:
    """Add ``plan`` to the subcommands of a parser."""
    plan = commands.add_parser(
        "plan",
        help="what a holdout certifies, by every method",
        description="Give two of --rows, --questions (or --searches) and --width: the third is solved for.",
    )
    for name, (flag, kind, text) in _FLAGS.items():
        plan.add_argument(flag, dest=name, type=kind, metavar=kind.__name__.upper(), help=text)
    plan.add_argument(
        "--worst-case", action="store_true", help="any means of values in [0, 1], not shares about a value"
    )
    plan.add_argument("--verdicts", action="store_true", help="pass or fail is all that is wanted")
    plan.add_argument("--picture", type=picture, metavar="FILE", help="draw the plan, too")
    form = plan.add_mutually_exclusive_group()
    form.add_argument("--all", action="store_true", help="all methods and the whole recommendation")
    form.add_argument("--json", action="store_true", help="an object with rows and recommendation")
    form.add_argument("--csv", action="store_true", help="comma-separated, one line a method")

    def run(arguments: argparse.Namespace) -> None:
        given = {name: getattr(arguments, name) for name in _FLAGS if getattr(arguments, name) is not None}
        if arguments.verdicts:
            given["verdicts"] = True
        if arguments.worst_case:
            if "expected_value" in given:
                plan.error("argument --worst-case: not allowed with argument --expected-value")
            given["expected_value"] = None
        if arguments.picture and importlib.util.find_spec("matplotlib") is None:
            plan.error("argument --picture: needs matplotlib: pip install 'sklearn-ada[plot]'")
        try:
            made = plan_holdout(**given)
        except ValueError as error:
            plan.error(_in_flags(str(error)))
        _show_plan(made, arguments)

    plan.set_defaults(run=run)


def _show_plan(plan: HoldoutPlan, arguments: argparse.Namespace) -> None:
    """Print the plan in the form asked for, and draw it if asked."""
    if arguments.json:
        rows = [{name: _finite(value) for name, value in each.items()} for each in plan.to_dicts()]
        print_json({"solved_for": plan.solved_for, "recommendation": plan.recommendation, "rows": rows})
    elif arguments.csv:
        write_csv(plan.to_dicts(), sys.stdout)
    else:
        print(plan.to_text(all_methods=arguments.all))
    if arguments.picture:
        save_picture(plan.plot().figure_, arguments.picture)


def _in_flags(message: str) -> str:
    """Return an error of `plan_holdout` in the words of the command line."""
    for text, ours in ({repr(name): flag for name, (flag, *_) in _FLAGS.items()} | _WORDS).items():
        message = message.replace(text, ours)
    return message


def _finite(value: Any) -> Any:
    """Return the value; None for an infinity or NaN, which JSON does not have."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _add_demo_command(commands: Any) -> None:
    demo = commands.add_parser("demo", help="three searches on one holdout, then a search on random labels")
    demo.add_argument("--picture", type=picture, default="sklearn_ada_demo.png", help="where to save it")
    demo.add_argument("--candidates", type=count, default=300, help="of the search on random labels")
    demo.set_defaults(run=lambda chosen: _run_demo(chosen.picture, chosen.candidates))


def _run_demo(picture: str, candidates: int) -> None:
    """Run both parts, print their tables, and save a picture where matplotlib is present."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        digits, published = _digits(os.path.join(folder, "digits.db"))
        chance = _random_labels(os.path.join(folder, "random.db"), candidates)
    print("\nThree searches on one holdout of scikit-learn's digits (450 rows), one ledger, 95 % together:")
    _table(digits, "CV")
    print("CV is the search's own score, by which one chooses. With 95 % all intervals hold at once.")
    print("A plain holdout would show its best candidate's score, which takes no notice of the choice.")
    print(f"In the end the model that is kept is published: {published}")
    print("That is the number to report: it is the holdout's, and its interval is the narrow one.")
    print(f"\nA search over {candidates} random feature subsets on random labels (500 rows held out):")
    print("the truth is 0.500 for every candidate; here each was asked about, and the best of them chosen.")
    _table(chance, "holdout")
    scores, low, high = chance[0].scores, chance[0].low, chance[0].high
    counts = [*(count for count in (1, 10, 100, 1000) if count < candidates), candidates]
    steps = ", ".join(f"{count}: {max(scores[:count]):.3f}" for count in counts)
    print(f"best score on a plain holdout after so many candidates: {steps}")
    verb = "contains 0.500" if low <= 0.5 <= high else "MISSES 0.500, as one in 20 such ledgers may"
    print(f"the interval [{low:.3f}, {high:.3f}] {verb}")
    _contrast(_CHOICES, _REPETITIONS)
    _draw(digits, chance, picture)
    print(f"\nDone in {time.perf_counter() - started:.0f} s.")


def _digits(ledger: str) -> tuple[list[_Line], str]:
    """Run three searches and return their lines and the score that was published."""
    X, y = load_digits(return_X_y=True)
    scaled = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
    spread = {"C": loguniform(0.1, 100), "gamma": loguniform(1e-4, 1e-2)}
    sizes = {"max_depth": [4, 8, 12, None], "min_samples_leaf": [1, 5]}
    searches = {
        "grid, logistic regression": GridSearchCV(scaled, {"logisticregression__C": [0.001, 0.01, 0.1, 1.0]}),
        "random, support vectors": RandomizedSearchCV(SVC(), spread, n_iter=12, random_state=0),
        "grid, decision tree": GridSearchCV(DecisionTreeClassifier(random_state=0), sizes),
    }
    held = np.random.default_rng(0).permutation(len(y)) < 450
    lines: list[_Line] = []
    fitted: list[tuple[str, ReusableHoldoutCV]] = []
    for number, (name, search) in enumerate(searches.items(), 1):
        _progress(f"digits, search {number} of {len(searches)}: {name}")
        wrapped = ReusableHoldoutCV(search, holdout=held, ledger=ledger).fit(X, y)
        fitted.append((name, wrapped))
        lines.append(_line(name, wrapped, X, y, held, revealed=sum(line.nats for line in lines)))
    name, best = max(fitted, key=lambda each: each[1].best_score_)
    answer, (low, high) = best.publish(), best.best_score_interval_
    return lines, f"{name}: {answer.value:.3f} in [{low:.3f}, {high:.3f}], for {answer.cost.nats:.3g} nats"


def _random_labels(ledger: str, candidates: int) -> list[_Line]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(_ROWS, 40)), rng.integers(0, 2, _ROWS)
    held = np.arange(_ROWS) < 500
    _progress(f"random labels: {candidates} candidates")
    search = GridSearchCV(SubsetCentroids(), {"subset": list(range(candidates))})
    fitted = ReusableHoldoutCV(
        search, holdout=held, ask="candidates", answers="exact", ledger=ledger, expected_questions=candidates
    ).fit(X, y)  # every candidate is asked, as the naive holdout is
    return [_line("random subsets, centroids", fitted, X, y, held)]


def _line(name: str, fitted: ReusableHoldoutCV, X: Any, y: Any, held: Any, revealed: float = 0.0) -> _Line:
    """Return a search's line; ``revealed`` are the nats that were revealed before it."""
    low, high = fitted.best_score_interval_
    scores = _naive_scores(fitted, X, y, held)
    nats = fitted.holdout_.report().nats - revealed
    return _Line(name, scores, fitted.best_score_, low, high, fitted.best_score_target_, nats)


def _naive_scores(fitted: ReusableHoldoutCV, X: Any, y: Any, held: Any) -> list[float]:
    """Score every candidate on the holdout as one does without protection; for comparison only."""
    scores = []
    for candidate in _dotted(fitted.cv_results_["params"]):
        model = clone(fitted.search.estimator).set_params(**candidate).fit(X[~held], y[~held])
        scores.append(float(np.mean(model.predict(X[held]) == y[held])))
    return scores


def _table(lines: list[_Line], score: str) -> None:
    """Print a line for each search; ``score`` says whose score is shown beside the interval."""
    head = ("search", "candidates", "best on a plain holdout", score, "interval", "its nats")
    rows = []
    for line in lines:
        scores = f"{max(line.scores):.3f}", f"{line.certified:.3f}", f"[{line.low:.3f}, {line.high:.3f}]"
        rows.append([line.search, str(len(line.scores)), *scores, f"{line.nats:.3g}"])
    print(aligned(head, rows, right=head[1:]))
    targets = {population_of(line.target) for line in lines}
    print(f"interval: of the {'; '.join(sorted(targets))}")


def _contrast(candidates: int, repetitions: int) -> None:
    """Print how often a naive and a certified interval of one choice miss."""
    _progress(f"the best of {candidates} on random labels, {repetitions} times")
    runs = list(_dotted(contrasts(candidates, repetitions)))
    print(f"\nThe best of {candidates} candidates on a holdout of 500 random labels, {repetitions} times.")
    print("Same choice, same score; beside it a plain 95 % interval, and the one that allows for the choice:")
    worst = max(runs, key=lambda run: run.naive_score)
    naive, ours = ("[{:.3f}, {:.3f}]".format(*i) for i in (worst.naive_interval, worst.certified_interval))
    print(f"{'':<20} {f'misses {TRUTH:.3f}':>18}   in the worst repetition, score {worst.naive_score:.3f}")
    print(f"{'plain holdout':<20} {sum(run.naive_misses for run in runs):>8} of {repetitions:<6}   {naive}")
    print(f"{'sklearn_ada':<20} {sum(run.certified_misses for run in runs):>8} of {repetitions:<6}   {ours}")


def _draw(digits: list[_Line], chance: list[_Line], picture: str) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("\nNo picture: install the extra for it, sklearn-ada[plot].")
        return
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    parts = (digits, "digits"), (chance, "random labels")
    for axes, (lines, title) in zip(figure.subplots(1, 2), parts, strict=True):
        places = np.arange(len(lines))
        middle = np.array([(line.low + line.high) / 2 for line in lines])
        half = np.array([(line.high - line.low) / 2 for line in lines])
        axes.errorbar(middle, places, xerr=half, fmt="none", capsize=5, label="interval of sklearn_ada")
        axes.plot(
            [max(line.scores) for line in lines],
            places,
            "x",
            color="tab:red",
            label="best on a plain holdout",
        )
        axes.set(yticks=places, yticklabels=[line.search for line in lines], title=title, xlabel="accuracy")
        axes.set_ylim(-0.6, len(lines))
        axes.legend(loc="upper left", fontsize="small")
    axes.axvline(0.5, color="gray", linestyle=":")
    save_picture(figure, picture)
    print(f"\nPicture saved as {picture}")


def _progress(text: str) -> None:
    print(f"\n{text} ", end="", flush=True, file=sys.stderr)


def _dotted(items: Iterable[T]) -> Iterator[T]:
    """Yield some things, with a dot for every ten to show that it goes on."""
    for number, item in enumerate(items):
        if number % 10 == 0:
            print(".", end="", flush=True, file=sys.stderr)
        yield item


@dataclass(frozen=True)
class _Line:
    """One search: what it would have reported from a plain holdout, and what is certified."""

    search: str
    scores: list[float]
    certified: float
    low: float
    high: float
    target: str
    nats: float


class SubsetCentroids(ClassifierMixin, BaseEstimator):
    """Nearest class mean on a random subset of the columns: a candidate per subset."""

    def __init__(self, subset: int = 0) -> None:
        self.subset = subset

    def fit(self, X: Any, y: Any) -> SubsetCentroids:
        """Fit on the subset."""
        self.columns_ = np.random.default_rng(self.subset).choice(X.shape[1], _SUBSET, replace=False)
        self.model_ = NearestCentroid().fit(X[:, self.columns_], y)
        self.classes_, self.n_features_in_ = self.model_.classes_, X.shape[1]
        return self

    def predict(self, X: Any) -> Any:
        """Predict from the subset."""
        return self.model_.predict(X[:, self.columns_])


@dataclass(frozen=True)
class Contrast:
    """One repetition: the score of the chosen candidate, and two intervals around it."""

    candidates: int
    naive_score: float
    naive_interval: tuple[float, float]
    certified_score: float
    certified_interval: tuple[float, float]

    @property
    def naive_misses(self) -> bool:
        """Whether the naive interval leaves the truth."""
        return not self.naive_interval[0] <= TRUTH <= self.naive_interval[1]

    @property
    def certified_misses(self) -> bool:
        """Whether the certified interval leaves the truth."""
        return not self.certified_interval[0] <= TRUTH <= self.certified_interval[1]


class RandomDirection(ClassifierMixin, BaseEstimator):
    """A linear classifier with random weights: it learns nothing, so a coin is as good."""

    def __init__(self, direction: int = 0) -> None:
        self.direction = direction

    def fit(self, X: Any, y: Any) -> RandomDirection:
        """Draw the weights."""
        self.weights_ = np.random.default_rng(self.direction).normal(size=X.shape[1])
        self.classes_, self.n_features_in_ = np.array([0, 1]), X.shape[1]
        return self

    def predict(self, X: Any) -> Any:
        """Return the side on which each row lies."""
        return (X @ self.weights_ > 0).astype(int)


def contrasts(candidates: int, repetitions: int, *, rows: int = 500, seed: int = 0) -> Iterator[Contrast]:
    """Yield repetitions of taking the best of ``candidates`` on random labels."""
    for repetition in range(repetitions):
        rng = np.random.default_rng([seed, candidates, repetition])
        X, y = rng.normal(size=(rows, _COLUMNS)), rng.integers(0, 2, rows)
        models = [RandomDirection(direction).fit(X, y) for direction in range(candidates)]
        right = [int(np.sum(model.predict(X) == y)) for model in models]
        naive = binomtest(max(right), rows).proportion_ci(0.95, method="exact")
        holdout = Holdout(X, y, ledger=":memory:")
        chosen = holdout.select(models, scoring="accuracy", epsilon=None)  # the same one: the best itself
        answer = holdout.certify(models[chosen], scoring="accuracy", guess=TRUTH)
        interval = float(naive.low), float(naive.high)
        yield Contrast(candidates, max(right) / rows, interval, answer.value, answer.interval)
