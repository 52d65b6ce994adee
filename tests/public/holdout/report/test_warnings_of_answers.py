"""An answer that certifies nothing, or another quantity than was named, is warned of."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import fbeta_score, make_scorer

from sklearn_ada import Guess, Holdout, MedianSettings, Metric
from tests.support import holdouts

GUESS = Guess(0.8, 100.0, 0.1)


@pytest.fixture
def warned():
    """Run something and return the texts of what it warned of, told by every filter."""

    def run(ask):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ask()
        assert all(each.category is UserWarning for each in caught)
        return caught

    return run


@pytest.fixture
def tiny(rows, tmp_path):
    some = np.r_[np.flatnonzero(rows[3] == 0)[:2], np.flatnonzero(rows[3] == 1)[:2]]
    return Holdout(rows[2][some], rows[3][some], ledger=tmp_path / "tiny.db")


@pytest.mark.parametrize("how", ["check", "certify"])
def test_a_vacuous_answer_is_warned_of_with_reason_and_way_out(how, tiny, model, warned):
    (caught,) = warned(lambda: getattr(tiny, how)(model, scoring="balanced_accuracy", guess=0.5))
    text = str(caught.message)
    assert text.startswith("An answer of the holdout certifies nothing.")
    assert f"4 rows, with {tiny.report().nats:.3g} nats revealed" in text
    for way_out in ("top_up", "larger holdout", "plan_holdout", "fewer surprises"):
        assert way_out in text
    assert caught.filename == __file__
    assert tiny.report().answers[0][1].interval == (0.0, 1.0)


def test_it_is_told_once_a_process_for_each_cause(tiny, rows, warned):
    models = [LogisticRegression(C=C).fit(rows[0], rows[1]) for C in (0.001, 0.01, 0.1, 1.0)]
    assert len(warned(lambda: [tiny.check(m, scoring="accuracy", guess=0.5) for m in models])) == 1
    median = {"scoring": "f1_macro", "purpose": "certify", "guess": GUESS, "settings": MedianSettings()}
    (caught,) = warned(lambda: [holdouts.ask(tiny, m, **median) for m in models])
    assert "4 rows in 1 subsamples" in str(caught.message)
    assert "a metric with an interval of its own" in str(caught.message)
    again = pickle.loads(pickle.dumps(tiny))
    assert not warned(lambda: again.check(models[0], scoring="accuracy", guess=0.4))


def test_a_filter_that_raises_does_so_every_time(tiny, model):
    for guess in (0.4, 0.5, 0.6):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UserWarning, match="certifies nothing"):
                tiny.check(model, scoring="accuracy", guess=guess)
    assert tiny.report().asked["check"] == 3


@pytest.mark.thorough
def test_a_recorded_answer_is_not_warned_of_again(rows, model, tmp_path):
    code = f"""
import warnings, pickle
from sklearn_ada import Holdout
X, y, model = pickle.load(open({str(tmp_path / "rows.pkl")!r}, "rb"))
holdout = Holdout(X, y, ledger={str(tmp_path / "one.db")!r})
for guess in (0.5, 0.5, 0.6, 0.7):
    holdout.check(model, scoring="accuracy", guess=guess)
