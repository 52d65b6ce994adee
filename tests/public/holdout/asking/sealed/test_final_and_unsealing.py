"""Publishing one exact value, telling all that was sealed, and closing."""

import math
import warnings

import numpy as np
import pytest

from sklearn_ada import Guess, Holdout, Metric
from sklearn_ada.accounting import CountCode, unsealing_nats
from sklearn_ada.exceptions import BudgetExhaustedError, HoldoutLeakError, LedgerDamagedError
from sklearn_ada.guarantees import Purse, Tilt, clopper_pearson
from tests.support import holdouts
from tests.support.holdout.asking.sealed.counts import (
    BALANCED,
    Failing,
    RightOn,
    ask,
    held_by_frames,
    holdout_of,
    holdout_of_two_classes,
    rows,
)  # fmt: skip
from tests.support.ledgers import begun_as, bodies, kinds
from tests.support.models import Column, FromFile
from tests.support.rows import reference

ROWS = reference("sequence")
GUESSED = {"scoring": "accuracy", "guess": Guess(0.85, 1500)}


@pytest.fixture
def holdout(tmp_path):
    return holdout_of(500, tmp_path / "ledger.db")


@pytest.fixture
def of_two_classes(tmp_path):
    """A holdout of which one metric has no cells."""
    return holdout_of_two_classes(tmp_path / "two.db", answers="coarse")


def alone(count=425):
    """Return the width that an exact answer has on a holdout that is asked nothing else."""
    low, high = clopper_pearson(count, count, 500, math.log(0.05))
    return high - low


def unsealed(holdout, answer):
    with pytest.warns(UserWarning, match=r"Unsealing 1 answer costs up to \d\.\d+ nats"):
        (exact,) = holdout.unseal(answer)
    return exact


def purse(holdout):
    return holdout.ledger.read(lambda state: state.purse)


@pytest.fixture
def untilted(tmp_path):
    """A holdout as the reference has it, begun before guesses tilted intervals."""
    with begun_as(1):
        return holdout_of(500, tmp_path / "untilted.db")


@pytest.mark.parametrize("sequence", ["held", "surprises"])
def test_unsealed_after_nine_searches_is_what_the_reference_says(sequence, untilted):
    holdout = untilted
    searches = [row for row in ROWS if row["sequence"] == sequence]
    asked = [ask(holdout, int(row["count"]), float(row["guess"]), name=row["j"]) for row in searches]
    holdout.close()
    for row, interim, exact in zip(searches, asked, holdout.unseal(), strict=True):
        assert (exact.value, exact.verdict) == (int(row["count"]) / 500, "exact")
        own = float(row["unsealed_lower"]), float(row["unsealed_upper"])
        expected = max(own[0], interim.interval[0]), min(own[1], interim.interval[1])
        assert exact.interval == pytest.approx(expected, rel=1e-9)
        cell = holdout.ledger.record(interim.index).body["mechanism"]
        code = CountCode(cell["expected_count"], cell["tau"])
        ends = max(int(row["cell_low"]), 0), min(int(row["cell_high"]), 500)
        assert exact.cost.nats == pytest.approx(unsealing_nats(int(row["count"]), *ends, code))
        assert exact.certificate.target == "population accuracy at the holdout's class mix"


@pytest.mark.parametrize("sequence", ["held", "surprises"])
def test_the_kept_model_is_published_at_what_the_reference_says(sequence, untilted):
    """The reference's final takes all of the purse, ours .95 of it."""
    holdout = untilted
    searches = [row for row in ROWS if row["sequence"] == sequence]
    for row in searches:
        ask(holdout, int(row["count"]), float(row["guess"]), name=row["j"])
    (row,) = [row for row in searches if row["j"] == searches[-1]["kept_if_closed_now"]]
    count = int(row["count"])
    final = ask(holdout, count, float(row["guess"]), name=row["j"], publish=True)
    confirmed = sum(body["price"] for body in bodies(holdout) if body.get("kind") == "confirmation")
    level = float(searches[-1]["ln_delta_final"])
    own = math.log(0.05 * 0.8 * float(row["pi"])) - float(row["L_before"])
    if level != pytest.approx(own):  # the reference states the larger level of both
        level += math.log(0.95) - confirmed
        assert final.certificate.ln_delta == pytest.approx(level, rel=1e-9)
        ends = clopper_pearson(count, count, 500, level)
        inner = float(row["unsealed_lower"]), float(row["unsealed_upper"])
        assert final.interval == pytest.approx((max(ends[0], inner[0]), min(ends[1], inner[1])))
    assert final.value == count / 500


