"""The holdout stays out of messages, warnings and representations."""

import math
import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import make_scorer
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, Metric, ThresholdoutScorer

MARKER = 987654.125


class Talkative(DummyClassifier):
    """Fails, or warns, where it sees the marker, and quotes it."""

    def __init__(self, act="raise", error=ValueError):
        super().__init__()
        self.act, self.error = act, error

    def predict(self, X):
        if MARKER in X:
            if self.act == "raise":
                raise self.error(f"the value {MARKER} is not expected")
            warnings.warn(f"the value {MARKER} is strange", UserWarning, stacklevel=1)
            if self.act == "nan":
                return np.full(len(X), np.nan)
        return super().predict(X)


@pytest.fixture
def marked(rows, tmp_path):
    X = rows[2].copy()
    X[3, 0] = MARKER
    return Holdout(X, rows[3], ledger=tmp_path / "ledger.db")


FAILURES = {
    ValueError: "prediction raised ValueError",
    TypeError: "prediction raised TypeError",
    MemoryError: "prediction raised MemoryError",
    KeyError: "prediction raised another error",
    UnicodeError: "prediction raised ValueError",
    SystemExit: "prediction raised another error",
}


@pytest.mark.parametrize("error", [*FAILURES, None])
def test_a_failure_on_the_holdout_is_a_priced_answer_without_values(marked, rows, error, nearly_free):
    model = (Talkative("nan") if error is None else Talkative(error=error)).fit(*rows[:2])
    answer = marked.certify(model, scoring="accuracy", guess=0.5)
    reason = FAILURES.get(error, "prediction is not finite or of the wrong shape")
    assert (answer.verdict, answer.reason, answer.interval) == ("failed", reason, (0.0, 1.0))
    assert answer.cost.nats == marked.report().nats > 5
    assert np.isnan(answer.value)
    assert answer.certificate.vacuous
    assert "987654" not in f"{answer!r} {answer} {marked.report()!r} {list(marked.ledger.records())!r}"
    with nearly_free(marked):
        assert marked.certify(model, scoring="accuracy", guess=0.5).repeated


@pytest.mark.parametrize("scoring", ["accuracy", Metric("f1_macro", kind="general", range=(0, 1))], ids=str)
def test_warnings_raised_on_the_holdout_do_not_reach_the_user_as_others_do(marked, rows, scoring):
    model = Talkative("warn").fit(*rows[:2])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert marked.certify(model, scoring=scoring).answered
    assert not [each for each in caught if "no interval of its own" not in str(each.message)]
    assert "987654" not in " ".join(map(str, caught))
    with pytest.warns(UserWarning, match="987654"):
        model.predict(np.full((1, 5), MARKER))


def test_nothing_that_is_shown_holds_a_value_of_the_holdout(marked, rows):
    answer = marked.certify(Talkative("quiet").fit(rows[0], rows[1]), scoring="accuracy")
    report = marked.report()
    scorer = ThresholdoutScorer("accuracy", marked)
    shown = [marked, report, report._repr_html_(), answer, answer.certificate, scorer, scorer.cv]
    shown += [marked.ledger, report.to_dicts(), vars(marked)]
    text = " ".join(f"{thing!r} {thing!s}" for thing in shown)
    assert "987654" not in text
    assert marked.ledger.secret().hex() not in text


def test_a_prediction_on_the_holdout_leaves_the_model_as_it_was(marked, rows):
    class Remembering(DummyClassifier):
        def predict(self, X):
            self.seen_ = X
            return super().predict(X)

    model = Remembering().fit(rows[0], rows[1])
    marked.certify(model, scoring="accuracy")
    assert not hasattr(model, "seen_")


class Noting:
    """A scorer that notes down what it returned, as some do to show it later."""

    def __init__(self):
        self.noted = []

    def __call__(self, model, rows, labels):
        self.noted.append(float(model.score(rows, labels)))
        return self.noted[-1]


def noting():
    scorer = Noting()
    return scorer, scorer.noted


def noting_method():
    scorer = Noting()
    return scorer.__call__, scorer.noted


def closing_over_a_list():
    noted = []

    def scorer(model, rows, labels):
        noted.append(float(model.score(rows, labels)))
        return noted[-1]

    return scorer, noted


def function_of_predictions():
    noted = []

    def metric(labels, predicted, power=math.pow):  # what cannot be copied does not matter
        noted.append(power(float((labels == predicted).mean()), 1))
        return noted[-1]

    return make_scorer(metric), noted


def with_a_list_as_default():
    noted = []

    def scorer(model, rows, labels, noted=noted, module=math):
        noted.append(float(model.score(rows, labels)))
        return module.fabs(noted[-1])

    return scorer, noted


def mean_of_scores():
    noted = []

    def right(labels, predicted):
        noted.append(float((labels == predicted).mean()))
        return (labels == predicted).astype(float)

    return Metric(right, kind="mean", range=(0.0, 1.0)), noted


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("way", ["certify", "check", "select"])
@pytest.mark.parametrize(
    "make",
    [
        noting,
        noting_method,
        closing_over_a_list,
        function_of_predictions,
        with_a_list_as_default,
        mean_of_scores,
    ],
    ids=lambda make: make.__name__,
)
def test_a_score_notes_nothing_of_the_holdout(make, way):
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = np.random.default_rng(1).integers(0, 2, 300)
    model, beside = DecisionTreeClassifier(max_depth=1).fit(X[:50], y[:50]), (X[50:120], y[50:120])
    notes = []
    for rows in (slice(120, 300), slice(299, 119, -1)):
        scoring, noted = make()
        holdout = Holdout(X[rows], y[rows] ^ (rows.step == -1), ledger=":memory:")  # all labels are others
        if way == "select":
            holdout.select([model, model], scoring=scoring, epsilon=None)
        else:
            getattr(holdout, way)(model, scoring=scoring, guess_from=beside)
        notes.append(list(noted))
    assert notes[0] == notes[1]
