"""A certify that tells a cell: what it says, what it costs, and that the count stands nowhere."""

import json
import math
import pickle
import re
import sqlite3
from dataclasses import asdict

import numpy as np
import pytest
from joblib import Parallel, delayed

from sklearn_ada import Guess
from sklearn_ada.exceptions import LedgerDamagedError, LedgerMismatchError
from sklearn_ada.guarantees import Purse, Tilt, clopper_pearson, question_interval, transcript_interval
from sklearn_ada.ledger import open_existing_ledger
from tests.support import holdouts
from tests.support.holdout.asking.sealed.counts import (
    Failing,
    RightOn,
    ask,
    held_by_frames,
    holdout_of,
    holdout_of_two_classes,
)  # fmt: skip
from tests.support.ledgers import begun_as, bodies, is_paid_in_advance
from tests.support.rows import reference

ROWS = reference("sequence")


@pytest.fixture
def holdout(tmp_path):
    return holdout_of(500, tmp_path / "ledger.db")


@pytest.fixture
def untilted(tmp_path):
    """A holdout as the reference has it, begun before guesses tilted intervals."""
    with begun_as(1):
        return holdout_of(500, tmp_path / "untilted.db")


@pytest.mark.parametrize("sequence", ["held", "surprises"])
def test_nine_searches_are_answered_as_the_reference_says(sequence, untilted):
    holdout = untilted
    for row in (row for row in ROWS if row["sequence"] == sequence):
        answer = ask(holdout, int(row["count"]), float(row["guess"]), name=row["j"])
        body = bodies(holdout)[-1]
        found = {
            "width_counts": body["mechanism"]["width"],
            "z": body["event"]["symbols"][0]["value"],
            "price": answer.cost.nats,
            "L_before": body["nats"],
            "L_including": holdout.report().nats,
            "pi": body["weight"],
            "interim_lower": answer.interval[0],
            "interim_upper": answer.interval[1],
        }
        for name, value in found.items():
            assert value == pytest.approx(float(row[name]), rel=1e-9, abs=1e-11), (row["j"], name)
        low, high = int(row["cell_low"]), int(row["cell_high"])
        first = body["mechanism"]["base"] + found["z"] * found["width_counts"]
        assert answer.value == pytest.approx((2 * first + found["width_counts"] - 1) / 1000)
        assert low / 500 - 0.001 <= answer.value <= high / 500 + 0.001
        assert answer.verdict == ("agrees" if found["z"] == 0 else "differs")


def test_the_score_says_that_it_is_the_centre_of_a_cell(holdout):
    certificate = ask(holdout, 425, 0.8512).certificate
    target = "population accuracy at the holdout's class mix, told as the centre of its cell, rounded to"
    assert certificate.target.startswith(target)
    assert "universal inference" in certificate.theorem
    assert "description length" in certificate.theorem
    assert certificate.confidence_level == 0.95


def test_the_width_if_it_were_published_now_is_computed_without_the_count(holdout):
    answer = ask(holdout, 425, 0.8512)
    weight, _ = Purse().question()[1].final()
    ln_delta = math.log(0.05 * 0.8 * weight) - answer.cost.nats
    low, high = Tilt(0.8512, 1500, 500, identical_rows=False).interval(426, 426, ln_delta)
    assert answer.published == float(f"{(high - low) / 2:.4g}")  # on record, which is kept short
    assert "published now: about +-0.03;" in str(answer)


def test_in_the_same_cell_all_that_is_released_is_the_same(tmp_path):
    """All of the record but its random parts, and the answer: the count moves neither."""
    shown = []
    for count in (406, 425, 446):
        holdout = holdout_of(500, tmp_path / f"{count}.db", random_state=3)
        answer, body = ask(holdout, count, 0.8512), bodies(holdout)[-1]
        assert [len(body[name]) for name in ("sealed", "said")] == [16, 216]
        kept = {k: body[k] for k in body.keys() - {"sealed", "said", "time", "subject"}}
        shown.append((answer, answer.published, kept))
    assert shown[0] == shown[1] == shown[2]


def test_what_is_sealed_looks_unrelated_to_the_count(tmp_path):
    """Equal counts of several models, and of several ledgers, have pads of their own."""
    sealed = set()
    for ledger in range(4):
        holdout = holdout_of(500, tmp_path / f"{ledger}.db")
        for name in "abcdefgh":
            ask(holdout, 425, 0.8512, name=name)
        sealed |= {body["sealed"] for body in bodies(holdout)[1:]}
    assert len(sealed) == 32
    bits = np.unpackbits(np.frombuffer(bytes.fromhex("".join(sealed)), dtype=np.uint8)).mean()
    assert 0.4 < bits < 0.6  # 2,048 bits: nine standard errors


COUNT = 41_729  # of 50,000 rows: a number that comes up by itself nowhere else