"""
    (tmp_path / "rows.pkl").write_bytes(pickle.dumps((rows[2][:4], rows[3][:4], model)))
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True) for _ in range(2)]
    assert [run.returncode for run in runs] == [0, 0]
    assert [run.stderr.count("certifies nothing") for run in runs] == [1, 0]


def test_what_failed_or_was_refused_is_not_vacuous(rows, model, tmp_path, warned):
    class Fails(DummyClassifier):
        def predict(self, X):
            raise ValueError("no")

    failing = Fails().fit(rows[0], rows[1])
    tight = Holdout(rows[2][:4], rows[3][:4], tolerance=0.1, ledger=tmp_path / "tight.db")
    assert not warned(lambda: tight.check(model, scoring="accuracy", guess=0.5))
    other = Holdout(rows[2], rows[3], ledger=tmp_path / "other.db")
    assert not warned(lambda: other.check(failing, scoring="accuracy", guess=0.5))
    assert [h.report().answers[0][1].verdict for h in (tight, other)] == ["refused", "failed"]


def test_a_good_answer_is_not_warned_of(holdout, model, warned):
    assert not warned(lambda: holdout.certify(model, scoring="accuracy", guess=0.8))


def test_an_unbounded_interval_is_warned_of(rows, tmp_path, warned):
    X, y = rows[2], rows[2][:, 0]
    holdout = Holdout(X[:40], y[:40], ledger=tmp_path / "numbers.db")
    ridge = Ridge().fit(rows[0], rows[0][:, 0])
    ask = {"scoring": "r2", "purpose": "certify", "guess": GUESS, "settings": MedianSettings()}
    (caught,) = warned(lambda: holdouts.ask(holdout, ridge, **ask))
    assert holdout.report().answers[0][1].interval == (-np.inf, np.inf)
    assert "40 rows in 2 subsamples" in str(caught.message)


def test_groups_and_privacy_name_what_helps_there(rows, model, tmp_path, warned):
    X, y = rows[2], rows[3]
    grouped = Holdout(X[:8], y[:8], groups=np.arange(8) // 2, ledger=tmp_path / "groups.db")
    (caught,) = warned(lambda: grouped.check(model, scoring="accuracy", guess=0.5))
    assert "4 groups, with" in str(caught.message)
    assert "top_up" not in str(caught.message)  # it is not for groups
    private = Holdout(X, y, route="differential_privacy", ledger=tmp_path / "private.db")
    (caught,) = warned(lambda: private.check(model, scoring="accuracy", guess=0.5))
    assert "250 rows, for what privacy can certify" in str(caught.message)
    assert "fewer expected_questions" in str(caught.message)


@pytest.mark.parametrize("how", ["check", "certify"])
def test_a_median_that_no_settings_ask_for_is_told_before_it_is_charged(how, holdout, model, uncharged):
    macro = make_scorer(fbeta_score, beta=2, average="macro")
    with warnings.catch_warnings(), uncharged(holdout):
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="has no interval of its own") as told:
            getattr(holdout, how)(model, scoring=macro, guess=GUESS)
    text = str(told.value)
    assert "over random subsamples of 20 records" in text
    assert "another quantity than" in text
    assert "'roc_auc', 'balanced_accuracy', 'accuracy'" in text
    assert "settings=MedianSettings()" in text


def test_that_rows_are_too_few_for_a_median_is_told_before_it_is_charged(rows, model, tmp_path):
    few = Holdout(rows[2][:100], rows[3][:100], ledger=tmp_path / "few.db")
    macro = make_scorer(fbeta_score, beta=2, average="macro")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="100 rows in 5 subsamples are too few: what will be paid for"):
            few.certify(model, scoring=macro, guess_from=(rows[0], rows[1]))
    assert few.report().asked == {"check": 0, "certify": 0}


def test_a_median_that_was_asked_for_is_not_told(holdout, model, warned):
    ask = {"purpose": "check", "guess": GUESS}
    assert not warned(
        lambda: holdouts.ask(holdout, model, scoring="f1_macro", settings=MedianSettings(), **ask)
    )
    assert not warned(lambda: holdouts.ask(holdout, model, scoring=Metric("f1", kind="general"), **ask))


def test_it_is_told_once_for_each_metric(rows, model, holdout, warned):
    models = [LogisticRegression(C=C).fit(rows[0], rows[1]) for C in (0.01, 0.1, 1.0)]

    def ask():
        for beta in (0.5, 2):
            scoring = make_scorer(fbeta_score, beta=beta, average="macro")
            for each in models:
                holdout.check(each, scoring=scoring, guess=GUESS)

    texts = [str(caught.message) for caught in warned(ask)]
    assert len([text for text in texts if "no interval" in text]) == 2
