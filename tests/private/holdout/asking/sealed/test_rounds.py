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
from tests.support.ledgers import bodies, kinds, kinds_asked


def candidates_of(n, size, seed=0):
    """The guess of each candidate, from n rows, and the count on n others."""
    rng = np.random.default_rng(seed)
    accuracies = np.clip(rng.normal(0.85, 0.02, size), 0.0, 1.0)
    guesses, counts = rng.binomial(n, accuracies) / n, rng.binomial(n, accuracies)
    return list(zip(guesses.tolist(), counts.tolist(), strict=True))


def opened(path, size, n):
    """Return a holdout of n rows with a round of so many candidates."""
    holdout = holdout_of(n, path)
    holdouts.open_round(holdout, size, purpose="check", scoring="accuracy", name="search")
    return holdout


def check(holdout, guess, count, size, name=""):
    n, model = holdout.n_rows, RightOn(count, name)
    question = holdouts.plan(holdout, model, scoring="accuracy", purpose="check", guess=Guess(guess, n))
    how = {"round_name": "search", "candidates": size}
    return holdouts.put(holdout, question, model, model=f"{guess} {count} {name}", **how)


def close(holdout):
    session = holdout._session
    close_round(session.ledger, session.asker, "search")


def searched(path, asked, n, order=None):
    """Ask about all candidates as one round, close it, and return the holdout and its answers."""
    holdout = opened(path, len(asked), n)
    for number in order or range(len(asked)):
        check(holdout, *asked[number], len(asked), str(number))
    close(holdout)
    records = [record for record in holdout.ledger.records() if record.body.get("kind") == "sealed"]
    return holdout, [holdout._session.recorded_answer(record.seq) for record in records]


def test_a_candidate_has_the_cells_of_its_round_and_a_part_of_its_weight(tmp_path):
    holdout = opened(tmp_path / "ledger.db", 100, 2000)
    answer = check(holdout, 0.85, 1702, 100)
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
    holdout = opened(tmp_path / "ledger.db", 2, 2000)
    before = [check(holdout, 0.85, count, 2, "a") for count in (1702, 1690)]
    between = ask(holdout, 1700, 0.85, 2000)  # a question by itself, while the round is open
    terms = {"ln_beta": math.log(0.01), "nats": holdout.report().nats, "identical_rows": False}
    close(holdout)
    close(holdout)  # once is enough
    cells = CountCells.around(2000, guess=0.85, guess_rows=2000, width=candidate_width(2))
    low, high = transcript_interval(*cells.counts(0), 2000, **terms)
    session = holdout._session
    for answer in before:
        after = session.recorded_answer(answer.index)
        assert after.interval == pytest.approx((max(answer.interval[0], low), min(answer.interval[1], high)))
        assert "universal inference" in after.certificate.theorem
        assert after.value == answer.value
    listed = {answer.index: answer for _, answer in holdout.report().answers}
    assert all(listed[a.index] == session.recorded_answer(a.index) for a in (*before, between))
    assert check(holdout, 0.85, 1702, 2, "a") == session.recorded_answer(before[0].index)
    assert kinds(holdout).count("round_close") == 1


def test_what_a_round_costs_does_not_depend_on_the_order_in_which_it_is_recorded(tmp_path):
    """Workers may come in the order of the scores. What each is certified meanwhile is at its own record."""
    asked = candidates_of(500, 40)
    asked[3], asked[20] = (asked[3][0], 300), (asked[20][0], 480)  # two surprises
    orders = [None, sorted(range(40), key=lambda i: asked[i][1]), list(range(39, -1, -1))]
    found = []
    for number, order in enumerate(orders):
        holdout, answers = searched(tmp_path / f"{number}.db", asked, 500, order)
        nats = np.cumsum([0.0] + [body["price"] for body in bodies(holdout) if "price" in body])
        weight, _ = Purse().round(40)
        own = [math.log(0.04 * weight) - each for each in nats[:-1]]
        assert [answer.certificate.ln_delta for answer in answers] == pytest.approx(own)
        found.append((holdout.report().nats, sorted(a.value for a in answers)))
    assert all(nats == pytest.approx(found[0][0], rel=1e-12) for nats, _ in found)
    assert all(values == found[0][1] for _, values in found)


