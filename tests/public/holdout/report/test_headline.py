"""The first line of a report says how many questions are left; that many are then answered."""

import warnings

import pytest
from sklearn.dummy import DummyClassifier

from sklearn_ada import Holdout

X, Y = [[float(i)] for i in range(400)], [0, 1] * 200
MODEL = DummyClassifier().fit(X, Y)


def opened(path, **how):
    return Holdout(X, Y, ledger=path, **how)


def first(holdout):
    report = holdout.report()
    assert repr(report).startswith(report.headline + "\n")
    assert report.headline in report._repr_html_()
    assert report.to_dict()["headline"] == report.headline
    return report.headline


def test_within_a_tolerance_so_many_are_answered_and_no_more(tmp_path):
    holdout = opened(tmp_path / "few.db", tolerance=0.17)
    assert holdout.remaining() == 0
    left = holdout.remaining(purpose="certify")
    assert first(holdout) == f"You can still certify {left} models at +-0.17, and ask no check."
    answers = [holdout.certify(model, scoring="accuracy", guess=0.5) for model in constants(9)]
    assert [answer.answered for answer in answers] == [number < left for number in range(9)]
    assert 1 < left < 9
    assert max(answer.half_width for answer in answers[:left]) <= 0.17


def test_it_says_how_many_checks_are_left_or_how_wide_they_are_or_that_none_is_of_use(tmp_path):
    many = opened(tmp_path / "many.db", tolerance=0.3)
    left = many.remaining()
    assert left > 1
    assert first(many) == f"You can still ask {left:,} questions at +-0.3 whose guesses hold."
    none = opened(tmp_path / "none.db", tolerance=0.01)
    assert first(none) == "You can ask no more questions at +-0.01: add fresh rows (top_up) to go on."
    free = opened(tmp_path / "open.db")
    width = max(f.half_width for f in free.report().outlook.forecasts if f.purpose == "check")
    assert first(free).startswith(f"You can still ask 100 questions at +-{width:.2g} whose guesses hold")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tiny = Holdout(X[:6], Y[:6], ledger=tmp_path / "tiny.db")
    assert "answers certify nothing: add fresh rows" in first(tiny)
    closed = opened(tmp_path / "closed.db", answers="coarse")
    closed.close()
    assert first(closed).startswith("The holdout is closed")


def constants(count):
    return [
        DummyClassifier(strategy="constant", constant=k % 2, random_state=k).fit(X, Y) for k in range(count)
    ]


def test_where_searches_are_told_cells_it_says_what_the_next_is_told_and_what_would_be_published(tmp_path):
    holdout = opened(tmp_path / "cells.db", answers="coarse")
    holdout.certify(MODEL, scoring="accuracy", guess=0.5)
    outlook, told = holdout.report().outlook, first(holdout)
    widths = {f.after: f.half_width for f in outlook.forecasts if f.purpose == "certify"}
    assert told == (
        f"The next search by accuracy is told the score of its winner at about +-{widths[0]:.2g}, after 100 "
        f"more at +-{widths[100]:.2g}, if guesses hold; publish() would release an exact score at about "
        f"+-{outlook.published:.2g}."
    )
    text = repr(holdout.report())
    assert f"publish() would release an exact value at about +-{outlook.published:.3g}" in text
    assert "next search" in text
    assert "next check" not in text  # nobody asks one


def test_what_was_published_is_said(tmp_path):
    holdout = opened(tmp_path / "published.db", answers="coarse")
    holdout.publish(MODEL, scoring="accuracy", guess=0.5)
    told, outlook = first(holdout), holdout.report().outlook
    assert outlook.finals == 1
    assert told.endswith(
        "1 exact score was published, and of another model publish() would release an exact score at about "
        f"+-{outlook.published:.2g}."
    )
    assert "publish() would release another exact value" in repr(holdout.report())


def test_within_a_tolerance_cells_are_counted_in_searches_as_remaining_does(tmp_path):
    holdout = opened(tmp_path / "few.db", answers="coarse", tolerance=0.146)
    left = holdout.remaining()
    assert 1 < left == holdout.remaining(purpose="certify") < 9
    assert first(holdout).startswith(f"You can still run {left} searches by accuracy; the next is told")
    answers = [holdout.certify(model, scoring="accuracy", guess=0.5) for model in constants(left + 3)]
    admitted = sum(answer.answered for answer in answers)
    assert left <= admitted < left + 3  # an urn that has learned is cheaper than was foreseen
    assert first(holdout).startswith(
        "No more searches are answered at +-0.146: of the model that is kept publ"
    )


def test_a_count_that_has_no_end_is_said_so(tmp_path):
    holdout = opened(tmp_path / "many.db", answers="coarse", tolerance=0.3)
    assert "any number of searches" in first(holdout)
    holdout = opened(tmp_path / "auto.db", tolerance=0.4)
    assert "any number of questions" in first(holdout)


def test_a_published_answer_names_its_record_and_no_width_that_is_past(tmp_path):
    holdout = opened(tmp_path / "told.db", answers="coarse")
    kept, left = constants(2)
    sealed = holdout.certify(kept, scoring="accuracy", guess=0.5)
    holdout.certify(left, scoring="accuracy", guess=0.5)
    final = holdout.publish(kept, scoring="accuracy")
    lines = {int(line.split()[0]): line for line in repr(holdout.report()).splitlines() if "DummyC" in line}
    assert f"its exact value is in record {final.index}" in lines[sealed.index]
    assert not any("published now" in line for line in lines.values())
    assert holdout.report().released_in == {sealed.index: final.index}


def test_the_frame_has_a_row_for_each_question(tmp_path):
    pytest.importorskip("pandas")
    holdout = opened(tmp_path / "frame.db", who="ada")
    assert holdout.report().to_frame().empty
    answer = holdout.certify(MODEL, scoring="accuracy", guess=0.5)
    frame = holdout.report().to_frame()
    row = frame.loc[answer.index]
    assert len(frame) == 1
    assert (row["answer"], row["low"], row["high"]) == (answer.value, *answer.interval)
    assert (row["who"], row["model"], row["metric"]) == ("ada", "DummyClassifier", "accuracy")
    assert [frame.index.name, *frame.columns] == list(holdout.report().to_dicts()[0])