def test_after_nine_searches_the_published_interval_is_nearly_that_of_a_holdout_used_once(holdout):
    for number in range(9):
        ask(holdout, 425, 0.8512, name=str(number))
    final = ask(holdout, 425, 0.8512, name="8", publish=True)
    assert 0.9 < 2 * final.half_width / alone() < 1.05
    assert final.half_width == pytest.approx(bodies(holdout)[9]["published"], rel=0.02)


def test_a_final_is_recorded_once_and_confirmed_again(holdout, nearly_free):
    ask(holdout, 425, 0.8512)
    final, before = ask(holdout, 425, 0.8512, publish=True), purse(holdout)
    with nearly_free(holdout):
        again = ask(holdout, 425, 0.8512, publish=True)
    assert (again, again.repeated, purse(holdout)) == (final, True, before)


def test_a_final_finds_the_model_whatever_its_guess_is_now_and_asks_a_new_one_first(holdout, tmp_path):
    first = ask(holdout, 425, 0.8512)
    assert ask(holdout, 425, 0.7, publish=True).value == 0.85
    assert bodies(holdout)[-1]["of"] == first.index
    assert sum(body.get("kind") == "sealed" for body in bodies(holdout)) == 1
    other = holdout_of(500, tmp_path / "other.db")
    final = ask(other, 425, 0.8512, publish=True)
    assert [body.get("kind") for body in bodies(other)[1:]] == ["sealed", "unsealed"]
    assert (final.value, 2 * final.half_width < 1.12 * alone()) == (0.85, True)


def test_of_a_surprise_the_final_keeps_what_its_asking_certified(holdout):
    """Twelve surprises after it: the final's own level is small, that of the asking is not."""
    first = ask(holdout, 425, 0.8512, name="kept")
    body = bodies(holdout)[first.index]
    for number in range(12):
        ask(holdout, 300 + number, 0.9, name=str(number))
    final = ask(holdout, 425, 0.8512, name="kept", publish=True)
    own = Tilt(0.8512, 1500, 500, identical_rows=False).interval(425, 425, body["ln_delta"])
    assert final.interval == pytest.approx((max(own[0], first.interval[0]), min(own[1], first.interval[1])))


def test_the_tolerance_never_refuses_a_final(tmp_path):
    strict = {"tolerance": 0.02, "answers": "coarse"}
    cells = holdout_of(500, tmp_path / "cells.db", **strict)
    assert [ask(cells, 425, 0.8512, publish=final).verdict for final in (False, True)] == ["refused", "exact"]
    holdout = holdout_of_two_classes(tmp_path / "ledger.db", **strict)
    verdicts = [put(RightOn(230), **BALANCED).verdict for put in (holdout.certify, holdout.publish)]
    assert verdicts == ["refused", "exact"]


@pytest.mark.parametrize("answers", ["coarse", "auto"])
def test_what_was_published_first_is_not_paid_again_when_it_is_certified(answers, nearly_free):
    holdout = holdout_of_two_classes(":memory:", answers=answers)
    final = holdout.publish(RightOn(230), **BALANCED)
    for again in (holdout.certify, holdout.publish):
        with nearly_free(holdout):
            assert again(RightOn(230), **BALANCED) == final