def test_a_question_after_the_closing_is_on_its_own(tmp_path):
    holdout = opened(tmp_path / "ledger.db", 3, 500)
    check(holdout, 0.85, 425, 3, "a")
    close(holdout)
    check(holdout, 0.85, 425, 3, "b")
    weight, _ = Purse().round(3)[1].question()
    assert "round" not in bodies(holdout)[-1]
    assert bodies(holdout)[-1]["weight"] == pytest.approx(weight)


def test_a_closing_that_was_edited_is_found(tmp_path):
    holdout, _ = searched(tmp_path / "ledger.db", candidates_of(500, 3), 500)
    *records, closing = bodies(holdout)
    with pytest.raises(LedgerDamagedError, match="sum of nats"):
        holdouts.state_after([*records, {**closing, "nats": 0.5 * closing["nats"]}])
    holdouts.state_after([*records, closing])


@pytest.mark.parametrize(
    ("size", "searching", "unsealed"),
    [(100, 0.0265, 0.0155), pytest.param(1000, 0.030, 0.0175, marks=pytest.mark.slow)],
)
def test_candidates_of_one_search_are_as_narrow_as_promised(size, searching, unsealed, tmp_path):
    holdout, answers = searched(tmp_path / "ledger.db", candidates_of(10_000, size), 10_000)
    agreeing = [a.half_width for a in answers if a.verdict == "agrees"]
    assert len(agreeing) > 0.95 * size
    assert np.median(agreeing) <= searching
    holdout.close()
    widths = [answer.half_width for answer in holdout.unseal()]
    assert len(widths) == size
    assert np.median(widths) <= unsealed


X, Y = make_classification(1200, 6, n_informative=4, flip_y=0.1, random_state=3)
GRID = {"max_depth": [1, 2, 3, 4, 5, 6, 7, 8], "min_samples_leaf": [1, 5]}


def search_of(path, n_jobs=1, ask="candidates"):
    inner = GridSearchCV(DecisionTreeClassifier(random_state=0), GRID, n_jobs=n_jobs)
    return ReusableHoldoutCV(inner, ask=ask, answers="coarse", ledger=path).fit(X, Y)


def test_a_search_closes_its_round_and_asks_about_its_winner_with_workers_too(tmp_path):
    searches = [search_of(tmp_path / f"{n_jobs}.db", n_jobs) for n_jobs in (1, 2)]
    for search in searches:
        recorded = kinds(search.holdout_)
        assert recorded.count("sealed") == 17
        assert recorded.index("round_close") > recorded.index("round")
        closed = search.cv_results_["certified_high"] - search.cv_results_["certified_low"]
        for number, answer in enumerate(search.answers_[:16]):
            assert "universal inference" in answer.certificate.theorem
            assert 2 * answer.half_width == pytest.approx(closed[number])
            raw = search.holdout_.ledger.record(answer.index).body["outcome"]["interval"]
            assert closed[number] <= raw[1] - raw[0]
    one, two = searches
    assert [a.value for a in two.answers_] == [a.value for a in one.answers_]
    for ours, theirs in zip(two.answers_, one.answers_, strict=True):
        assert ours.interval == pytest.approx(theirs.interval, rel=1e-12)
    nats = [search.holdout_.report().nats for search in searches]
    assert nats[1] == pytest.approx(nats[0], rel=1e-12)
    assert [search.publish().value for search in searches] == [search.best_score_ for search in searches]


def test_the_same_search_again_is_nearly_free(tmp_path):
    first = search_of(tmp_path / "ledger.db")
    count, nats = len(kinds_asked(first.holdout_)), first.holdout_.report().nats
    again = search_of(tmp_path / "ledger.db")
    assert set(kinds_asked(again.holdout_)[count:]) == {"confirmation"}
    assert again.holdout_.report().nats < nats + 0.03
    assert again.answers_ == first.answers_
    assert np.allclose(again.cv_results_["certified_low"], first.cv_results_["certified_low"])


def test_the_best_few_of_a_search_are_closed_as_well(tmp_path):
    search = search_of(tmp_path / "ledger.db", ask=3)
    assert len(search.answers_) == 3
    assert all("universal inference" in answer.certificate.theorem for answer in search.answers_)
    assert search.best_answer_ in search.answers_
