"""Answers and reports say what their scores are scores of; long targets are said once."""

import re

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_ada import Guess, Holdout, MedianSettings
from sklearn_ada.holdout.report import Targets

ACCURACY = "population accuracy at the holdout's class mix"
SETTINGS = MedianSettings(method="exact")


@pytest.fixture
def asked(holdout, model, rows):
    """A holdout that was asked about accuracy, and about F1 with guesses of several errors."""
    holdout.certify(model, scoring="accuracy", guess=0.8)
    for deviation in (0.1, 0.2, 0.3):
        guess = Guess(0.8, 100.0, deviation)
        other = LogisticRegression(C=1e-4 * deviation).fit(rows[0], rows[1])
        holdout.check(other, scoring="f1_macro", guess=guess, settings=SETTINGS)
    holdout.certify(model, scoring="f1_macro", guess=guess, settings=SETTINGS)
    return holdout


def test_an_answer_names_its_target(holdout, model):
    answer = holdout.certify(model, scoring="accuracy", guess=0.8)
    assert answer.target == answer.certificate.target == ACCURACY
    assert str(answer).endswith(f"; target: {ACCURACY}")
    assert ACCURACY not in answer.summary
    assert ACCURACY.replace("'", "&#x27;") in answer._repr_html_()
    assert re.search(r"<p><b>(guess|holdout:) \.\d+", answer._repr_html_())


def test_an_answer_about_a_median_says_that_it_is_one(asked):
    answers = [answer for name, answer in asked.report().answers if name == "f1_macro"]
    for answer in answers:
        assert "target: median of f1_macro over random subsamples of " in str(answer)
        assert "median of f1_macro over random subsamples of " in answer._repr_html_()


def test_beyond_the_tolerance_a_question_is_refused_costs_nothing_and_has_no_target(rows, model, tmp_path):
    holdout = Holdout(rows[2], rows[3], tolerance=0.01, ledger=tmp_path / "tight.db")
    answer, report = holdout.certify(model, scoring="accuracy", guess=0.8), holdout.report()
    assert (answer.verdict, answer.target, str(answer)) == ("refused", None, answer.summary)
    assert "tolerance of 0.01" in answer.reason
    assert np.isnan(answer.value)
    assert (answer.cost.nats, report.nats, report.refused, report.targets) == (0.0, 0.0, 1, {})
    assert "target" not in answer._repr_html_()
    assert "[a]" not in repr(report)


def test_a_report_marks_its_answers_and_names_each_target_once(asked):
    report = asked.report()
    text, page, counts = repr(report), report._repr_html_(), report.to_dict()["targets"]
    assert "  accuracy [a]: " in text
    assert (text.count("  f1_macro [b]: "), text.count("  f1_macro [c]: ")) == (3, 1)
    assert text.count(ACCURACY) == 1
    assert text.count("median of f1_macro over random subsamples") == 2  # a check's is rounded
    assert re.search(r"\n  \[b\] median of f1_macro .* rounded to steps of \S+ to \S+\n", text)
    assert max(map(len, text.splitlines())) < 180
    assert "<td>accuracy</td><td>[a]</td>" in page
    assert page.count("median of f1_macro over random subsamples") == 2
    assert page.count("population accuracy at the holdout&#x27;s class mix") == 1
    assert counts == report.targets
    assert (counts[ACCURACY], list(counts.values())) == (1, [1, 3, 1])
    assert [row["target"] for row in report.to_dicts()] == [a.certificate.target for _, a in report.answers]


def test_only_targets_of_answers_that_are_shown_are_named(holdout, rows):
    for C in np.geomspace(0.001, 1.0, 11):
        model = LogisticRegression(C=C).fit(rows[0], rows[1])
        scoring = "balanced_accuracy" if C == 0.001 else "accuracy"
        holdout.check(model, scoring=scoring, guess=0.8)
    text = repr(holdout.report())
    assert "... 1 earlier answer" in text
    assert f"[a] {ACCURACY}" in text
    assert "balanced_accuracy" not in text


def test_marks_go_on_after_z():
    shown = Targets(f"target {number}" for number in range(60))
    assert (shown.mark("target 0"), shown.mark("target 25")) == (" [a]", " [z]")
    assert (shown.mark("target 26"), shown.mark("target 59")) == (" [aa]", " [bh]")
    assert len(set(shown.lines)) == 60