@pytest.fixture(scope="module")
def sealed_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("sealed") / "ledger.db"
    holdout = holdout_of(50_000, path)
    return holdout, ask(holdout, COUNT, 0.8341, 50_000), path


def in_the_clear(text):
    """Return the forms in which the count is in a text; by itself, as hashes hold any four digits."""
    shares = (f"{COUNT / 50_000:.{digits}g}" for digits in (5, 6, 17))
    forms = (str(COUNT), str(50_000 - COUNT), *shares)
    return [form for form in forms if re.search(rf"(?<![\w.]){re.escape(form)}(?!\w)", text, re.ASCII)]


def test_the_count_stands_in_no_record_report_pickle_or_urn(sealed_file):
    holdout, answer, path = sealed_file
    report = holdout.report()
    state = holdout.ledger.read(lambda s: s.to_dict())
    shown = [answer, report, report._repr_html_(), report.to_dicts(), report.to_dict(), holdout, state]
    text = " ".join(f"{thing!r} {thing!s}" for thing in shown) + json.dumps(bodies(holdout))
    text += str(asdict(answer))
    assert not in_the_clear(text)
    packed = pickle.dumps((holdout, answer, report))
    content = path.read_bytes() + packed
    for number in (COUNT, 50_000 - COUNT):
        for order in ("big", "little"):
            assert number.to_bytes(8, order) not in content
    assert not in_the_clear(content.decode("latin-1"))


def test_the_search_for_a_count_in_the_clear_finds_one(tmp_path):
    """Power of the test above: on a ledger whose answers are exact."""
    holdout = holdout_of(50_000, tmp_path / "ledger.db", answers="exact")
    assert in_the_clear(str(asdict(ask(holdout, COUNT, 0.8341, 50_000))))
    assert in_the_clear(json.dumps(bodies(holdout)))


def test_no_frame_of_an_error_holds_the_count(tmp_path, monkeypatch):
    holdout = holdout_of(50_000, tmp_path / "ledger.db")

    def broken(*args):
        raise MemoryError("no room")

    monkeypatch.setattr(type(holdout.ledger), "charge", broken)
    with pytest.raises(MemoryError) as caught:
        ask(holdout, COUNT, 0.8341, 50_000)
    held = held_by_frames(caught.value)
    assert held
    assert not any(type(value) is int and value == COUNT for value in held)


def test_asked_again_it_is_the_same_record(holdout, nearly_free):
    first = ask(holdout, 425, 0.8512)
    with nearly_free(holdout, times=2):
        again = [ask(holdout, 425, 0.8512) for _ in range(2)]
    assert (again, [each.repeated for each in again]) == ([first] * 2, [True] * 2)
    assert holdout.ledger.read(lambda state: state.purse.taken) == 1


def test_another_model_under_the_same_digest_is_another_question(holdout, monkeypatch):
    monkeypatch.setattr("sklearn_ada.terms.models.model_digest", lambda *model: "the same")
    first, second = ask(holdout, 425, 0.8512), ask(holdout, 430, 0.8512)
    assert not second.repeated
    assert second.index != first.index
    # Nothing is known of the order in which it came: description length speaks alone.
    assert "universal inference" not in second.certificate.theorem
    assert ask(holdout, 430, 0.8512).index == second.index


def test_a_question_that_others_overtook_pays_for_the_order_and_so_does_the_other(holdout):
    """Whose answer is recorded first may be decided by the rows: by how long a model takes on them."""

    class Overtaken(RightOn):
        def predict(self, X):
            first.append(ask(holdout, 425, 0.8512))
            return super().predict(X)

    first = []
    second = holdout.certify(Overtaken(430), scoring="accuracy", guess=Guess(0.8512, 1500))
    assert "universal inference" in first[0].certificate.theorem
    assert "universal inference" in second.certificate.theorem
    begun, own, overtaken = bodies(holdout)[1:]
    paid = [body["arrival"] for body in (begun, own, overtaken)]
    assert [name for name, _, _ in paid] == [None, "1", ""]
    assert paid[0][2] > 20.0  # the first time that anything comes in between
    assert paid[1][2] == pytest.approx(math.log(3.0))
    assert own["nats"] == pytest.approx(paid[0][2] + paid[1][2])
    assert overtaken["nats"] == pytest.approx(sum(nats for _, _, nats in paid) + first[0].cost.nats)
    assert holdout.report().nats == pytest.approx(overtaken["nats"] + overtaken["price"])


def weights_of(number):
    """Return the weights of so many questions one after the other."""
    purse, weights = Purse(), []
    for _ in range(number):
        weight, purse = purse.question()
        weights.append(weight)
    return pytest.approx(weights, rel=1e-12)


