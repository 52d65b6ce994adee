"""Whoever meets the project reads six words of ours, each explained; all others are in the glossary."""

import inspect
import re
from pathlib import Path

import pytest

import sklearn_ada

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text()
SIX = {"ledger", "guess", "coarse interval", "publish", "cost", "class mix"}
OURS = re.findall(r"^   (\w[\w ]*)$", (DOCS / "glossary.rst").read_text(), flags=re.MULTILINE)
"""All our terms: the glossary explains each."""
EVERYDAY = {"budget", "check", "head", "level", "memory", "record", "round", "row", "share", "state", "unit"}
EVERYDAY |= {"weight", "nat"}
"""Of these in their common sense, which the glossary narrows; and the unit in which a cost is counted."""
OTHERS = {"confidence interval", "p-value", "pandas", "test set"}
"""Words of statistics and of other packages, for which people search the glossary."""
STEMS = {"certify": "certif(y|ies|ied)", "sealed": "(un)?seal(s|ed)?"}
MARKDOWN = (r"(?s)```.*?```", r"`[^`]*`", r"\]\([^)]*\)")
PAGE = (r"(?m)^ *>>> .*(\n.+)*", r"(?m)^ *(\.\.|:\w+:) .*$", r"``[^`]*``", r":\w+:`[^`]*`", r"`[^`]*`")
"""What is no prose: code, its output, addresses and directives."""
VERBS = {
    "answer", "count", "describe", "draw", "find", "fit", "hold", "reveal", "run", "score", "set", "state"
}  # fmt: skip
"""With which the first sentence of a public class or function begins."""
SENTENCES = {
    name: inspect.getdoc(getattr(sklearn_ada, name)).split("\n\n")[0] for name in sklearn_ada.__all__
}
NAMED = sorted({*re.findall(r"\w+", " ".join(re.findall(r"`[^`]*`", README)))} & {*sklearn_ada.__all__})


def prose(text, no_prose):
    """Return a text in small letters without what is no prose."""
    text = re.sub(r":term:`([^`<]*)[^`]*`", r"\1", text)
    for pattern in no_prose:
        text = re.sub(pattern, " ", text)
    return text.lower()


FIRST = {"README": prose(README, MARKDOWN)}
FIRST |= {
    name: prose((DOCS / f"{name}.rst").read_text(), PAGE)
    for name in ("index", "quickstart", "summary", "faq", "promise", "limits")
}
FIRST |= {name: prose(sentence, PAGE) for name, sentence in SENTENCES.items()}


def terms_in(text):
    """Return the terms of ours, and their other forms, that a text uses."""
    form = {term: STEMS.get(term, rf"{term}(s|es|ed)?") for term in OURS}
    return {term for term in form if re.search(rf"\b{form[term]}\b", text)}


@pytest.mark.parametrize("text", FIRST.values(), ids=FIRST)
def test_what_one_reads_first_uses_six_words_of_ours_and_no_other(text):
    assert terms_in(text) - SIX - EVERYDAY - OTHERS == set()


@pytest.mark.parametrize("sentence", SENTENCES.values(), ids=SENTENCES)
def test_a_first_sentence_has_a_verb_an_object_and_at_most_fifteen_words(sentence):
    words = sentence.lower().rstrip(".").split()
    assert words[0] in VERBS
    assert words[1] not in {"by", "of", "that", "to", "up"}
    assert len(words) <= 15


def test_readme_explains_the_six():
    explanations = README.partition("## Six words")[2].partition("\n## ")[0]
    explained = re.findall(r"^- \*\*([\w ]+)\*\*: ", explanations, flags=re.MULTILINE)
    assert {word.lower() for word in explained} == SIX


def test_the_glossary_explains_them_too_and_readme_names_classes():
    assert SIX - {*OURS} == set()
    assert len(NAMED) >= 4


def test_another_word_of_ours_is_found():
    page = ":term:`Certified <certify>`, ``a cell``, `x`, :doc:`unseal`.\n\n>>> 1\n'sealed'\n\nA surprise."
    assert terms_in(prose(page, PAGE)) == {"certify", "surprise"}
    readme = "It [unseals](a_cell) `x`:\n```text\nvacuous\n```"
    assert terms_in(prose(readme, MARKDOWN)) == {"unseal", "sealed"}


def test_the_page_of_promises_begins_with_what_is_assumed_and_is_short():
    page = (DOCS / "promise.rst").read_text()
    titles = re.findall(r"^(.+)\n-{4,}$", page, flags=re.MULTILINE)
    assert titles[0] == "What is assumed"
    assert len(prose(page, (*PAGE, r"(?m)^=.*$")).split()) <= 1_000
