"""How far one call walks through the package, and how large that is: ``python -m benchmarks.structure``.

Counted, not timed: the modules that one ``certify`` passes and how often it goes from one to another, how
often a search digests and hashes rows, and the lines of source that are neither docstring, comment nor blank.
"""

from __future__ import annotations

import ast
import io
import itertools
import sys
import tempfile
import tokenize
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import sklearn_ada
from sklearn_ada import Holdout, ReusableHoldoutCV

ROOT = Path(sklearn_ada.__file__).parent


def calls_of(work: Callable[[], object]) -> list[tuple[str, str]]:
    """Return module and function of every call of the package's own functions, in their order."""
    calls: list[tuple[str, str]] = []

    def note(frame: Any, event: str, argument: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(ROOT):
            calls.append((path.relative_to(ROOT).as_posix(), frame.f_code.co_name))

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


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


def main() -> None:
    """Print all counts."""
    warnings.simplefilter("ignore")
    X, y = load_digits(return_X_y=True)
    model = LogisticRegression(C=0.01, max_iter=1000).fit(X[:1000], y[:1000])
    with tempfile.TemporaryDirectory() as folder:
        holdout = Holdout(X[1000:], y[1000:], random_state=0, ledger=f"{folder}/holdout.db")
        calls = calls_of(lambda: holdout.certify(model, scoring="accuracy", guess=0.9))
        modules = [module for module, _ in calls]
        switches = sum(one != other for one, other in itertools.pairwise(modules))
        rooms = {str(Path(module).parent) for module in modules}
        print(
            f"certify of one model: {len(set(modules))} modules in {len(rooms)} folders, {switches} switches"
        )
        for ask in ("winner", "candidates"):
            inner = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3, 5]})
            search = ReusableHoldoutCV(inner, ask=ask, ledger=f"{folder}/{ask}.db")
            told = Counter(function for _, function in calls_of(lambda search=search: search.fit(X, y)))
            print(
                f"fit, ask={ask!r}: {told['content_digest']} digests and {told['row_hashes']} hashes of rows"
                f", {told['labels_digest']} digests of labels"
            )
    files = list(ROOT.rglob("*.py"))
    print(f"{len(files)} modules, {sum(lines_of_code(path.read_text()) for path in files)} lines of code")


if __name__ == "__main__":
    main()
