"""The command line: ``python -m sklearn_ada demo | plan | ask | gate | ledger``.

The first two are here.

``plan`` says what a holdout can certify, by every method. ``demo`` does the main job on real data, then shows
a contrast where there is nothing to find, which is also the README's picture: one choice on random labels,
with two intervals. Labels are coins, so every classifier is right with probability
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
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada._validation import aligned
from sklearn_ada.answer import Answer, shown, shown_interval
from sklearn_ada.cli.asking import add_ask_command
from sklearn_ada.cli.gate import add_gate_command
from sklearn_ada.cli.ledger_commands import add_ledger_commands
from sklearn_ada.cli.tools import Parser, count, picture, print_json, save_picture, write_csv
from sklearn_ada.exceptions import LedgerError
from sklearn_ada.holdout.holdout import Holdout
from sklearn_ada.ledger.addresses import without_passwords
from sklearn_ada.model_selection.reusable import ReusableHoldoutCV
from sklearn_ada.planning.display import NAIVE, PUBLISHED, SEARCHING
from sklearn_ada.planning.plan import HoldoutPlan, plan_holdout

T = TypeVar("T")
TRUTH = 0.5
_COLUMNS = 20  # of random rows
_REPETITIONS = 100  # of the contrast
_KINDS = ("naive", "certified")  # of its intervals
_HOW_TO_READ = """
CV is the cross-validation score of each search: choose by it, as always. The interval is what the
holdout answers; the nats are how much this reveals of the holdout. With a probability of 95 %, all
of these intervals contain the accuracy of their models on new digits by these writers."""
_ON_COINS = f"""

