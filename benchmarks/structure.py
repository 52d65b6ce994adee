"""Count what the shape of the package is held to: ``python -m benchmarks.structure``.

Counted, not timed, and shown beside what commit 1240233 had: modules and their lines of code (no docstring,
comment or blank); the modules that one call passes, and how often it goes from one to another, returns
included; and habits that make one change touch many files. Exits with 1 if an aim is missed.
"""

from __future__ import annotations

import ast
import io
import itertools
import re
import sys
import tempfile
import tokenize
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import GridSearchCV

import sklearn_ada
from sklearn_ada import Holdout, ReusableHoldoutCV, ThresholdoutScorer

ROOT = Path(sklearn_ada.__file__).parent
EXCEPTIONS_TO_SIZE = {"exceptions.py"}
"""Modules that may have fewer lines than others: a list of classes without bodies."""
ROWS: tuple[tuple[str, int | None, int | None], ...] = (
    ("modules", 381, 100),
    ("lines of code, without testing.py", 25_201, 20_000),
    ("lines of testing.py, the tests of ledgers that ship", None, None),
    ("modules under 60 lines", None, 0),
    ("modules above 600 lines", None, 0),
    ("modules in the largest folder", 19, 16),
    ("lines of imports and __all__", 4_831, None),
    ("certify(guess=): modules", 77, 32),
    ("certify(guess=): switches", 802, 400),
    ("scorer call: modules", 78, 36),
    ("scorer call: switches", 920, 480),
    ("fit, winner: modules", 129, 45),
    ("fit, winner: switches", 3_226, 1_900),
    ("certify: visits of the checks of a model", 5, 1),
    ("isinstance on a question outside questions", 21, 0),
    ("comparisons with a mechanism's name in model_selection", None, 0),
    ('places that read .body["..."] of a record elsewhere', 39, 0),
    ("tables keyed by a metric's name", 14, 0),
)
"""What is counted, what commit 1240233 had (None where nobody counted), and the aim (None: no aim)."""


def main() -> int:
    """Print every count beside the old one and the aim; return 1 if an aim is missed."""
    warnings.simplefilter("ignore")
    counted = {**of_files(), **of_calls(), **of_habits()}
    missed = False
    print(f"{'':58} {'now':>7} {'1240233':>8} {'aim':>7}")
    for name, before, aim in ROWS:
        now = counted[name]
        over = aim is not None and now > aim
        missed |= over
        shown = ["" if each is None else f"{each:,}" for each in (before, aim)]
        print(f"{name:58} {now:>7,} {shown[0]:>8} {shown[1]:>7}{'  missed' if over else ''}")
    return int(missed)


def of_files() -> dict[str, int]:
    """Return how many modules there are, and how large they are."""
    lines = {path: lines_of_code(path.read_text()) for path in ROOT.rglob("*.py")}
    modules = {path: n for path, n in lines.items() if path.name not in ("__init__.py", "__main__.py")}
    folders = Counter(path.parent for path in modules)
    imports = 0
    for path in lines:
        for node in ast.parse(path.read_text()).body:
            is_list = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
            if isinstance(node, ast.Import | ast.ImportFrom) or is_list:
                imports += (node.end_lineno or node.lineno) - node.lineno + 1
    return {
        "modules": len(modules),
        "lines of code, without testing.py": sum(lines.values()) - lines[ROOT / "testing.py"],
        "lines of testing.py, the tests of ledgers that ship": lines[ROOT / "testing.py"],
        "modules under 60 lines": sum(
            n < 60 for path, n in modules.items() if path.name not in EXCEPTIONS_TO_SIZE
        ),
        "modules above 600 lines": sum(n > 600 for n in modules.values()),
        "modules in the largest folder": max(folders.values()),
        "lines of imports and __all__": imports,
    }