@pytest.mark.parametrize("answers", ["exact", "auto"])
def test_where_the_first_answer_is_exact_it_is_not_paid_again_when_it_is_published(answers, nearly_free):
    holdout = holdout_of(500, ":memory:", answers=answers)
    first = ask(holdout, 425, 0.8512)
    final = ask(holdout, 425, 0.8512, publish=True)
    assert first.value == final.value == 0.85
    assert final.half_width <= first.half_width
    assert final == first or final.cost.nats < 0.002
    with nearly_free(holdout):
        assert ask(holdout, 425, 0.8512, publish=True) == final
    other = holdout_of(500, None, answers=answers)
    assert ask(other, 425, 0.8512, publish=True).value == 0.85
    with nearly_free(other):
        assert ask(other, 425, 0.8512).value == 0.85


def test_when_all_weights_are_gone_a_round_is_refused_in_words_and_cells_go_on(holdout):
    """After 250 finals .05 ** 250 of the purse is left, which is 0 as a float."""
    ask(holdout, 425, 0.8512, name="a")
    state = holdout.ledger.read(lambda s: s)
    state.purse = Purse(0.0, 250)
    planned = {"purpose": "certify", "scoring": "accuracy"}
    message = r"1 check planned, but nothing is left.*cells and windows"
    with pytest.raises(BudgetExhaustedError, match=message):
        holdouts.open_round(holdout, 1, purpose="check", scoring="neg_brier_score", name="exact")
    name = holdouts.open_round(holdout, 1, **planned, name="cells")
    answer = holdouts.ask(holdout, RightOn(430), **planned, guess=Guess(0.8512, 1500), round_name=name)
    assert (answer.answered, answer.certificate.vacuous) == (True, False)
    holdouts.open_round(holdout, 2, **planned, name="open")
    again = holdouts.restored(state, holdout.ledger.genesis)  # from a checkpoint
    assert again.allowance("certify", round_name="open").ln_delta == -math.inf


def test_a_second_final_says_what_is_left_in_the_end(holdout):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "All labels of the holdout are of one class")
        first, same = (ask(holdout, 425, 0.8512, name="a", publish=True) for _ in range(2))
    assert same == first
    message = rf"published before \(record {first.index}\)\. It took most .+ the model that is kept"
    with pytest.warns(UserWarning, match=message):
        assert ask(holdout, 425, 0.8512, name="b", publish=True).half_width > 0.04
    holdout.ledger.read(lambda s: setattr(s, "purse", type(s.purse)(0.0, 9)))
    empty = ask(holdout, 425, 0.8512, name="c", publish=True)
    assert empty.verdict == "refused"
    assert "What is left: cells" in empty.reason
    assert ask(holdout, 425, 0.8512, name="c").answered


def test_a_final_of_what_was_answered_at_once_takes_most_of_the_purse(of_two_classes):
    holdout = of_two_classes
    for number in range(5):
        holdout.check(RightOn(230, str(number)), **BALANCED)
    unguessed = {"scoring": "balanced_accuracy"}
    plain, final = (put(RightOn(230), **unguessed) for put in (holdout.certify, holdout.publish))
    assert (plain.value, plain.verdict) == (final.value, final.verdict)
    assert final.half_width <= plain.half_width
    assert bodies(holdout)[-1]["price"] < 0.002
    with pytest.warns(UserWarning, match=r"published before \(record \d+\)"):
        assert holdout.publish(RightOn(231), **BALANCED).verdict == "exact"
    assert purse(holdout).left < 0.05**2
    assert holdout.ledger.verify()


def test_what_is_unsealed_is_as_it_was_asked_whatever_came_later(tmp_path):
    found = []
    for later in (0, 1):
        holdout = holdout_of(500, tmp_path / f"{later}.db")
        first = ask(holdout, 425, 0.8512, name="first")
        for number in range(5 * later):
            ask(holdout, 300 + number, 0.9, name=str(number))
        holdout.close()
        found += holdout.unseal([first])
    assert (found[0].interval, found[0].cost) == (found[1].interval, found[1].cost)


