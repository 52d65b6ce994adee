"""The first line of a report says how many questions are left; that many are then answered."""

import warnings

import pytest
from sklearn.dummy import DummyClassifier

from sklearn_ada import Holdout

X, Y = [[float(i)] for i in range(400)], [0, 1] * 200
ASKED = {"scoring": "accuracy", "guess": 0.5}


@pytest.fixture
def opened(tmp_path):
    return lambda name="ledger", **policy: Holdout(X, Y, ledger=tmp_path / f"{name}.db", **policy)


def constants(count):
    models = [DummyClassifier(strategy="constant", constant=k % 2, random_state=k) for k in range(count)]
    return [model.fit(X, Y) for model in models]


def first(holdout):
    report = holdout.report()
    assert repr(report).startswith(report.headline + "\n")
    assert report.headline in report._repr_html_().replace("±", "+-")
    assert report.to_dict()["headline"] == report.headline
    return report.headline


def test_within_a_tolerance_so_many_are_answered_and_no_more(opened):
    holdout = opened(tolerance=0.17)
    assert holdout.remaining(purpose="check") == 0
    assert holdout.remaining() == holdout.remaining(purpose="certify")
    left = holdout.remaining(purpose="certify")
    assert first(holdout) == f"You can still certify {left} models at +-0.17, and ask no check."
    answers = [holdout.certify(model, **ASKED) for model in constants(9)]
    assert [answer.answered for answer in answers] == [number < left for number in range(9)]
    assert 1 < left < 9
    assert max(answer.half_width for answer in answers[:left]) <= 0.17


TERMS = {
    "as it comes": {}, "priced": {"class_mix": "priced"}, "declared": {"class_mix": {0: 0.1, 1: 0.9}},
    "groups": {"groups": [row // 2 for row in range(400)]}, "weights": {"sample_weight": [1, 3] * 200},
    "coarse": {"answers": "coarse"}, "many": {"expected_questions": 50},
}  # fmt: skip


@pytest.mark.parametrize("terms", TERMS.values(), ids=TERMS)
@pytest.mark.parametrize("tolerance", [0.17, 0.25])
def test_the_report_counts_what_remaining_counts_for_these_rows(opened, terms, tolerance):
    holdout = opened(tolerance=tolerance, **terms)
    for certified in (False, True):
        if certified:
            holdout.certify(constants(1)[0], **ASKED)
        report = holdout.report()
        left = report.outlook.remaining
        assert left == {purpose: holdout.remaining(purpose=purpose) for purpose in left}
        now, by_hand = holdout.remaining(), left["certify"]
        if "answers" not in terms and not certified and left["check"]:
            by_hand = left["check"]
        assert now == by_hand
        many = "any number of" if now >= 10**9 else f"{now:,} " if now else ("no more", "No more")
        assert any(word in report.headline for word in ([many] if isinstance(many, str) else many))


def test_the_headline_says_how_many_checks_are_left_how_wide_they_are_or_that_none_helps(opened, tmp_path):
    many, free = opened("many", tolerance=0.3), opened("free")
    left = many.remaining()
    assert left > 1
    assert first(many) == f"You can still ask {left:,} questions at +-0.3 whose guesses hold."
    none = first(opened("none", tolerance=0.01))
    assert none == "You can ask no more questions at +-0.01: add fresh rows (top_up) to go on."
    width = max(f.half_width for f in free.report().outlook.forecasts if f.purpose == "check")
    assert first(free).startswith(f"You can still ask 100 questions at +-{width:.2g} whose guesses hold")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tiny = Holdout(X[:6], Y[:6], ledger=tmp_path / "tiny.db")
    assert "answers certify nothing: add fresh rows" in first(tiny)
    for policy in ({"answers": "coarse", "tolerance": 0.3}, {}):
        closed = opened(f"closed {len(policy)}", **policy)
        closed.close()
        assert first(closed).startswith("The holdout is closed")
        assert closed.remaining() == 0
    assert "any number of searches" in first(opened("searches", answers="coarse", tolerance=0.3))
    assert "any number of questions" in first(opened("questions", tolerance=0.4))


def test_where_searches_are_answered_in_cells_it_says_what_comes_next_and_what_would_be_published(opened):
    holdout = opened(answers="coarse")
    kept, left = constants(2)
    sealed = holdout.certify(kept, **ASKED)
    outlook, text = holdout.report().outlook, repr(holdout.report())
    widths = {f.after: f.half_width for f in outlook.forecasts if f.purpose == "certify"}
    assert first(holdout) == (
        f"The next search by accuracy is answered at about +-{widths[0]:.2g}, after 100 more at "
        f"+-{widths[100]:.2g}, if guesses hold; publish() would release a score at about "
        f"+-{outlook.published:.2g}."
    )
    assert f"publish() would release a score at about +-{outlook.published:.3g}" in text
    assert "next search by accuracy" in text
    assert "next check" not in text  # nobody asks one

    holdout.certify(left, **ASKED)
    final = holdout.publish(kept, scoring="accuracy")
    outlook, text = holdout.report().outlook, repr(holdout.report())
    assert outlook.finals == 1
    assert first(holdout).endswith(
        "1 score was published, and of another model publish() would release a score at about "
        f"+-{outlook.published:.2g}."
    )
    assert "publish() would release another score" in text
    lines = {int(line.split()[0]): line for line in text.splitlines() if "DummyC" in line}
    assert f"its value is in record {final.index}" in lines[sealed.index]
    assert not any("published now" in line for line in lines.values())
    assert holdout.report().released_in == {sealed.index: final.index}


def test_within_a_tolerance_cells_are_counted_in_searches_as_remaining_does(opened):
    holdout = opened(answers="coarse", tolerance=0.146)
    left = holdout.remaining()
    assert 1 < left == holdout.remaining(purpose="certify") < 9
    assert first(holdout).startswith(f"You can still run {left} searches by accuracy; the next is answered")
    admitted = sum(holdout.certify(model, **ASKED).answered for model in constants(left + 3))
    assert left <= admitted < left + 3  # an urn that has learned is cheaper than was foreseen
    none = "No more searches by accuracy are within the tolerance of 0.146: of the model that is kept publ"
    assert first(holdout).startswith(none)


def test_the_frame_has_a_row_for_each_question(opened):
    pytest.importorskip("pandas")
    holdout = opened(who="ada")
    assert holdout.report().to_frame().empty
    answer = holdout.certify(constants(1)[0], **ASKED)
    frame = holdout.report().to_frame()
    row = frame.loc[answer.index]
    assert len(frame) == 1
    assert (row["answer"], row["low"], row["high"]) == (answer.value, *answer.interval)
    assert (row["who"], row["model"], row["metric"]) == ("ada", "DummyClassifier", "accuracy")
    assert [frame.index.name, *frame.columns] == list(holdout.report().to_dicts()[0])