def test_two_holdouts_cannot_spend_the_purse_twice(tmp_path):
    """Both have planned when the purse was full; the weights are decided in the transaction."""
    both = [holdout_of(500, tmp_path / "ledger.db") for _ in range(2)]
    for number in range(10):
        ask(both[number % 2], 425, 0.8512, name=str(number))
    assert [body["weight"] for body in bodies(both[0])[1:] if not is_paid_in_advance(body)] == weights_of(10)


def _ask_some(holdout, names):
    return [ask(holdout, 425, 0.8512, name=name).cost.nats for name in names]


def test_processes_that_ask_at_once_share_one_purse(holdout):
    parts = [[f"{worker} {number}" for number in range(15)] for worker in range(2)]
    Parallel(n_jobs=2)(delayed(_ask_some)(holdout, names) for names in parts)
    records = bodies(holdout)[1:]
    assert [body["weight"] for body in records] == weights_of(30)
    assert [body["purse"][1] for body in records] == list(range(1, 31))
    assert holdout.ledger.verify() == 31


def test_a_record_that_takes_more_than_is_left_is_found(holdout):
    ask(holdout, 425, 0.8512)
    genesis, body = bodies(holdout)
    holdouts.state_after([genesis, body])  # as it is
    more = ({"weight": 0.08}, {"purse": [0.99, 1]}, {"purse": [0.5, 2]}, {"weight": -0.1})
    edited = [({**body, **change}, "more of the weights") for change in more]
    without = {name: body[name] for name in body if name != "purse"}
    for each, message in [*edited, (without, "took of the weights"), ({**body, "price": 0.01}, "price")]:
        with pytest.raises(LedgerDamagedError, match=message):
            holdouts.state_after([genesis, each])


def test_a_ledger_is_read_back_as_it_was(holdout):
    answers = [ask(holdout, count, 0.8512, name=str(count)) for count in (425, 380, 440)]
    assert [answer for _, answer in holdout.report().answers] == answers
    state = holdout.ledger.read(lambda s: s)
    assert holdout.ledger.verify() == 4
    found = open_existing_ledger(holdout.ledger.path, type(state))
    assert found.read(lambda s: s.to_dict()) == state.to_dict()
    assert holdouts.restored(state, found.genesis).to_dict() == state.to_dict()


def test_a_model_that_fails_seals_nothing_and_pays(holdout):
    answer = holdout.certify(Failing(1), scoring="accuracy", guess=Guess(0.8512, 1500))
    assert (answer.verdict, answer.reason) == ("failed", "prediction raised ValueError")
    assert answer.cost.nats == pytest.approx(-math.log(0.001 / 7), rel=1e-3)
    assert bodies(holdout)[-1]["sealed"] is None
    assert bodies(holdout)[-1]["weight"] > 0.0


def test_what_cannot_be_sealed_is_answered_at_once_from_the_same_purse(tmp_path):
    holdout, model = holdout_of_two_classes(tmp_path / "ledger.db", answers="coarse"), RightOn(230)
    asked = {"scoring": "accuracy", "guess": 0.5}
    assert holdout.certify(model, scoring="balanced_accuracy").verdict == "exact"
    assert holdout.certify(model, **asked).certificate.target.count("centre of its cell") == 1
    assert holdout.check(RightOn(231), **asked).verdict in ("agrees", "differs")
    first, purse = Purse().at_once()
    second, purse = purse.question()
    third, _ = purse.question()
    assert [body["weight"] for body in bodies(holdout)[1:]] == pytest.approx(
        [first, second, third], rel=1e-12
    )


def test_a_weight_of_zero_leaves_the_transcript(holdout):
    ask(holdout, 425, 0.8512, name="a")
    holdout.ledger.read(lambda s: s).purse = Purse(0.0, 1)
    answer = ask(holdout, 430, 0.8512, name="b")
    level = {"ln_beta": math.log(0.05 * 0.2), "nats": holdout.report().nats, "identical_rows": False}
    cell = bodies(holdout)[answer.index]["mechanism"]
    ends = cell["base"], cell["base"] + cell["width"] - 1
    assert answer.interval == pytest.approx(transcript_interval(*ends, 500, **level))
    assert answer.certificate.ln_delta == -math.inf
    refused = holdout.check(RightOn(3), scoring="accuracy", guess=0.5)
    assert refused.verdict == "refused"
    assert "cells and windows still certify" in refused.reason


def test_admission_looks_at_the_agreeing_answer(tmp_path):
    holdout = holdout_of(500, tmp_path / "ledger.db", tolerance=0.09)
    surprise = ask(holdout, 330, 0.8512, name="surprise")
    assert surprise.verdict == "differs"
    assert surprise.half_width > 0.09
    assert ask(holdout, 425, 0.8512, name="next").verdict == "refused"
    assert ask(holdout_of(500, tmp_path / "b.db", tolerance=0.05), 425, 0.8512).verdict == "refused"


