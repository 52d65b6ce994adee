"""One question is a model, a score by what it computes, and the rows; what is on record is not paid again."""

import copy
import datetime
import logging
import math
import pathlib
import pickle
import time
import types
import uuid
from functools import partial

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    fbeta_score,
    get_scorer,
    log_loss,
    make_scorer,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, MedianSettings, Metric, ReusableHoldoutCV
from tests.support.ledgers import begun_as, bodies

X, Y = make_classification(1200, 6, n_informative=4, flip_y=0.15, random_state=0)
X3, Y3 = make_classification(900, 6, n_informative=4, n_classes=3, flip_y=0.15, random_state=0)
TRAIN, HELD = slice(0, 600), slice(600, None)
CONFIRMED = 0.003  # nats, for the first few


@pytest.fixture
def holdout(tmp_path):
    return Holdout(X[HELD], Y[HELD], ledger=tmp_path / "ledger.db")


@pytest.fixture
def model():
    return LogisticRegression().fit(X[TRAIN], Y[TRAIN])


def is_confirmed(holdout, first, again):
    """Return whether a later answer is the recorded one and hardly costs more."""
    same = (again.repeated, again.value, again.interval) == (True, first.value, first.interval)
    return same and holdout.report().nats <= first.cost.nats + CONFIRMED


# --- another guess -----------------------------------------------------------------------------------------

GUESSES = {
    "numbers": ({"guess": 0.65}, {"guess": 0.9}),
    "none, then a number": ({}, {"guess": 0.7}),
    "rows": ({"guess_from": (X[:100], Y[:100])}, {"guess_from": (X[100:300], Y[100:300])}),
    "a number, then rows": ({"guess": 0.6}, {"guess_from": (X[:100], Y[:100])}),
}


@pytest.mark.parametrize("answers", ["exact", "coarse", "auto"])
@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "f1", "f1_macro", "neg_log_loss"])
@pytest.mark.parametrize("guesses", GUESSES)
def test_another_guess_gets_the_recorded_answer(tmp_path, model, guesses, scoring, answers):
    if scoring in ("f1_macro", "neg_log_loss") and guesses != "rows":
        pytest.skip("it is tuned by rows")
    holdout = Holdout(X[HELD], Y[HELD], ledger=tmp_path / "ledger.db", answers=answers)
    first, again = (holdout.certify(model, scoring=scoring, **guess) for guess in GUESSES[guesses])
    assert is_confirmed(holdout, first, again)


def test_a_stable_median_does_too(holdout, model):
    how = {"scoring": "matthews_corrcoef", "settings": MedianSettings()}
    first, again = (holdout.certify(model, guess=guess, **how) for guess in (0.4, 0.3))
    assert is_confirmed(holdout, first, again)


def test_the_verdict_on_another_guess_is_computed_from_what_was_answered(holdout, model):
    first = holdout.check(model, scoring="accuracy", guess=0.66)
    near, far = (holdout.check(model, scoring="accuracy", guess=guess) for guess in (0.67, 0.9))
    assert (first.verdict, near.verdict, far.verdict) == ("agrees", "agrees", "differs")
    assert is_confirmed(holdout, first, near)
    assert is_confirmed(holdout, first, far)


@pytest.mark.parametrize("answers", ["exact", "coarse"])
def test_a_check_is_answered_by_what_a_certify_has_revealed(tmp_path, model, answers):
    holdout = Holdout(X[HELD], Y[HELD], ledger=tmp_path / "ledger.db", answers=answers)
    first = holdout.certify(model, scoring="accuracy", guess=0.7)
    near, far = (holdout.check(model, scoring="accuracy", guess=guess) for guess in (0.66, 0.9))
    assert (near.verdict, far.verdict) == ("agrees", "differs")
    assert is_confirmed(holdout, first, near)
    verdict = holdout.certify(model, scoring="accuracy", guess=0.1).verdict
    assert verdict == ("exact" if answers == "exact" else "differs")


def test_finer_cells_that_are_asked_for_are_a_question_of_their_own(holdout, model):
    widths = [holdout.check(model, scoring="accuracy", guess=0.7, settings=each) for each in (0.1, 0.02, 0.1)]
    assert [answer.repeated for answer in widths] == [False, False, True]


# --- notes of a model --------------------------------------------------------------------------------------


