"""The documentation names what is public, and explains its words."""

import inspect
import re
from pathlib import Path

import pytest

import sklearn_ada

DOCS = Path(__file__).parents[1] / "docs"


def test_every_public_name_has_a_page():
    listed = set(re.findall(r"^   ([A-Za-z_]\w*)$", (DOCS / "api.rst").read_text(), flags=re.MULTILINE))
    assert set(sklearn_ada.__all__) - listed == set()


@pytest.mark.parametrize("name", sklearn_ada.__all__)
def test_every_public_name_and_its_methods_are_documented(name):
    thing = getattr(sklearn_ada, name)
    assert (thing.__doc__ or "").strip()
    if inspect.isclass(thing):
        own = [(n, m) for n, m in vars(thing).items() if not n.startswith("_") and inspect.isfunction(m)]
        for method, function in own:
            assert (inspect.getdoc(getattr(thing, method)) or function.__doc__ or "").strip(), method


@pytest.mark.parametrize(
    "name", ["Holdout", "ReusableHoldoutCV", "plan_holdout", "ThresholdoutScorer", "StableHoldoutScorer"]
)
def test_every_parameter_is_documented(name):
    thing = getattr(sklearn_ada, name)
    for parameter in inspect.signature(thing).parameters:
        assert re.search(rf"\b{parameter}\b[^\n]* : ", thing.__doc__), parameter


def test_the_words_of_a_certificate_are_in_the_glossary():
    terms = set(re.findall(r"^   (\w[\w ]*)$", (DOCS / "glossary.rst").read_text(), flags=re.MULTILINE))
    asked_for = ["nat", "verdict", "check", "certify", "guess", "level", "ledger", "surprise"]
    assert {*asked_for, "cell", "sealed", "unseal", "class mix", "head", "target", "vacuous"} <= terms


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
