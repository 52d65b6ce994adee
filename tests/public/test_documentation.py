"""The documentation names what is public, and explains its words."""

import re
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import ClassVar

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Directive, directives, roles

import sklearn_ada

DOCS = Path(__file__).parents[2] / "docs"
PLAIN = {
    "budget",
    "confidence interval",
    "cost",
    "level",
    "memory",
    "pandas",
    "record",
    "row",
    "share",
    "stake",
    "state",
    "test set",
    "unit",
    "weight",
}
"""Everyday words, in the glossary because they have one meaning each; they need no link."""
GLOSSARY = re.findall(r"^   (\w[\w ]*)$", (DOCS / "glossary.rst").read_text(), flags=re.MULTILINE)
TERMS = [term for term in GLOSSARY if term not in PLAIN]
BUILT = {DOCS / "results.rst", DOCS / "glossary.rst"}  # written by a script; the terms themselves
PAGES = [
    page
    for page in [*sorted(DOCS.rglob("*.rst")), *sorted((DOCS / "gallery_scripts").rglob("*.py"))]
    if page not in BUILT and not {"generated", "gallery", "_templates"} & {part.name for part in page.parents}
]
OTHER_SENSES = re.compile(r"confidence levels?", re.IGNORECASE)
CODE = (nodes.literal, nodes.title_reference, nodes.literal_block, nodes.doctest_block)
NOT_PROSE = (*CODE, nodes.title, nodes.comment)


def test_every_public_name_has_a_page():
    listed = set(re.findall(r"^   ([A-Za-z_]\w*)$", (DOCS / "api.rst").read_text(), flags=re.MULTILINE))
    assert set(sklearn_ada.__all__) - listed == set()


def test_every_page_with_code_and_output_is_run():
    run = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"][
        "testpaths"
    ]
    for page in PAGES:
        if page.suffix == ".rst" and re.search(r"^ *>>> ", page.read_text(), flags=re.MULTILINE):
            assert {str(place.relative_to(DOCS.parent)) for place in (page, page.parent)} & {*run}, page


def test_the_words_of_a_certificate_are_in_the_glossary():
    words = "nat verdict check certify guess level ledger surprise cell sealed unseal head target vacuous"
    assert {*words.split(), "class mix"} <= set(GLOSSARY)


def test_the_pages_of_theorems_name_functions_and_tests_that_exist():
    pages = [page for page in (DOCS / "theory").glob("*.rst") if page.stem not in ("index", "sources")]
    assert len(pages) >= 7
    for page in pages:
        text = page.read_text()
        (path,) = re.findall(r"Computed by ``([\w.]+)``", text)
        module, function = path.rsplit(".", 1)
        assert callable(getattr(__import__(module, fromlist=[function]), function))
        tests = re.findall(r"``(tests/[\w/.]+)``", text)
        assert tests
        assert all((DOCS.parent / test).exists() for test in tests)


class Term(nodes.inline):
    """A link to the glossary."""


def link_to_term(name, rawtext, text, lineno, inliner, options=None, content=()):
    shown, _, target = text.rstrip(">").partition("<")
    return [Term(rawtext, shown.strip(), term=(target or shown).strip().lower())], []


def other_role(name, rawtext, text, lineno, inliner, options=None, content=()):
    return [nodes.literal(rawtext, text)], []


class Skipped(Directive):
    """A directive of Sphinx whose content is no prose of the page."""

    has_content, optional_arguments, final_argument_whitespace = True, 9, True
    option_spec: ClassVar = defaultdict(lambda: str)

    def run(self):
        return []


class Prose(Skipped):
    """A directive of Sphinx around prose."""

    def run(self):
        node = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, node)
        return [node]


roles.register_local_role("term", link_to_term)
for role in ("doc", "ref", "class", "func", "meth", "mod", "exc", "obj", "code"):
    roles.register_local_role(role, other_role)
SKIPPED = (
    "autofunction automodule autosummary currentmodule code-block toctree csv-table rubric literalinclude "
    "index"
)
for skipped in SKIPPED.split():
    directives.register_directive(skipped, Skipped)
for around in ("note", "warning", "tip"):
    directives.register_directive(around, Prose)


def unlinked_terms(source):
    """Return the terms of the glossary that a page uses, outside of code and titles, before it links them."""
    document = publish_doctree(source, settings_overrides={"report_level": 3, "halt_level": 3})
    seen, found = set(), []
    for node in document.findall(lambda n: isinstance(n, Term | nodes.Text)):
        if isinstance(node, Term):
            seen.add(node["term"])
            continue
        above = node.parent
        while above is not None and not isinstance(above, (Term, *NOT_PROSE)):
            above = above.parent
        if above is not None:
            continue
        text = OTHER_SENSES.sub("", str(node))
        for term in TERMS:
            if term not in seen and re.search(rf"\b{term}(s|es)?\b", text, flags=re.IGNORECASE):
                seen.add(term)
                found.append(term)
    return found


def page_of_script(source):
    """Return what a script of the gallery says: its docstring, and the comments that begin a cell."""
    docstring, _, code = source.removeprefix('"""').partition('"""')
    cells = re.findall(r"^# %%.*\n((?:#.*\n)*)", code, flags=re.MULTILINE)
    return "\n".join([docstring, *(re.sub(r"^# ?", "", cell, flags=re.MULTILINE) for cell in cells)])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_the_first_use_of_a_term_on_a_page_is_a_link_to_the_glossary(page):
    source = page.read_text()
    assert unlinked_terms(page_of_script(source) if page.suffix == ".py" else source) == []


@pytest.mark.parametrize(
    ("source", "unlinked"),
    [
        ("It costs a nat.", ["nat"]),
        ("Five NATS, and the class mix.", ["class mix", "nat"]),
        ("It costs :term:`nats <nat>`, a nat each.", []),
        ("A nat is a :term:`nat`.", ["nat"]),
        ("About a nat\n===========\n\n``a nat``, `nat`, :doc:`nat`, nature::\n\n   a nat\n\n>>> 'a nat'", []),
        (".. list-table::\n\n   * - a surprise\n     - :term:`surprise`", ["surprise"]),
        ("The confidence level is one thing.", []),
    ],
)
def test_glossary_terms_without_a_link_are_found(source, unlinked):
    assert unlinked_terms(source) == unlinked


def test_the_comments_of_a_script_are_a_page():
    script = (
        '"""\nTitle\n=====\n\nA nat.\n"""\n\nx = 1  # ledger\n# head\n\n# %%\n# A verdict,\n# told.\ny = 2\n'
    )
    assert unlinked_terms(page_of_script(script)) == ["nat", "verdict"]