Random labels, on which every model is right half the time. The best of some models is chosen by its
score on a holdout of 500 rows, {_REPETITIONS} times. Beside that score stand two 95 % intervals: a plain one,
which takes no notice of the choice, and that of sklearn_ada, which allows for it. About five of a
hundred may miss the truth, 0.500.
"""
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
    """Run a command and return its exit status: 0, or 1 for a bad ledger or an output that takes no more.

    ``gate`` has a status of its own: 0, 1 or 2.
    """
    parser = Parser(prog="sklearn_ada", description="Reusable holdouts for scikit-learn.")
    parser.set_defaults(on_error=1)
    commands = parser.add_subparsers(dest="command", required=True)
    _add_demo_command(commands)
    _add_plan_command(commands)
    add_ask_command(commands)
    add_gate_command(commands)
    add_ledger_commands(commands)
    chosen = parser.parse_args(arguments)
    on_error: int = chosen.on_error
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name may have signs that a terminal has not
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status: int = chosen.run(chosen) or 0
        print(end="", flush=True)
    except LedgerError as error:
        print(without_passwords(str(error)), file=sys.stderr)
        return on_error
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # whoever was reading has enough, as ``head`` has
            cause = error.strerror or error
            print(f"Not all could be written: {cause}. What was recorded stands.", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return on_error
    return status


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
        "--worst-case", action="store_true", help="any means of values in [0, 1], not scores about a value"
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
            plan.error("argument --picture: needs matplotlib: pip install matplotlib")
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
    demo = commands.add_parser("demo", help="three searches on one holdout, then choices on random labels")
    demo.add_argument("--picture", type=picture, default="sklearn_ada_demo.png", help="where to save it")
    demo.add_argument("--candidates", type=count, default=100, help="the most tried on random labels")
    demo.set_defaults(run=lambda chosen: _run_demo(chosen.picture, chosen.candidates))


def _run_demo(picture: str, candidates: int) -> None:
    """Run both parts, say what their tables show, and save a picture where matplotlib is present."""
    started = time.perf_counter()
    print("The demo takes one to three minutes: three searches, then choices on random labels.", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        searches, name, final = _digits(os.path.join(folder, "digits.db"))
    print("\nThree searches on one holdout, for which 450 of scikit-learn's digits were set aside.\n")
    head = ("search", "candidates", "CV", "interval", "nats")
    rows = [
        [name, str(len(each.cv_results_["params"])), shown(each.best_score_, each.best_score_interval_),
         shown_interval(each.best_score_interval_), f"{each.best_answer_.cost.nats:.2g}"]
        for name, each in searches.items()
    ]  # fmt: skip
    print(aligned(head, rows, right=head[1:]))
    print(_HOW_TO_READ)
    print(f"\nIn the end the model that is kept, {name}, is published, once:\n")
    print(f"  {final.in_words()}, for {final.cost.nats:.2g} nats")
    print("\nThat is the number to report: the holdout's own score, with a narrow interval.")
    chosen = _random_labels(candidates)
    print(_ON_COINS)
    columns = ("models tried", "median score", "plain interval misses", "sklearn_ada misses")
    rows = [
        [f"{tried:,}", f"{_median(runs, 'naive_score'):.3f}",
         *(f"{sum(getattr(run, f'{kind}_misses') for run in runs)} of {len(runs)}" for kind in _KINDS)]
        for tried, runs in chosen.items()
    ]  # fmt: skip
    print(aligned(columns, rows, right=columns))
    worst = max((run for runs in chosen.values() for run in runs), key=lambda run: run.naive_score)
    plain, ours = ("[{:.3f}, {:.3f}]".format(*getattr(worst, f"{kind}_interval")) for kind in _KINDS)
    print(f"\nThe luckiest choice scored {worst.naive_score:.3f}: plain {plain}, sklearn_ada {ours}")
    _draw(searches, final, chosen, picture)
    print(f"\nDone in {time.perf_counter() - started:.0f} s.")


def _digits(ledger: str) -> tuple[dict[str, ReusableHoldoutCV], str, Answer]:
    """Run three searches; return them, the name of the best, and what was published of it."""
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
    fitted: dict[str, ReusableHoldoutCV] = {}
    for number, (name, search) in enumerate(searches.items(), 1):
        _progress(f"digits, search {number} of {len(searches)}: {name}")
        fitted[name] = ReusableHoldoutCV(search, holdout=held, ledger=ledger).fit(X, y)
    best = max(fitted, key=lambda name: fitted[name].best_score_)
    kept = fitted[best]
    return fitted, best, kept.holdout_.publish(kept.best_estimator_, scoring="accuracy")


def _random_labels(candidates: int) -> dict[int, list[Contrast]]:
    """Return repetitions of choosing the best on random labels, by how many were tried."""
    chosen = {}
    for tried in sorted({1, *(each for each in (10, 100) if each < candidates), candidates}):
        _progress(f"random labels: the best of {tried}, {_REPETITIONS} times")
        chosen[tried] = list(_dotted(contrasts(tried, _REPETITIONS)))
    return chosen


def _median(runs: list[Contrast], name: str) -> Any:
    return np.median([getattr(run, name) for run in runs], axis=0)


def _draw(
    searches: dict[str, ReusableHoldoutCV], final: Answer, chosen: dict[int, list[Contrast]], picture: str
) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("\nNo picture: it needs matplotlib (pip install matplotlib).")
        return
    figure = Figure(figsize=(10, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for place, each in enumerate(searches.values()):
        left.plot(each.best_score_interval_, [place] * 2, "|-", color=SEARCHING, label="while searching")
        left.plot(each.best_score_, place, "o", color="black", mfc="white", label="its own score (CV)")
    left.plot(final.interval, [len(searches)] * 2, "|-", color=PUBLISHED, linewidth=3)
    left.plot(final.value, len(searches), "s", color=PUBLISHED, label="published")
    left.set(yticks=range(len(searches) + 1), yticklabels=[*searches, "the model kept"], title="digits")
    left.set_xlabel("accuracy")
    for kind, colour, label, aside in (
        ("naive", NAIVE, "plain holdout", -0.1),
        ("certified", PUBLISHED, "sklearn_ada", 0.1),
    ):
        for place, runs in enumerate(chosen.values()):
            where = [place + aside] * 2
            right.plot(where, _median(runs, f"{kind}_interval"), "_-", color=colour, label=label)
            right.plot(place + aside, _median(runs, f"{kind}_score"), "o", color=colour)
    right.axhline(TRUTH, color="gray", linestyle=":", label="truth")
    right.set(xticks=range(len(chosen)), xticklabels=list(chosen), xlabel="models tried on random labels")
    right.set(ylabel="accuracy of the best (median)", title="random labels")
    for axes in (left, right):
        handles, labels = axes.get_legend_handles_labels()
        once = dict(zip(labels, handles, strict=True))
        axes.legend(once.values(), once.keys(), fontsize="small")
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