class Noting(ClassifierMixin, BaseEstimator):
    """Notes something down when it is fitted."""

    def __init__(self, where=None):
        self.where = where

    def fit(self, X, y, note=0):
        self.inner_ = LogisticRegression().fit(X, y)
        self.classes_ = self.inner_.classes_
        self.noted_ = note
        return self

    def predict(self, X):
        return self.inner_.predict(X)


class Stopwatch:
    def __init__(self):
        self.begun = time.perf_counter()
        self.laps = [time.perf_counter()]


NUMBERS = iter(range(10**6))
NOTES = {
    "a clock": time.perf_counter,
    "a date": datetime.datetime.now,
    "a path": lambda: f"/tmp/run {next(NUMBERS)}",
    "a Path": lambda: pathlib.Path(f"/tmp/run {next(NUMBERS)}"),
    "a counter": lambda: next(NUMBERS),
    "a random name": lambda: uuid.uuid4().hex,
    "a UUID": uuid.uuid4,
    "a logger": lambda: logging.getLogger(f"run {next(NUMBERS)}"),
    "a history": lambda: [{"epoch": 0, "seconds": time.perf_counter()}, {"epoch": 1, "seconds": 0.0}],
    "a dict with an array": lambda: {"seconds": time.perf_counter(), "rows": np.arange(3)},
    "a generator": np.random.default_rng,
    "an object": Stopwatch,
    "a namespace": lambda: types.SimpleNamespace(seconds=time.perf_counter()),
}


@pytest.mark.parametrize("note", NOTES)
def test_what_a_model_notes_down_makes_no_other_model(holdout, note):
    pipe, answers = make_pipeline(StandardScaler(), Noting()), []
    for _ in range(2):
        model = clone(pipe).fit(X[TRAIN], Y[TRAIN], noting__note=NOTES[note]())
        answers.append(holdout.certify(model, scoring="accuracy", guess=0.7))
    first, again = answers
    assert is_confirmed(holdout, first, again)


class WithSettings(LogisticRegression):
    """Has defaults that are other objects once it was stored."""

    def __init__(self, missing=math.nan, words=frozenset({"a", "b"}), where=pathlib.Path("x"), C=1.0):
        super().__init__(C=C)
        self.missing, self.words, self.where = missing, words, where


def stored(model):
    return pickle.loads(pickle.dumps(model))


def refitted_by_workers(model):
    return Parallel(n_jobs=2)(delayed(clone(model).fit)(X[TRAIN], Y[TRAIN]) for _ in range(1))[0]


@pytest.mark.parametrize(
    "again", [stored, copy.deepcopy, refitted_by_workers], ids=lambda again: again.__name__
)
@pytest.mark.parametrize(
    "part",
    [SimpleImputer(), KNNImputer(), SimpleImputer(add_indicator=True), WithSettings()],
    ids=["SimpleImputer", "KNNImputer", "with MissingIndicator", "own class"],
)
def test_a_model_that_was_stored_has_the_defaults_that_it_had(holdout, part, again):
    model = make_pipeline(part, LogisticRegression()) if hasattr(part, "transform") else part
    model.fit(X[TRAIN], Y[TRAIN])
    first = holdout.certify(model, scoring="accuracy", guess=0.7)
    assert is_confirmed(holdout, first, holdout.certify(again(model), scoring="accuracy", guess=0.7))


@pytest.mark.parametrize("kind", [SGDClassifier, Perceptron])
def test_a_constant_that_a_class_of_scikit_learn_keeps_makes_no_other_model(holdout, kind):
    model = kind(random_state=0).fit(X[TRAIN], Y[TRAIN])
    first = holdout.certify(model, scoring="accuracy", guess=0.7)
    if vars(model).pop("C", None) is None:  # release 1.6 has it, and no setting of this name
        model.C = 1.0
    assert is_confirmed(holdout, first, holdout.certify(model, scoring="accuracy", guess=0.7))


@pytest.mark.parametrize("where", [str, pathlib.Path, logging.getLogger], ids=["text", "Path", "logger"])
def test_nor_does_a_setting_that_says_where_something_is_kept(holdout, where):
    fitted = [Noting(where(f"/tmp/cache {number}")).fit(X[TRAIN], Y[TRAIN]) for number in range(2)]
    first, again = (holdout.certify(model, scoring="accuracy", guess=0.7) for model in fitted)
    assert is_confirmed(holdout, first, again)