def of_calls() -> dict[str, int]:
    """Return how far one certify, one call of a scorer and one search walk."""
    X, y = load_digits(return_X_y=True)
    models = [LogisticRegression(C=C, max_iter=500).fit(X[:800], y[:800]) for C in (0.001, 0.01, 0.1, 1)]
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        holdout = Holdout(X[1000:], y[1000:], ledger=f"{folder}/a.db")
        exact = Holdout(X[1000:], y[1000:], ledger=f"{folder}/b.db", answers="exact")
        scorer = ThresholdoutScorer("accuracy", exact)
        searches = [
            ReusableHoldoutCV(
                GridSearchCV(LogisticRegression(max_iter=300), {"C": [0.01, 0.1]}, cv=3),
                ledger=f"{folder}/{name}.db",
            )
            for name in "cd"
        ]
        rows = (X[800:1000], y[800:1000])
        walks: dict[
            str, tuple[Callable[[], object], Callable[[], object]]
        ] = {  # the first imports and warms up
            "certify(guess=)": (
                lambda: [holdout.certify(model, scoring="accuracy", guess=0.9) for model in models[:2]],
                lambda: holdout.certify(models[2], scoring="accuracy", guess=0.9),
            ),
            "scorer call": (lambda: scorer(models[2], *rows), lambda: scorer(models[3], *rows)),
            "fit, winner": (lambda: searches[0].fit(X, y), lambda: searches[1].fit(X, y)),
        }
        for name, (first, second) in walks.items():
            first()
            walk, calls = walk_of(second)
            counts[f"{name}: modules"] = len(set(walk))
            counts[f"{name}: switches"] = sum(one != other for one, other in itertools.pairwise(walk))
            if name == "certify(guess=)":
                counts["certify: visits of the checks of a model"] = calls["Subject.of"]
    return counts


def walk_of(work: Callable[[], object]) -> tuple[list[str], Counter[str]]:
    """Return the modules of the package in the order of their visits, and what is called how often."""
    walk: list[str] = []
    stack: list[str] = []
    calls: Counter[str] = Counter()
    inner = {"<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>", "<lambda>"}

    def note(frame: Any, event: str, argument: object) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(f"{ROOT}/") or code.co_name in inner:
            return
        if event == "call":
            calls[code.co_qualname] += 1
            stack.append(code.co_filename)
            walk.append(code.co_filename)
        elif event == "return" and stack:
            stack.pop()
            walk.extend(stack[-1:])

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return walk, calls


def of_habits() -> dict[str, int]:
    """Return how often the code asks what a thing is where the thing could say so."""
    mechanisms = re.compile(
        r"[!=]= *\"(thresholdout|stable_median|ladder|cells)\"|in \(\"(thresholdout|stable)"
    )
    bodies = re.compile(r"\.body\[|\.body\.get\(")
    tables = Counter[str]()
    counts = Counter[str]()
    for path in sorted(ROOT.rglob("*.py")):
        room, text = path.relative_to(ROOT).parts[0], path.read_text()
        if room != "questions":
            counts["isinstance on a question outside questions"] += len(
                re.findall(r"isinstance\([^()]*(?:\([^()]*\))?[^()]*\b\w*(?:Question|Check)\b", text)
            )
        if room == "model_selection":
            counts["comparisons with a mechanism's name in model_selection"] += len(mechanisms.findall(text))
        if path.relative_to(ROOT).as_posix() not in ("holdout/records.py", "terms/policy.py"):
            counts['places that read .body["..."] of a record elsewhere'] += len(bodies.findall(text))
        tables[path.name] = sum(1 for _ in tables_of_metrics(ast.parse(text)))
    names = {name for name, _, _ in ROWS[-4:]}
    return {**dict.fromkeys(names, 0), **counts, "tables keyed by a metric's name": sum(tables.values())}


def tables_of_metrics(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield each dict, set or tuple of a module, outside functions, most of whose texts are scorer names."""
    names = {*get_scorer_names()}
    for statement in tree.body:
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
            continue
        for node in ast.walk(statement.value):
            if isinstance(node, ast.Dict | ast.Set | ast.Tuple | ast.List):
                keys = node.keys if isinstance(node, ast.Dict) else node.elts
                texts = [
                    key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)
                ]
                if len(texts) >= 2 and sum(text in names for text in texts) > len(texts) / 2:
                    yield node


def lines_of_code(source: str) -> int:
    """Return how many lines hold code: no docstring, no comment alone, no blank."""
    docstrings = set()
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            docstrings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    nothing = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in nothing and token.string:
            held.update(range(token.start[0], token.end[0] + 1))
    return len(held - docstrings)


if __name__ == "__main__":
    sys.exit(main())