BAD_ANSWERS = [{"answers": bad} for bad in ("cell", "sealed", True, 1)]
BAD_ANSWERS += [{"route": route} for route in ("differential_privacy", "both")]  # where nothing is sealed


@pytest.mark.parametrize("policy", BAD_ANSWERS, ids=str)
def test_answers_that_are_misspelt_or_without_a_meaning_are_an_error(policy, tmp_path, sentence):
    with pytest.raises(ValueError, match=sentence("answers", "Holdout")):
        holdout_of(50, tmp_path / "ledger.db", **policy)
    assert not (tmp_path / "ledger.db").exists()
    if "route" in policy:
        auto = holdout_of(50, tmp_path / "ledger.db", **policy, answers="auto")
        assert "answers" not in auto.ledger.genesis


@pytest.mark.parametrize(("answers", "other"), [("exact", "coarse"), ("coarse", "exact")])
def test_a_ledger_goes_on_answering_as_it_was_begun(answers, other, tmp_path):
    begun = holdout_of(500, tmp_path / "ledger.db", answers="auto" if answers == "coarse" else answers)
    centre = pytest.approx(0.8512, abs=0.001)
    assert ask(begun, 425, 0.8512).value == (0.85 if answers == "exact" else centre)
    with pytest.raises(LedgerMismatchError):
        holdout_of(500, tmp_path / "ledger.db", answers=other)
    again = ask(holdout_of(500, tmp_path / "ledger.db", answers="auto"), 430, 0.8512)
    assert again.value == (0.86 if answers == "exact" else centre)
    genesis = {name: begun.ledger.genesis.get(name) for name in ("answers", "shares")}
    expected = (None, None) if answers == "exact" else ("cells", [0.8, 0.2])
    assert tuple(genesis.values()) == expected
    assert ("purse" in begun.ledger.read(lambda state: state.to_dict())) == (answers == "coarse")


@pytest.mark.parametrize("ledger", [None, ":memory:"])
def test_on_a_temporary_ledger_the_first_winner_is_exact_and_later_ones_are_cells(ledger, nearly_free):
    holdout = holdout_of(500, ledger, answers="auto")
    assert holdout.ledger.genesis["answers"] == "auto"
    first = ask(holdout, 425, 0.8512, name="first")
    assert (first.value, first.verdict) == (0.85, "exact")
    alone = clopper_pearson(425, 425, 500, math.log(0.05))
    assert 2 * first.half_width / (alone[1] - alone[0]) < 1.12
    second = ask(holdout, 425, 0.8512, name="second")
    assert (second.value, second.verdict) == (pytest.approx(0.8512, abs=0.001), "agrees")
    with nearly_free(holdout, times=2):
        assert ask(holdout, 425, 0.8512, name="first") == first
        assert ask(holdout, 425, 0.8512, name="second") == second


def test_the_file_of_an_edited_purse_is_refused(holdout):
    """The chain is what notices it; the purse is checked besides."""
    ask(holdout, 425, 0.8512)
    edit = """UPDATE records SET body = replace(body, '"purse":[0.9', '"purse":[1.9') WHERE seq = 1"""
    with sqlite3.connect(holdout.ledger.path) as file:
        file.execute(edit)
    with pytest.raises(LedgerDamagedError):
        open_existing_ledger(holdout.ledger.path, holdouts.State)


def test_what_is_left_and_the_outlook_are_those_of_cells(tmp_path):
    holdout = holdout_of(500, tmp_path / "ledger.db", tolerance=0.13)
    ask(holdout, 425, 0.8512)
    outlook = holdout.report().outlook
    first, *_, last = (each for each in outlook.forecasts if each.purpose == "certify")
    assert first.half_width < last.half_width < 1.1 * first.half_width < 0.12
    assert holdout.remaining(purpose="certify", guess_rows=1500) > 100
    exact = holdout_of(500, tmp_path / "exact.db", answers="exact", tolerance=0.13)
    assert exact.remaining(purpose="certify") < holdout.remaining(purpose="certify", guess_rows=1500)


def test_declared_models_have_half_of_the_purse_and_keep_their_level(holdout):
    level = math.log(0.05 * 0.8 / 8)
    holdout.declare([RightOn(425, "a"), RightOn(430, "b")], scoring="accuracy")
    assert holdout.ledger.read(lambda state: state.purse.left) == pytest.approx(0.5)
    ask(holdout, 300, 0.9, name="surprise")
    answer = ask(holdout, 430, 0.8512, name="b")
    assert bodies(holdout)[-1]["declared"]
    assert answer.certificate.ln_delta == pytest.approx(level)
    holdout.close()
    own = question_interval(430, 430, 500, ln_beta=level, weight=1.0, nats=0.0)
    both = max(own[0], answer.interval[0]), min(own[1], answer.interval[1])
    assert holdout.unseal(answer)[0].interval == pytest.approx(both)