def test_everything_that_is_asked_later_pays_for_unsealing_but_publishing_costs_next_to_nothing(holdout):
    first = ask(holdout, 425, 0.8512, name="first")
    before, exact = holdout.report().nats, unsealed(holdout, first)
    assert holdout.report().nats == pytest.approx(before + exact.cost.nats)
    later = ask(holdout, 425, 0.8512, name="later")
    assert bodies(holdout)[-1]["nats"] == pytest.approx(before + exact.cost.nats)
    assert later.half_width > first.half_width
    final = ask(holdout, 425, 0.8512, name="first", publish=True)
    assert final.cost.nats < 0.0011
    assert final.value == exact.value
    assert final.half_width <= exact.half_width


def test_unsealed_again_it_is_the_same_and_free(holdout):
    first = ask(holdout, 425, 0.8512)
    holdout.close()
    (exact,) = holdout.unseal()
    count = holdout.ledger.verify()
    assert holdout.unseal() == []
    assert holdout.unseal(first) == holdout.unseal([first.index]) == holdout.unseal(exact) == [exact]
    assert holdout.ledger.verify() == count


def test_what_was_published_is_unsealed_as_it_was_published(holdout):
    for number in range(9):  # so that the weight of its own asking is small
        ask(holdout, 425, 0.8512, name=str(number))
    first = ask(holdout, 425, 0.8512)
    own, final = unsealed(holdout, first), ask(holdout, 425, 0.8512, publish=True)
    count = holdout.ledger.verify()
    assert holdout.unseal(first) == [final]
    assert final.half_width < own.half_width
    assert holdout.ledger.verify() == count  # nothing was recorded, nor paid


