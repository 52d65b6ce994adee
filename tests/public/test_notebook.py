"""Pages in a notebook have one look, which takes its colours from the page around it."""

import re
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import ReusableHoldoutCV, plan_holdout

PAGES = ("search", "holdout", "answer", "certificate", "report", "plan")


@pytest.fixture(scope="module")
def pages():
    X, y = make_classification(400, 4, random_state=0)
    grid = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = ReusableHoldoutCV(grid, ledger=":memory:", answers="coarse").fit(
            X, np.where(y, "<b>", "&no")
        )
    answer, holdout = search.best_answer_, search.holdout_
    shown = search, holdout, answer, answer.certificate, holdout.report(), plan_holdout(n=500, searches=3)
    return {name: each._repr_html_() for name, each in zip(PAGES, shown, strict=True)}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_the_look_that_all_have_and_closes_what_it_opens(pages, name):
    ours = pages[name][pages[name].index('<div class="sklearn-ada">') :]
    for tag in ("div", "p", "table", "tr", "th", "td", "details", "summary", "b", "style"):
        assert len(re.findall(rf"<{tag}[ >]", ours)) == ours.count(f"</{tag}>"), tag
    assert "sk-top-container" in pages["search"]


@pytest.mark.parametrize("name", PAGES)
def test_colours_are_those_of_the_page_around_it(pages, name):
    (look,) = set(re.findall(r"<style>\n\.sklearn-ada.*?</style>", pages[name], flags=re.DOTALL))
    colours = re.findall(r"(?:color|background|border[\w-]*):([^;}]+)", look)
    assert colours
    plain = ("inherit", "none", "none!important", "0", "collapse", "1px solid rgba(128,128,128,.35)")
    assert set(colours) <= set(plain)
    assert not re.findall(r'(?:style|bgcolor|color)="', pages[name][pages[name].index("sklearn-ada") :])
