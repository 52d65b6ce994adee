"""Candidates of one search: cells of their own, one code in any order, the transcript once it is closed."""

import math

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Guess, ReusableHoldoutCV
from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.guarantees import Purse, question_interval, transcript_interval
from sklearn_ada.holdout.session import close_round
from sklearn_ada.mechanisms import CountCells, candidate_width
from tests.support import holdouts
from tests.support.holdout.asking.sealed.counts import RightOn, ask, holdout_of
from tests.support.ledgers import bodies


def candidates_of(n, size, seed=0):
    """The guess of each candidate, from n rows, and the count on n others."""
    rng = np.random.default_rng(seed)
    accuracies = np.clip(rng.normal(0.85, 0.02, size), 0.0, 1.0)
    guesses, counts = rng.binomial(n, accuracies) / n, rng.binomial(n, accuracies)
    return list(zip(guesses.tolist(), counts.tolist(), strict=True))


def check(holdout, guess, count, size, n, round_name="search", name=""):
    model = RightOn(count, name)
    question = holdouts.plan(holdout, model, scoring="accuracy", purpose="check", guess=Guess(guess, n))
    how = {"round_name": round_name, "candidates": size}
    return holdouts.put(holdout, question, model, model=f"{guess} {count} {name}", **how)


def searched(holdout, asked, n, order=None):
    """Ask about all candidates as one round, close it, and return their answers."""
    name = holdouts.open_round(holdout, len(asked), purpose="check", scoring="accuracy", key="search")
    for number in order or range(len(asked)):
        check(holdout, *asked[number], len(asked), n, name, str(number))
    session = holdout._session
    close_round(session.ledger, session.asker, "search")
    told = {}
    for record in holdout.ledger.records():
        if record.body.get("kind") == "sealed":
            told[record.body["guess"]["value"], record.body["subject"]] = session.recorded_answer(record.seq)
    return told


def test_a_candidate_has_the_cells_of_its_round_and_a_part_of_its_weight(tmp_path):
    holdout = holdout_of(2000, tmp_path / "ledger.db")
    name = holdouts.open_round(holdout, 100, purpose="check", scoring="accuracy", key="search")
    answer = check(holdout, 0.85, 1702, 100, 2000, name)
    body = bodies(holdout)[-1]
    cells = CountCells.around(2000, guess=0.85, guess_rows=2000, width=candidate_width(100))
    assert (body["mechanism"]["base"], body["mechanism"]["width"]) == (cells.base, cells.width)
    weight, _ = Purse().round(100)
    assert body["ln_delta"] == pytest.approx(math.log(0.05 * 0.8 * weight))
    low, high = cells.counts(0)
    terms = {"ln_beta": math.log(0.04), "weight": weight, "nats": 0.0}
    assert answer.interval == pytest.approx(question_interval(low, high, 2000, **terms))
    assert "universal inference" not in answer.certificate.theorem
    assert body["event"]["symbols"][0]["stream"] == "candidate"


def test_once_it_is_closed_its_answers_have_the_transcript_at_that_moment(tmp_path):
    holdout = holdout_of(2000, tmp_path / "ledger.db")
    name = holdouts.open_round(holdout, 2, purpose="check", scoring="accuracy", key="search")
    before = [check(holdout, 0.85, count, 2, 2000, name, "a") for count in (1702, 1690)]
    between = ask(holdout, 1700, 0.85, 2000)  # a question by itself, while the round is open
    nats = holdout.report().nats
    session = holdout._session
    close_round(session.ledger, session.asker, "search")
    close_round(session.ledger, session.asker, "search")  # once is enough
    low, high = CountCells.around(2000, guess=0.85, guess_rows=2000, width=candidate_width(2)).counts(0)
    told = {"ln_beta": math.log(0.01), "nats": nats, "identical_rows": False}
    transcript = transcript_interval(low, high, 2000, **told)
    for answer in before:
        after = session.recorded_answer(answer.index)
        assert after.interval == pytest.approx(
            (max(answer.interval[0], transcript[0]), min(answer.interval[1], transcript[1]))
        )
        assert "universal inference" in after.certificate.theorem
        assert after.value == answer.value
    listed = {answer.index: answer for _, answer in holdout.report().answers}
    assert all(listed[a.index] == session.recorded_answer(a.index) for a in (*before, between))
    assert check(holdout, 0.85, 1702, 2, 2000, name, "a") == session.recorded_answer(before[0].index)
    assert [b.get("kind") for b in bodies(holdout)].count("round_close") == 1


def test_what_a_round_costs_does_not_depend_on_the_order_in_which_it_is_recorded(tmp_path):
    """Nor what is certified once it is closed: workers may come in the order of the scores."""
    asked = candidates_of(500, 40)
    asked[3], asked[20] = (asked[3][0], 300), (asked[20][0], 480)  # two surprises
    orders = [None, sorted(range(40), key=lambda i: asked[i][1]), list(range(39, -1, -1))]
    found = []
    for number, order in enumerate(orders):
        holdout = holdout_of(500, tmp_path / f"{number}.db")
        answers = searched(holdout, asked, 500, order)
        found.append((holdout.report().nats, sorted((a.value, *a.interval) for a in answers.values())))
    for nats, intervals in found[1:]:
        assert nats == pytest.approx(found[0][0], rel=1e-12)
        assert np.allclose(intervals, found[0][1], rtol=1e-12)


