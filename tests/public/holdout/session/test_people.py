"""Who asked, from where and when: in every record, and in nothing that an answer depends on."""

import datetime
import json

import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_ada import Holdout, Metric
from tests.support import holdouts
from tests.support.ledgers import bodies

ASKED = {"scoring": "accuracy", "guess": 0.8}


@pytest.fixture
def at(rows, tmp_path):
    """Open the same ledger under other names."""

    def opened(who=None, label=None, **policy):
        return Holdout(*rows[2:], ledger=tmp_path / "ledger.db", who=who, label=label, **policy)

    return opened


@pytest.fixture
def other(rows):
    return LogisticRegression(C=0.01).fit(rows[0], rows[1])


def test_every_kind_of_record_says_who_asked_from_where_and_when(at, rows, model, other):
    holdout = at("ada", "notebook 3", tolerance=0.3)
    holdout.check_overlap(rows[0])
    name = holdouts.open_round(holdout, 1, purpose="check", scoring="accuracy", name="one")
    holdouts.ask(holdout, model, purpose="check", round_name=name, **ASKED)
    holdout.select([model, other], scoring="accuracy")
    holdout.certify(model, **ASKED)
    more = (LogisticRegression(C=0.02 * 1.3**k).fit(*rows[:2]) for k in range(60))
    assert not all(holdout.certify(each, **ASKED).answered for each in more)  # until one is refused
    _, *records = bodies(holdout)
    assert {body["kind"] for body in records} == {"overlap", "round", "answer", "selection", "refusal"}
    assert {(body["who"], body["label"]) for body in records} == {("ada", "notebook 3")}
    now = datetime.datetime.now(datetime.UTC)
    for body in records:
        assert abs(now - datetime.datetime.fromisoformat(body["time"])) < datetime.timedelta(minutes=5)


def test_what_somebody_else_was_answered_is_nearly_free_and_the_same(at, model, nearly_free):
    first = at("ada").check(model, **ASKED)
    bob = at("bob", "server")
    with nearly_free(bob):
        assert bob.check(model, **ASKED) == first
    assert bob.report().asked_by == {"ada": 1}


def test_names_do_not_change_what_is_admitted_charged_or_answered(rows, model, tmp_path):
    answers = []
    for who in (None, "ada"):
        holdout = Holdout(*rows[2:], ledger=tmp_path / f"{who}.db", random_state=0, who=who)
        answers.append(holdout.check(model, **ASKED))
    assert answers[0] == answers[1]


def test_two_names_on_one_ledger_are_one_account(at, model, other):
    ada, bob = at("ada"), at("bob", "server")
    assert ada.fingerprint == bob.fingerprint == at().fingerprint
    for holdout, asked in ((ada, model), (bob, other)):
        holdout.check(asked, **ASKED)
    assert (ada.report(), ada.report().asked_by) == (bob.report(), {"ada": 1, "bob": 1})


def test_the_report_shows_who_asked_and_counts_in_words(at, model, other):
    assert ": 0 questions, 0 refused, " in repr(at().report())
    at("ada", "notebook 3").check(model, **ASKED)
    at().check(other, **ASKED)
    report = at().report()
    assert "asked by ada from notebook 3" in repr(report)
    assert repr(report).count("asked by") == 1  # the second gave no name
    assert "ada from notebook 3" in report._repr_html_()
    assert report.asked_by == {"ada": 1, "?": 1}
    assert [(entry.who, entry.label) for entry in report.entries] == [("ada", "notebook 3"), (None, None)]
    at().certify(model, scoring="accuracy")
    assert ": 3 questions (2 checks), 0 refused, " in repr(at().report())


def test_the_rows_of_a_report_are_plain_columns(at, model):
    answer = at("ada").check(model, **ASKED)
    (row,) = at().report().to_dicts()
    assert (row["who"], row["label"], row["metric"], row["guess"]) == ("ada", None, "accuracy", 0.8)
    assert (row["answer"], (row["low"], row["high"])) == (answer.value, answer.interval)
    assert (row["nats"], row["verdict"]) == (answer.cost.nats, answer.verdict)
    json.dumps(row, allow_nan=False)


def test_html_of_a_metric_and_of_a_name_is_escaped(at, model):
    def bold(estimator, X, y):
        return estimator.score(X, y)

    bold.__name__ = "<b>accuracy</b>"
    at("<b>ada</b>").certify(model, scoring=Metric(bold, range=(0.0, 1.0)))
    page = at().report()._repr_html_()
    assert "<td>&lt;b&gt;accuracy&lt;/b&gt;</td>" in page
    assert "<b>a" not in page


@pytest.mark.parametrize("name", ["who", "label"])
@pytest.mark.parametrize("value", ["", "two\nlines", "\x1b[31mred", "x" * 101, 7, b"ada", ["ada"], "\ud800"])
def test_a_name_that_a_table_cannot_show_is_refused_before_there_is_a_ledger(
    at, tmp_path, sentence, name, value
):
    with pytest.raises(ValueError, match=sentence(name, "Holdout")):
        at(**{name: value})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("value", ["a", "x" * 100, "Ada Lovelace", "Ægir (Büro 3)"])
def test_a_printable_name_comes_back_as_it_was(at, model, value):
    at(value, value).certify(model, scoring="accuracy")
    (entry,) = at().report().entries
    assert (entry.who, entry.label) == (value, value)
