"""An answer that certifies nothing, or another quantity than was named, is warned of."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import fbeta_score, make_scorer

from sklearn_ada import Guess, Holdout, MedianSettings, Metric
from tests.support import holdouts
from tests.support.processes import interpreter

GUESS = Guess(0.8, 100.0, 0.1)
HALF = {"scoring": "accuracy", "guess": 0.5}
MEDIAN = {"purpose": "certify", "guess": GUESS, "settings": MedianSettings()}


def warned(call, *args, **how):
    """Return what a call warned of, told by every filter."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*args, **how)
    assert all(each.category is UserWarning for each in caught)
    return caught


def only_warning(call, *args, **how):
    (caught,) = warned(call, *args, **how)
    return str(caught.message)


def raised(match, call, *args, **how):
    """Return the text of a warning that a filter turns into an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match=match) as error:
            call(*args, **how)
    return str(error.value)


def macro(beta=2):
    return make_scorer(fbeta_score, beta=beta, average="micro")


@pytest.fixture
def opened(rows, tmp_path):
    """Open a holdout of the first so many rows."""
    return lambda size, **policy: Holdout(rows[2][:size], rows[3][:size], ledger=tmp_path / "l.db", **policy)


@pytest.fixture
def few(rows):
    some = np.r_[np.flatnonzero(rows[3] == 0)[:2], np.flatnonzero(rows[3] == 1)[:2]]
    return rows[2][some], rows[3][some]


@pytest.fixture
def tiny(few, tmp_path):
    return Holdout(*few, ledger=tmp_path / "tiny.db")


@pytest.fixture(scope="module")
def models(rows):
    return [LogisticRegression(C=C).fit(rows[0], rows[1]) for C in (0.01, 0.1, 1.0)]


@pytest.mark.parametrize(("how", "answers"), [("check", "exact"), ("certify", "coarse")])
def test_a_vacuous_answer_is_warned_of_with_reason_and_way_out(how, answers, few, tmp_path, model):
    tiny = Holdout(*few, answers=answers, ledger=tmp_path / "tiny.db")
    (caught,) = warned(getattr(tiny, how), model, scoring="balanced_accuracy", guess=0.5)
    text = str(caught.message)
    assert text.startswith("An answer of the holdout certifies nothing.")
    assert f"4 rows, with {tiny.report().nats:.3g} nats revealed" in text
    for way_out in ("top_up", "larger holdout", "plan_holdout", "fewer surprises"):
        assert way_out in text
    assert caught.filename == __file__
    assert tiny.report().answers[0][1].interval == (0.0, 1.0)


def test_a_vacuous_answer_is_warned_of_once_a_process_for_each_cause(tiny, models):
    assert only_warning(lambda: [tiny.check(model, **HALF) for model in models])
    text = only_warning(lambda: [holdouts.ask(tiny, m, scoring="f1_macro", **MEDIAN) for m in models])
    assert "4 rows in 1 subsamples" in text
    assert "a metric with an interval of its own" in text
    again = pickle.loads(pickle.dumps(tiny))
    assert not warned(again.check, models[0], scoring="accuracy", guess=0.4)


def test_a_filter_that_raises_does_so_every_time(tiny, model):
    for settings in (0.6, 0.7, 0.8):
        raised("certifies nothing", tiny.check, model, scoring="accuracy", guess=0.5, settings=settings)
    assert tiny.report().asked["check"] == 3


CHECKS = """
import pickle, sys
from sklearn_ada import Holdout
X, y, model = pickle.load(open(sys.argv[1], "rb"))
holdout = Holdout(X, y, ledger=sys.argv[2])
for guess in (0.5, 0.5, 0.6, 0.7):
    holdout.check(model, scoring="accuracy", guess=guess)
"""


@pytest.mark.thorough
def test_a_recorded_answer_is_not_warned_of_again(rows, model, tmp_path):
    (tmp_path / "rows.pkl").write_bytes(pickle.dumps((rows[2][:4], rows[3][:4], model)))
    runs = [interpreter(CHECKS, tmp_path / "rows.pkl", tmp_path / "one.db") for _ in range(2)]
    assert [run.stderr.count("certifies nothing") for run in runs] == [1, 0]


class Fails(DummyClassifier):
    def predict(self, X):
        raise ValueError("no")


@pytest.mark.parametrize("verdict", ["refused", "failed", "exact"])
def test_what_failed_or_was_refused_or_certifies_something_is_not_warned_of(verdict, rows, model, opened):
    holdout = opened(4, tolerance=0.1) if verdict == "refused" else opened(250)
    asked = Fails().fit(rows[0], rows[1]) if verdict == "failed" else model
    assert not warned(holdout.certify, asked, **HALF)
    assert holdout.report().answers[0][1].verdict == verdict


def test_an_unbounded_interval_is_warned_of(rows, tmp_path):
    X = rows[2][:40]
    holdout, ridge = Holdout(X, X[:, 0], ledger=tmp_path / "l.db"), Ridge().fit(rows[0], rows[0][:, 0])
    text = only_warning(holdouts.ask, holdout, ridge, scoring="r2", **MEDIAN)
    assert holdout.report().answers[0][1].interval == (-np.inf, np.inf)
    assert "40 rows in 2 subsamples" in text


def test_groups_name_what_helps_there(opened, model):
    before, after = warned(opened(8, groups=np.arange(8) // 2).check, model, **HALF)
    assert "The holdout has 4 groups" in str(before.message)
    text = str(after.message)
    assert "4 groups, with" in text
    assert "top_up" not in text  # it is not for groups


def test_privacy_names_what_helps_there(opened, model):
    text = only_warning(opened(250, route="differential_privacy").check, model, **HALF)
    assert "250 rows, for what privacy can certify" in text
    assert "fewer expected_questions" in text


@pytest.mark.parametrize("how", ["check", "certify"])
def test_a_median_that_no_settings_ask_for_is_warned_of_before_it_is_charged(how, holdout, model, uncharged):
    with uncharged(holdout):
        ask = getattr(holdout, how)
        text = raised("has no interval of its own", ask, model, scoring=macro(), guess=GUESS)
    assert "over random subsamples of 20 rows" in text
    assert "another quantity than" in text
    assert "'roc_auc', 'balanced_accuracy', 'accuracy'" in text
    assert "settings=MedianSettings()" in text


def test_too_few_rows_for_a_median_are_warned_of_before_it_is_charged(rows, model, opened):
    few, message = opened(100), "100 rows in 5 subsamples are too few: what will be paid for"
    raised(message, few.certify, model, scoring=macro(), guess_from=rows[:2])
    assert few.report().asked == {"check": 0, "certify": 0}


def test_a_median_that_settings_ask_for_is_not_warned_of(holdout, model):
    assert not warned(holdouts.ask, holdout, model, scoring="f1_macro", **MEDIAN | {"purpose": "check"})
    assert not warned(holdout.check, model, scoring=Metric("f1", kind="general"), guess=GUESS)


def test_a_median_is_warned_of_once_for_each_metric(models, holdout):
    def ask():
        for beta in (0.5, 2):
            for model in models:
                holdout.check(model, scoring=macro(beta), guess=GUESS)

    assert len([each for each in warned(ask) if "no interval" in str(each.message)]) == 2