def test_a_question_after_the_closing_is_on_its_own(tmp_path):
    holdout = holdout_of(500, tmp_path / "ledger.db")
    name = holdouts.open_round(holdout, 3, purpose="check", scoring="accuracy", key="search")
    check(holdout, 0.85, 425, 3, 500, name, "a")
    session = holdout._session
    close_round(session.ledger, session.asker, "search")
    check(holdout, 0.85, 425, 3, 500, name, "b")
    weight, _ = Purse().round(3)[1].question()
    assert bodies(holdout)[-1]["round"] is None
    assert bodies(holdout)[-1]["weight"] == pytest.approx(weight)


def test_a_closing_that_was_edited_is_found(tmp_path):
    holdout = holdout_of(500, tmp_path / "ledger.db")
    searched(holdout, candidates_of(500, 3), 500)
    *records, closing = bodies(holdout)
    with pytest.raises(LedgerDamagedError, match="sum of nats"):
        holdouts.state_after([*records, {**closing, "nats": 0.5 * closing["nats"]}])
    holdouts.state_after([*records, closing])


@pytest.mark.parametrize(
    ("size", "searching", "unsealed"),
    [(100, 0.0265, 0.0155), pytest.param(1000, 0.030, 0.0175, marks=pytest.mark.slow)],
)
def test_candidates_of_one_search_are_as_narrow_as_promised(size, searching, unsealed, tmp_path):
    holdout = holdout_of(10_000, tmp_path / "ledger.db")
    answers = list(searched(holdout, candidates_of(10_000, size), 10_000).values())
    agreeing = [a.half_width for a in answers if a.verdict == "agrees"]
    assert len(agreeing) > 0.95 * size
    assert np.median(agreeing) <= searching
    holdout.close()
    told = holdout.unseal()
    assert len(told) == size
    assert np.median([answer.half_width for answer in told]) <= unsealed


X, Y = make_classification(1200, 6, n_informative=4, flip_y=0.1, random_state=3)
GRID = {"max_depth": [1, 2, 3, 4, 5, 6, 7, 8], "min_samples_leaf": [1, 5]}


def search_of(path, n_jobs=1, **how):
    inner = GridSearchCV(DecisionTreeClassifier(random_state=0), GRID, n_jobs=n_jobs)
    return ReusableHoldoutCV(inner, ask="candidates", answers="coarse", ledger=path, **how).fit(X, Y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_closes_its_round_and_asks_about_its_winner(tmp_path, n_jobs):
    search = search_of(tmp_path / "ledger.db", n_jobs)
    kinds = [body.get("kind") for body in bodies(search.holdout_)[1:]]
    assert kinds[:-3].count("sealed") == 15 or kinds.count("sealed") == 17
    assert kinds.index("round_close") > kinds.index("round")
    closed = search.cv_results_["certified_high"] - search.cv_results_["certified_low"]
    session = search.holdout_._session
    for number, answer in enumerate(search.answers_[:16]):
        assert "universal inference" in answer.certificate.theorem
        assert 2 * answer.half_width == pytest.approx(closed[number])
        raw = session.ledger.record(answer.index).body["outcome"]["interval"]
        assert closed[number] <= raw[1] - raw[0]
    assert search.publish().value == search.best_score_


def test_the_same_search_again_is_nearly_free(tmp_path):
    first = search_of(tmp_path / "ledger.db")
    count, nats = len(bodies(first.holdout_)), first.holdout_.report().nats
    again = search_of(tmp_path / "ledger.db")
    assert {body["kind"] for body in bodies(again.holdout_)[count:]} == {"confirmation"}
    assert again.holdout_.report().nats < nats + 0.02
    assert again.answers_ == first.answers_
    assert np.allclose(again.cv_results_["certified_low"], first.cv_results_["certified_low"])


def test_with_workers_the_ledger_says_the_same(tmp_path):
    one, two = search_of(tmp_path / "one.db"), search_of(tmp_path / "two.db", 2)
    assert [a.value for a in two.answers_] == [a.value for a in one.answers_]
    for ours, theirs in zip(two.answers_, one.answers_, strict=True):
        assert ours.interval == pytest.approx(theirs.interval, rel=1e-12)
    assert two.holdout_.report().nats == pytest.approx(one.holdout_.report().nats, rel=1e-12)


def test_the_best_few_of_a_search_are_closed_as_well(tmp_path):
    inner = GridSearchCV(DecisionTreeClassifier(random_state=0), GRID)
    search = ReusableHoldoutCV(inner, ask=3, answers="coarse", ledger=tmp_path / "l.db").fit(X, Y)
    assert len(search.answers_) == 3
    assert all("universal inference" in answer.certificate.theorem for answer in search.answers_)
    assert search.best_answer_ in search.answers_
