"""Scikit-learn's own tests pass with this package's objects in the place of its own, except for a list."""

import re

import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from sklearn_ada import ReusableHoldoutCV
from tests.support.consumers import sklearn_own_tests as own
from tests.support.consumers.table import COUNTS, DIFFERENCES, differences, in_markup, read

newest = pytest.mark.skipif(
    tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < own.NEWEST,
    reason="the list is of the tests of the newest scikit-learn; others have other cases",
)


@newest
@pytest.mark.thorough
@pytest.mark.parametrize("run", own.RUNS)
def test_what_fails_is_what_is_listed(run):
    outcomes = own.run(run)
    new, over = own.compare(run, outcomes)
    assert not new, "fails and is not listed"
    assert not over, "listed, and does not fail"
    (counts,) = [row for row in read(COUNTS) if row["tests"] == own.title(run)]
    assert counts == own.counted(run, outcomes)


def test_the_comparison_tells_of_what_is_not_listed_and_of_what_no_longer_fails():
    run = next(iter(own.RUNS))
    expected = sorted(case for name, case in own.listed() if name == run)
    outcomes = {case: ["failed", "as listed", True] for case in expected}
    assert own.compare(run, outcomes) == ({}, [])
    outcomes[expected[0]] = ["passed", "", True]
    outcomes["test_of_something_else"] = ["failed", "AssertionError", True]
    assert own.compare(run, outcomes) == ({"test_of_something_else": "AssertionError"}, [expected[0]])


def test_the_documentation_has_every_listed_case_with_its_reason_and_no_other():
    assert read(DIFFERENCES) == differences()
    assert {row["why"] for row in read(DIFFERENCES)} == set(map(in_markup, own.listed().values()))


def test_in_place_stands_what_a_user_would_put_there():
    made = own.in_place(GridSearchCV)(LogisticRegression(), {"C": [1.0]}, cv=3)
    assert type(made) is ReusableHoldoutCV
    assert type(made.search) is GridSearchCV
    assert made.search.cv == 3
    usual = ReusableHoldoutCV(made.search).get_params(deep=False)
    assert {**made.get_params(deep=False), "search": None} == {**usual, "search": None}


def test_every_listed_case_is_of_a_run_has_a_reason_and_is_counted_in_the_documentation():
    for (run, case), reason in own.listed().items():
        assert run in own.RUNS
        assert case.startswith("test_")
        assert re.search(r"\w+.*\.$", reason)
    listed = [run for run, _ in own.listed()]
    for run, row in zip(own.RUNS, read(COUNTS), strict=True):
        assert row["tests"] == own.title(run)
        assert int(row["listed"]) == listed.count(run)
        if row["tests"] == "test_search, in place":  # most cases pass
            assert int(row["pass"]) >= 115
            assert int(row["cases"]) == 141
