"""One ledger for every copy of a scorer, in whatever process it works (of workers, see `test_backends`)."""

import copy
import math
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate

from sklearn_ada import ReusableHoldoutCV
from tests.support.concurrency.searching import SCORERS, X, Y, holdout_at, questions, rows, search_with
from tests.support.ledger.ledger_backends import pickled
from tests.support.processes import interpreter, together

pytestmark = pytest.mark.thorough


@pytest.fixture(params=SCORERS)
def kind(request):
    return request.param


@pytest.fixture
def holdout(tmp_path):
    return holdout_at(tmp_path / "ledger.db", random_state=0)


COPIES = {
    "clone of the search": clone,
    "deepcopy of the search": copy.deepcopy,
    "pickle of the search": pickled,
    "copy of the scorer": lambda search: search_with(copy.copy(search.scoring)),
    "deepcopy of the scorer": lambda search: search_with(copy.deepcopy(search.scoring)),
    "clone of the scorer": lambda search: search_with(clone(search.scoring, safe=False)),
    "pickle of the scorer": lambda search: search_with(pickled(search.scoring)),
}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_every_copy_charges_the_same_ledger(holdout, kind, copied):
    search = search_with(SCORERS[kind](holdout)).fit(X, Y)
    before = holdout.report()
    again = copied(search).fit(X, Y)
    after = holdout.report()
    assert (after.asked, after.answers) == (before.asked, before.answers)  # the same questions
    assert before.nats < after.nats < before.nats + 0.01  # are nearly free
    assert after.confirmed["different"] == 0
    np.testing.assert_array_equal(again.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"])
    more = copied(search).set_params(param_grid={"max_leaf_nodes": [20]}).fit(X, Y)
    assert holdout.report().asked["check"] == before.asked["check"] + 1
    assert more.cv_results_["mean_test_score"][0] == holdout.report().answers[-1][1].value


SECOND = """
    import pickle, sys
    from tests.support.concurrency.searching import X, Y
    with open(sys.argv[1], "rb") as file:
        search = pickle.load(file)
    search.fit(X, Y)
    more = search.set_params(param_grid={"max_leaf_nodes": [20]}).fit(X, Y)
    print(*search.scoring.holdout.report().asked.values())
"""


def test_a_second_interpreter_charges_the_same_ledger(holdout, kind, tmp_path):
    search = search_with(SCORERS[kind](holdout)).fit(X, Y)
    before = questions(holdout)
    (tmp_path / "search.pickle").write_bytes(pickle.dumps(search))
    done = interpreter(SECOND, tmp_path / "search.pickle")
    after = questions(holdout)
    assert done.stdout.split() == [str(len(before) + 1), "0"]
    assert len(after) == len(before) + 1
    assert before.items() <= after.items()


def test_a_holdout_made_again_on_the_same_file_goes_on_paying(holdout, kind):
    again = holdout_at(holdout.ledger.path, random_state=0)
    for each in (holdout, again):
        search_with(SCORERS[kind](each)).fit(X, Y)
    assert again.report() == holdout.report()
    assert again.report().asked["check"] == 7


def test_the_identical_question_is_nearly_free_and_says_so(holdout, kind):
    scorer = SCORERS[kind](holdout)
    model = LogisticRegression().fit(X[:200], Y[:200])
    first, second = (scorer.answer(model, X[200:], Y[200:]) for _ in range(2))
    assert second == first
    assert (first.repeated, second.repeated) == (False, True)
    kinds = [record.body["kind"] for record in holdout.ledger.records() if record.seq]
    assert kinds == ["overlap", "answer", "confirmation"]
    # a millionth for no overlap, and a thousandth for "the same"
    assert holdout.report().nats == pytest.approx(first.cost.nats - math.log(0.999), abs=1.1e-6)


def test_nested_searches_in_workers_charge_one_ledger(holdout):
    """Each outer fold is a search of its own, whose plain scores are free."""
    inner = search_with(SCORERS["thresholdout"](holdout), leaves=[2, 3])
    inner.set_params(refit=inner.scoring.select_best)
    cross_validate(inner, X, Y, cv=3, n_jobs=2, error_score="raise")
    report = holdout.report()
    assert report.asked["check"] == len(report.answers) == 6


def test_searches_in_two_threads_share_the_count(holdout):
    searches = [search_with(SCORERS["thresholdout"](holdout), leaves=range(2 + k, 8 + k)) for k in (0, 3)]
    together(*(lambda search=search: search.fit(X, Y) for search in searches))
    assert holdout.report().asked["check"] == len(range(2, 11))


def test_a_reusable_search_pays_the_same_in_parallel(tmp_path):
    data, reports = rows(2, 400), []
    for n_jobs in (1, 2):
        inner = GridSearchCV(LogisticRegression(), {"C": [0.01, 0.1, 1.0]}, n_jobs=n_jobs)
        asking = {"ask": "candidates", "answers": "exact", "ledger": tmp_path / f"{n_jobs}.db"}
        first, again = (ReusableHoldoutCV(inner, **asking).fit(*data).holdout_.report() for _ in range(2))
        assert again.answers == first.answers
        assert again.nats < first.nats + 0.02  # opening the ledger again is paid for, once
        reports.append(first)
    values = [sorted(answer.value for _, answer in report.answers) for report in reports]
    assert values[0] == values[1]
    assert reports[0].nats == pytest.approx(reports[1].nats, rel=1e-9)