def test_all_is_unsealed_only_when_nothing_more_is_asked(holdout, sentence, uncharged):
    ask(holdout, 425, 0.8512)
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("answers", "Holdout.unseal")):
        holdout.unseal()
    ask(holdout, 425, 0.8512, publish=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it was told already
        assert [answer.value for answer in holdout.unseal()] == [0.85]


def test_what_has_nothing_sealed_cannot_be_unsealed(holdout, of_two_classes, tmp_path, sentence, uncharged):
    other, strict = (holdout_of(500, tmp_path / f"{t}.db", tolerance=t) for t in (0.5, 0.01))
    failed_there = other.certify(Failing(1), **GUESSED)
    first, strange, refused = ask(holdout, 425, 0.8512), ask(other, 380, 0.8512), ask(strict, 425, 0.8512)
    failed, check = holdout.certify(Failing(1), **GUESSED), holdout.check(RightOn(424), **GUESSED)
    assert failed_there.index == first.index
    final = of_two_classes.publish(RightOn(200), scoring="balanced_accuracy")
    wrong = (failed, check, strange, 99, -1, 0, "first", True, [None], [first, failed], 1.0)
    for own, answers, message in (
        *((holdout, each, sentence("answers", "Holdout.unseal")) for each in wrong),
        *((holdout, each, "ask the holdout that gave it") for each in (strange, failed_there)),
        (holdout, failed, "failed"),
        (strict, refused, "refused"),
        (of_two_classes, final, r"'answers' parameter of Holdout.unseal"),
    ):
        with uncharged(own), pytest.raises(ValueError, match=message):
            own.unseal(answers)


@pytest.mark.parametrize("answers", ["coarse", "exact"])
def test_after_closing_nothing_new_is_answered(answers, tmp_path, nearly_free):
    holdout = holdout_of(500, tmp_path / "ledger.db", answers=answers)
    first = ask(holdout, 425, 0.8512)
    holdout.close()
    holdout.close()  # once is enough
    assert [body.get("kind") for body in bodies(holdout)].count("close") == 1
    refused = [ask(holdout, 426, 0.8512), holdout.check(RightOn(424), scoring="accuracy", guess=0.85)]
    refused.append(ask(holdout, 425 if answers == "coarse" else 426, 0.8512, publish=True))
    assert {answer.verdict for answer in refused} == {"refused"}
    assert "was closed" in refused[0].reason
    with nearly_free(holdout):
        assert ask(holdout, 425, 0.8512) == first
    again = holdout_of(500, holdout.ledger.path, answers=answers)
    for call in (
        lambda: holdout.select([RightOn(1), RightOn(2)], scoring="accuracy"),
        lambda: holdout.declare([RightOn(1)], scoring="accuracy"),
        lambda: with_more(holdout, 500, 500),
        lambda: again.select([RightOn(3)], scoring="accuracy"),
    ):
        with pytest.raises(BudgetExhaustedError, match="closed"):
            call()
    assert [answer.value for answer in holdout.unseal()] == ([0.85] if answers == "coarse" else [])


def test_a_closed_holdout_tells_of_no_more_rows_whether_they_are_its_own(holdout):
    """Whether rows are among the holdout's is an answer, too: what was recorded is told, and nothing else."""
    X, y = rows(500)

    def compare():
        holdout.check_overlap(X + 1000.0)
        with pytest.raises(HoldoutLeakError):
            holdout.check_overlap(X)

    compare()
    holdout.close()
    before = bodies(holdout)
    compare()
    for new in (X + 2000.0, X[::-1]):
        with pytest.raises(BudgetExhaustedError, match="closed"):
            holdout.check_overlap(new)
    with pytest.raises(BudgetExhaustedError, match="closed"):
        holdout.certify(RightOn(3), scoring="accuracy", guess_from=(X + 3000.0, y))
    assert bodies(holdout) == before


def test_the_state_survives_a_checkpoint(holdout):
    ask(holdout, 425, 0.8512)
    ask(holdout, 425, 0.8512, publish=True)
    holdout.close()
    holdout.unseal()
    state = holdout.ledger.read(lambda s: s)
    assert (state.closed, state.finals) == (True, 1)
    assert holdouts.restored(state, holdout.ledger.genesis).to_dict() == state.to_dict()
    assert holdout.ledger.verify() == len(bodies(holdout))


def test_a_seal_that_was_edited_is_found(holdout, monkeypatch):
    first = ask(holdout, 425, 0.8512)
    holdout.close()
    body = holdout.ledger.record(first.index).body
    for edited in ("zz", "", body["sealed"][:-2], None, "00" * 8):
        with monkeypatch.context() as patch:
            record = holdout.ledger.record(first.index)
            record.body["sealed"] = edited
            patch.setattr(type(holdout.ledger), "record", lambda self, number, r=record: r)
            with pytest.raises((LedgerDamagedError, ValueError)):
                holdout.unseal([first.index])
    assert holdout.unseal(first)[0].value == 0.85


def test_many_answers_are_unsealed_quickly(tmp_path):
    """Not a measurement of time: it does not read the ledger once for each."""
    holdout = holdout_of(2000, tmp_path / "ledger.db")
    for number in range(60):
        ask(holdout, 1700, 0.85, name=str(number))
    holdout.close()
    assert [answer.value for answer in holdout.unseal()] == [0.85] * 60


def with_more(holdout, n, more):
    return holdout.top_up(np.arange(n, n + more, dtype=float)[:, None], np.zeros(more, dtype=np.int8))


def test_a_sealed_answer_about_earlier_rows_is_unsealed_after_more_were_added(holdout):
    first = ask(holdout, 425, 0.8512)
    larger = with_more(holdout, 500, 400)
    second = ask(larger, 700, 0.78)
    larger.close()
    assert [answer.value for answer in larger.unseal()] == [0.85, 700 / 900]
    assert first.value != second.value


@pytest.mark.parametrize("final", [False, True])
def test_a_certify_after_more_rows_is_no_wider(tmp_path, final):
    """At an equal rate and without surprise: interim and published."""
    holdout = holdout_of(3000, tmp_path / "ledger.db")
    first = ask(holdout, 2550, 0.85, 3000, publish=final)
    second = ask(with_more(holdout, 3000, 1000), 3400, 0.85, 3000, publish=final)
    assert second.half_width < (0.027 if final else math.nextafter(first.half_width, 1.0))  # was .041


def test_the_report_says_how_questions_are_admitted_and_that_it_is_closed(tmp_path):
    holdout = holdout_of(500, tmp_path / "ledger.db", tolerance=0.3)
    assert "admitted by the width that its answer has if the guess holds" in repr(holdout.report())
    holdout.close()
    assert "closed: nothing new is answered" in repr(holdout.report())
    assert holdout_of(500, tmp_path / "exact.db", answers="exact").report().remark == ""


@pytest.mark.filterwarnings("ignore:Unsealing:UserWarning")
@pytest.mark.parametrize("how", ["unseal", "final"])
def test_no_frame_of_an_error_holds_what_would_have_been_answered(how, tmp_path, monkeypatch):
    holdout = holdout_of(50_000, tmp_path / "ledger.db")
    first = ask(holdout, 41_729, 0.8341, 50_000)
    holdout.ledger.read(lambda state: None)
    real = type(holdout.ledger).charge

    def broken(self, key, decide):
        if key is not None and key.startswith(("unsealed", "final")):
            raise MemoryError("no room")
        return real(self, key, decide)

    monkeypatch.setattr(type(holdout.ledger), "charge", broken)

    def release():
        if how == "unseal":
            return holdout.unseal(first)
        return ask(holdout, 41_729, 0.8341, 50_000, publish=True)

    with pytest.raises(MemoryError) as caught:
        release()
    held = held_by_frames(caught.value)
    assert held
    assert not any(type(value) is int and value == 41_729 for value in held)


def test_of_several_models_under_one_digest_the_one_that_is_published_is_asked_nothing_anew(tmp_path):
    """It is compared with all of them, whatever its guess is, and not with the first one alone."""
    rng = np.random.default_rng(0)
    holdout = Holdout(
        rng.normal(size=(400, 2)), rng.integers(2, size=400), ledger=tmp_path / "ledger.db", answers="coarse"
    )
    model, asked = FromFile(tmp_path / "weights.npy"), []
    for number, weights in enumerate(([1.0, 0.3], [-0.2, 1.0], [1.0, -2.0])):
        model.train(np.array(weights))
        asked.append(holdout.certify(model, scoring="accuracy", guess=0.5 + 0.02 * number))
    assert len({answer.index for answer in asked}) == 3
    for number, weights in ((2, [1.0, -2.0]), (1, [-0.2, 1.0])):
        model.train(np.array(weights))
        before = kinds(holdout).count("sealed")
        published = holdout.publish(model, scoring="accuracy", guess=0.47)
        assert kinds(holdout).count("sealed") == before
        assert published.value == pytest.approx(asked[number].value, abs=0.2)
        assert holdout.ledger.record(published.index).body["of"] == asked[number].index


def rows_of_a_column(seed, right, n=4000):
    """Return rows of which a column is right so often, and their labels."""
    y = np.arange(n) % 2
    return np.where(np.random.default_rng(seed).random(n) < right, y, 1 - y)[:, None], y


@pytest.mark.filterwarnings("ignore:The interval is for the median", "ignore:An answer of the holdout")
@pytest.mark.parametrize(("first", "second"), [
    ({"guess": 0.8}, {"guess": 0.75}), ({"guess": 0.8}, {}), ({}, {"guess": 0.2}), ({"guess": 0.01}, {}),
    ({"guess_from": rows_of_a_column(1, 0.8)}, {"guess_from": rows_of_a_column(2, 0.7)}),
])  # fmt: skip
def test_a_median_that_is_published_by_another_guess_keeps_its_interval(first, second, tmp_path):
    """What its record has are steps from the guess that it was asked with."""
    X, y = rows_of_a_column(0, 0.8)
    holdout = Holdout(X, y, ledger=tmp_path / "ledger.db", answers="coarse", random_state=0)
    bounds = None if "guess_from" in first else (0, 1)
    metric, model = Metric("accuracy", kind="general", range=bounds), Column().fit(X, y)
    answer = holdout.certify(model, scoring=metric, **first)
    published = holdout.publish(model, scoring=metric, **second)
    assert (published.value, published.interval) == (answer.value, answer.interval)
    assert answer.interval[0] < answer.value < answer.interval[1]