class Threshold(ClassifierMixin, BaseEstimator):
    """Learns one number, which is no setting."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_, self.threshold_ = np.array([0, 1]), float(np.median(X[:, self.column]))
        return self

    def predict(self, X):
        return (np.asarray(X)[:, self.column] > self.threshold_).astype(int)


class BySum(Threshold):
    """Learns a list of numbers."""

    def fit(self, X, y):
        self.classes_, self.weights_ = np.array([0, 1]), X.mean(axis=0).tolist()
        return self

    def predict(self, X):
        return (np.asarray(X) @ self.weights_ > 0).astype(int)


class ByName(Threshold):
    """Learns a text."""

    def fit(self, X, y):
        self.classes_, self.rule_ = np.array([0, 1]), "above" if len(X) % 2 else "below"
        return self

    def predict(self, X):
        above = np.asarray(X)[:, 0] > 0
        return (above if self.rule_ == "above" else ~above).astype(int)


@pytest.mark.parametrize("kind", [Threshold, BySum, ByName])
def test_numbers_that_were_learnt_make_another_model_without_a_comparison(holdout, kind):
    one, other, again = (kind().fit(X[:rows], Y[:rows]) for rows in (600, 99, 600))
    answers = [holdout.certify(model, scoring="accuracy", guess=0.7) for model in (one, other, again)]
    assert [answer.repeated for answer in answers] == [False, False, True]
    assert [body.get("kind") for body in bodies(holdout)].count("confirmation") == 1


def test_a_search_over_shuffled_folds_is_the_model_that_it_keeps(holdout):
    def searched(seed):
        cv = StratifiedKFold(3, shuffle=True, random_state=seed)
        grid = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [3]}, cv=cv)
        return grid.fit(X[TRAIN], Y[TRAIN])

    first, again = (holdout.certify(searched(seed), scoring="accuracy", guess=0.7) for seed in (1, 2))
    assert is_confirmed(holdout, first, again)


# --- versions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["sklearn", "numpy", "scipy"])
def test_another_version_of_a_library_makes_no_other_question(holdout, model, monkeypatch, library):
    def scaled(X):
        return np.tanh(X)

    for each in (model, make_pipeline(StandardScaler(), LogisticRegression()).fit(X[TRAIN], Y[TRAIN])):
        each.own_ = scaled
        first = holdout.certify(each, scoring="accuracy", guess=0.7)
        with monkeypatch.context() as patched:
            patched.setattr(f"{library}.__version__", "99.0")
            assert holdout.certify(each, scoring="accuracy", guess=0.7) == first


def test_last_digits_of_a_refit_make_no_other_model(holdout, model):
    first = holdout.certify(model, scoring="accuracy", guess=0.7)
    model.coef_ = model.coef_ * (1.0 + 1e-9)
    assert is_confirmed(holdout, first, holdout.certify(model, scoring="accuracy", guess=0.7))
    model.coef_ = -model.coef_
    assert not holdout.certify(model, scoring="accuracy", guess=0.7).repeated


# --- names of one score ------------------------------------------------------------------------------------

OF_TWO = [
    ("accuracy", "f1_micro", "precision_micro", "recall_micro", "recall_weighted"),
    ("balanced_accuracy", "recall_macro"),
    ("roc_auc", "roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted", "roc_auc_ovo_weighted"),
    ("accuracy", make_scorer(accuracy_score), make_scorer(f1_score, average="micro"), Metric("accuracy")),
    ("f1", Metric("f1", pos_label=1), make_scorer(f1_score, pos_label=1), make_scorer(fbeta_score, beta=1.0)),
    ("roc_auc", make_scorer(roc_auc_score, response_method=["decision_function", "predict_proba"])),
    ("accuracy", make_scorer(partial(accuracy_score, normalize=True)), partial(get_scorer("accuracy"))),
    ("recall_macro", "balanced_accuracy"),
]


@pytest.mark.parametrize("answers", ["exact", "coarse"])
@pytest.mark.parametrize("names", OF_TWO, ids=lambda names: str(names[0]))
def test_names_of_one_score_are_one_question(tmp_path, model, names, answers):
    holdout = Holdout(X[HELD], Y[HELD], ledger=tmp_path / "ledger.db", answers=answers)
    first, *others = (holdout.certify(model, scoring=name, guess=0.7) for name in names)
    assert all(answer.repeated and answer.value == first.value for answer in others)
    assert holdout.report().nats <= first.cost.nats + CONFIRMED * len(others)


def ratio(y, outputs, power=1.0, weights=None):
    return np.mean(y == outputs) ** power


BY_ROWS = [  # which tune them
    ("f1_macro", make_scorer(partial(fbeta_score, beta=1), average="macro", labels=None)),
    (
        "neg_log_loss",
        make_scorer(log_loss, greater_is_better=False, response_method="predict_proba", labels=None),
    ),
    (make_scorer(ratio), make_scorer(ratio, power=1), make_scorer(partial(ratio, weights=None))),
    (make_scorer(fbeta_score, beta=2), make_scorer(fbeta_score, beta=2.0, pos_label=1)),
]


@pytest.mark.parametrize("names", BY_ROWS, ids=range(len(BY_ROWS)))
def test_options_that_are_defaults_make_no_other_question(holdout, model, names):
    how = {"settings": MedianSettings()} if callable(names[0]) else {}
    guess = (X[:200], Y[:200])
    first, *others = (holdout.certify(model, scoring=name, guess_from=guess, **how) for name in names)
    assert all(is_confirmed(holdout, first, answer) for answer in others)


OPTIONS = {
    "pos_label": 0,
    "average": "weighted",
    "labels": [1],
    "zero_division": 1.0,
    "sample_weight": [1.0] * 600,
}


@pytest.mark.parametrize("option", OPTIONS)
def test_any_other_option_makes_a_score_of_its_own(option):
    given = {option: OPTIONS[option]}
    assert Metric(make_scorer(f1_score, **given)) != Metric("f1")


def test_a_request_of_weights_makes_a_score_of_its_own():
    with config_context(enable_metadata_routing=True):
        assert Metric(make_scorer(f1_score).set_score_request(sample_weight=True)) != Metric("f1")


def test_ledgers_of_the_first_format_know_a_scorer_by_how_it_is_written(tmp_path, model):
    with begun_as(1):
        holdout = Holdout(X[HELD], Y[HELD], ledger=tmp_path / "ledger.db")
    written = make_scorer(f1_score, pos_label=1)
    for scorer in (written, Metric(written)):
        holdout.check(model, scoring=scorer, guess_from=(X[:200], Y[:200]), settings=MedianSettings())
    with pytest.raises(ValueError, match="unless the guess comes from rows"):
        holdout.certify(model, scoring=written, guess=0.7, settings=MedianSettings())
    (name,) = {body["metric"]["name"] for body in bodies(holdout) if "metric" in body}
    assert name == "make_scorer(f1_score, response_method='predict', pos_label=1)"


OF_THREE = [("roc_auc_ovr", "roc_auc_ovo"), ("recall_macro", "accuracy"), ("f1_macro", "f1_micro")]


@pytest.mark.parametrize(("one", "other"), OF_THREE)
def test_names_of_two_scores_of_three_classes_are_two(tmp_path, one, other):
    model, rows = LogisticRegression().fit(X3[:400], Y3[:400]), (X3[:200], Y3[:200])
    holdout = Holdout(X3[400:], Y3[400:], ledger=tmp_path / "ledger.db")
    assert not any(holdout.certify(model, scoring=name, guess_from=rows).repeated for name in (one, other))


class NoSuchClass(LogisticRegression):
    """Predicts a class that no row of the holdout has: its recall is undefined."""

    def predict(self, X):
        labels = super().predict(X)
        labels[:50] = 2
        return labels


def test_where_only_one_of_two_names_has_a_value_the_other_is_asked(tmp_path):
    holdout = Holdout(X[HELD], Y[HELD], ledger=tmp_path / "ledger.db")
    model = NoSuchClass().fit(X[TRAIN], np.where(np.arange(600) < 30, 2, Y[TRAIN]))
    accuracy = holdout.certify(model, scoring="balanced_accuracy", guess=0.6)
    recall = holdout.certify(model, scoring="recall_macro", guess=0.6)
    assert accuracy.value == pytest.approx(
        Metric("balanced_accuracy").score(model, X[HELD], Y[HELD]), abs=0.01
    )
    assert (accuracy.verdict, recall.verdict, recall.repeated) == ("exact", "failed", False)


# --- what is published -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
@pytest.mark.parametrize("release", ["publish", "unseal"])
def test_what_was_published_answers_certify_check_and_publish(tmp_path, model, scoring, release):
    holdout = Holdout(X[HELD], Y[HELD], ledger=tmp_path / "ledger.db", answers="coarse")
    asked = {"scoring": scoring, "guess": 0.7}
    first = holdout.certify(model, **asked)
    if release == "publish":
        final = holdout.publish(model, **asked)
    elif scoring == "accuracy":
        holdout.close()
        (final,) = holdout.unseal([first])
    else:
        pytest.skip("it is not sealed")
    before = holdout.report().nats
    certified = holdout.certify(model, scoring=scoring, guess=0.6)
    checked = holdout.check(model, scoring=scoring, guess=final.value)
    for answer in (certified, checked, *[holdout.publish(model, **asked)] * (release == "publish")):
        assert (answer.repeated, answer.value, answer.interval) == (True, final.value, final.interval)
    assert (certified.verdict, checked.verdict) == ("exact", "agrees")
    assert holdout.report().nats <= before + CONFIRMED


@pytest.mark.parametrize("ask", ["winner", "candidates"])
def test_a_search_that_is_run_again_after_publishing_shows_the_published_value(tmp_path, ask):
    def search(seed):
        cv = None if ask == "candidates" else StratifiedKFold(3, shuffle=True, random_state=seed)
        grid = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [2, 3]}, cv=cv)
        return ReusableHoldoutCV(grid, ledger=tmp_path / "ledger.db", ask=ask).fit(X, Y)

    first = search(1)
    final, nats = first.publish(), first.holdout_.report().nats
    again = search(2)
    assert (again.best_score_, again.best_score_interval_) == (final.value, final.interval)
    assert "sealed" not in repr(again)
    assert again.publish().value == final.value
    assert again.holdout_.report().nats <= nats + 0.02


# --- one model, however it is written -----------------------------------------------------------------------

TEXT = np.array(["no", "yes"])
LABELS = {
    "int32": lambda y: y.astype(np.int32),
    "uint8": lambda y: y.astype(np.uint8),
    "bool": lambda y: y.astype(bool),
    "float": lambda y: y.astype(float),
    "list": lambda y: y.tolist(),
}
OF_TEXT = {
    "objects": lambda y: y.astype(object),
    "wider": lambda y: y.astype("U10"),
    "pandas": pd.Series,
    "categories": lambda y: pd.Series(y).astype("category"),
}
FORMS = [(each, Y, LABELS) for each in LABELS] + [(each, TEXT[Y], OF_TEXT) for each in OF_TEXT]


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "matthews_corrcoef"])
@pytest.mark.parametrize(("form", "y", "forms"), FORMS)
def test_labels_of_another_type_are_the_same(tmp_path, form, y, forms, scoring):
    if scoring == "roc_auc" and y is not Y:
        scoring = make_scorer(accuracy_score)
    asked = {"scoring": scoring, "guess": 0.6}
    if scoring == "matthews_corrcoef":
        asked["settings"] = MedianSettings()
    holdout = Holdout(X[HELD], y[HELD], ledger=tmp_path / "ledger.db")
    first = holdout.certify(LogisticRegression().fit(X[TRAIN], y[TRAIN]), **asked)
    again = holdout.certify(LogisticRegression().fit(X[TRAIN], forms[form](y[TRAIN])), **asked)
    assert is_confirmed(holdout, first, again)


def noted(value):
    model = LogisticRegression().fit(X[TRAIN], Y[TRAIN])
    model.trained_by_ = value
    return model


def searched(C=1.0):
    return GridSearchCV(LogisticRegression(), {"C": [C]}).fit(X[TRAIN], Y[TRAIN])


def named_steps(*names):
    steps = zip(names, (StandardScaler(), LogisticRegression()), strict=True)
    return Pipeline([*steps]).fit(X[TRAIN], Y[TRAIN])


def fitted(**settings):
    return LogisticRegression(**settings).fit(X[TRAIN], Y[TRAIN])


ONE_MODEL = {
    "text": lambda: (fitted(), noted("ann")),
    "clock": lambda: (noted(time.time()), noted(time.time() + 1.0)),
    "list": lambda: (fitted(), noted([1.5, "epoch"])),
    "whole setting": lambda: (fitted(C=2), fitted(C=2.0)),
    "whole default": lambda: (fitted(), fitted(C=1)),
    "names of steps": lambda: (named_steps("a", "b"), named_steps("scale", "model")),
    "its best model": lambda: (searched(), searched().best_estimator_),
    "a model by hand": lambda: (searched(), fitted()),
    "grid of integers": lambda: (searched(2), searched(2.0)),
}


@pytest.mark.parametrize("how", ONE_MODEL)
def test_a_model_of_the_same_library_is_the_same_however_it_is_written(holdout, how):
    first, again = (holdout.certify(each, scoring="accuracy", guess=0.6) for each in ONE_MODEL[how]())
    assert is_confirmed(holdout, first, again)


@pytest.mark.parametrize("name", ["intercept_", "coef_"])
def test_what_a_class_of_scikit_learn_reads_makes_another_model(holdout, name):
    one, other = fitted(), fitted()
    setattr(other, name, getattr(other, name) + 3.0)
    answers = [holdout.certify(each, scoring="accuracy", guess=0.6) for each in (one, other)]
    assert not answers[1].repeated
    assert len([body for body in bodies(holdout) if body.get("kind") == "confirmation"]) == 0


@pytest.mark.parametrize("answers", ["exact", "coarse"])
@pytest.mark.parametrize("guess", [{"guess": 0.05}, {}, {"guess_from": (X[:200], Y[:200])}])
def test_a_difference_the_other_way_round_is_the_negated_one(tmp_path, guess, answers):
    holdout = Holdout(X[HELD], Y[HELD], ledger=tmp_path / "ledger.db", answers=answers)
    a, b = fitted(), fitted(C=1e-3)
    first = holdout.compare(a, b, scoring="accuracy", **guess)
    again = holdout.compare(b, a, scoring="accuracy", **guess)
    assert (again.value, again.interval) == (-first.value, tuple(-end for end in first.interval[::-1]))
    assert again.repeated
    assert holdout.compare(a, b, scoring="accuracy", **guess) == first
    assert holdout.report().nats <= first.cost.nats + CONFIRMED


def test_a_choice_in_another_order_is_the_same(holdout):
    models = [DecisionTreeClassifier(max_depth=depth, random_state=0) for depth in (1, 2, 3)]
    models = [model.fit(X[TRAIN], Y[TRAIN]) for model in models]
    winners, nats = [], []
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        chosen = holdout.select([models[number] for number in order], scoring="accuracy", epsilon=None)
        winners.append(order[chosen])
        nats.append(holdout.report().nats)
    assert len(set(winners)) == 1
    assert nats[-1] <= nats[0] + CONFIRMED


AGAIN = {
    "a frame": (pd.DataFrame(X, columns=[*"abcdef"]), Y, [2, 3]),
    "in Fortran's order": (np.asfortranarray(X), Y, [2, 3]),
    "a list": (X.tolist(), Y, [2, 3]),
    "a nullable frame": (pd.DataFrame(X, columns=[*"abcdef"]).convert_dtypes(), Y, [2, 3]),
    "floats": (X, Y.astype(float), [2, 3]),
    "32 bits": (X, Y.astype(np.int32), [2.0, 3.0]),
}


@pytest.mark.parametrize("how", AGAIN)
def test_a_published_value_is_found_by_rows_and_settings_of_another_type(tmp_path, how):
    def search(X, y, values):
        grid = GridSearchCV(LogisticRegression(), {"C": values}, cv=3)
        return ReusableHoldoutCV(grid, ledger=tmp_path / "ledger.db").fit(X, y)

    first = search(X, Y, [2, 3])
    final, nats = first.publish(), first.holdout_.report().nats
    again = search(*AGAIN[how])
    assert (again.best_score_, again.best_score_interval_) == (final.value, final.interval)
    assert again.publish().value == final.value
    assert again.holdout_.report().nats <= nats + 0.02


def test_a_tree_on_rows_of_single_precision_is_the_same_and_a_model_that_keeps_them_is_not(tmp_path):
    """Trees compare with numbers of single precision anyway; neighbours are kept as they are."""

    def is_new_question(model, X):
        search = GridSearchCV(model, {}, cv=3)
        fitted = ReusableHoldoutCV(search, ledger=tmp_path / type(model).__name__).fit(X, Y)
        is_new = not fitted.answers_[0].repeated
        fitted.publish()
        return is_new

    for model, is_new in (
        (DecisionTreeClassifier(max_depth=3, random_state=0), False),
        (KNeighborsClassifier(), True),
    ):
        assert [is_new_question(model, each) for each in (X, X.astype(np.float32))] == [True, is_new]
