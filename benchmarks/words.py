"""Count words that the glossary gives one meaning: ``python -m benchmarks.words``.

Read are names, comments and docstrings.
A name is that of a variable, a parameter, a field, a function or a class of the package. Texts of records,
assumptions and theorems are on disk and stay as they are written, so strings are not read, docstrings are.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from pathlib import Path

import sklearn_ada

ROOT = Path(sklearn_ada.__file__).parent
RIDDLES = ("told", "said", "known")
"""No name: it says what it is instead, such as reason, outputs or interval."""
SHARED = ("record", "row", "budget", "level", "share", "memory", "state", "unit", "weight", "stake")
"""One meaning each, given in the glossary."""
LONGEST = 15
"""Words of the first sentence of a docstring."""


def main() -> None:
    """Print how often each word is part of a name or of a comment, and how many first sentences are long."""
    names, prose, long = Counter[str](), Counter[str](), []
    for path in sorted(ROOT.rglob("*.py")):
        source = path.read_text()
        tree = ast.parse(source)
        for name in names_of(tree):
            names.update(set(re.split(r"_|(?<=[a-z])(?=[A-Z])", name.lower())) & {*RIDDLES, *SHARED})
        for text in [*comments_of(source), *docstrings_of(tree)]:
            prose.update(word for word in re.findall(r"[a-z]+", text.lower()) if word in RIDDLES + SHARED)
        long += [
            f"{path.relative_to(ROOT)}: {line}" for line in map(first_sentence, docstrings_of(tree)) if line
        ]
    print(f"{'':10} {'names':>7} {'prose':>7}")
    for word in RIDDLES + SHARED:
        print(f"{word:10} {names[word]:>7,} {prose[word]:>7,}")
    print(f"{len(long)} first sentences have more than {LONGEST} words")
    print(*long, sep="\n")


def names_of(tree: ast.Module) -> set[str]:
    """Return the names that a module gives: one for each place where it is bound."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
    return found


def comments_of(source: str) -> list[str]:
    """Return the comments of a module."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def docstrings_of(tree: ast.Module) -> list[str]:
    """Return the docstrings of a module, of its classes and of its functions."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    return [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, documented)]


def first_sentence(docstring: str) -> str:
    """Return the first sentence of a docstring if it is too long, else nothing."""
    sentence = re.split(r"(?<=[.:;])\s", docstring.split("\n\n")[0].replace("\n", " "), maxsplit=1)[0]
    return sentence if len(sentence.split()) > LONGEST else ""


if __name__ == "__main__":
    main()
