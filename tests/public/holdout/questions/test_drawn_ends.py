"""What is drawn from the ledger's secret says so in its certificate; ``drawn=False`` needs no secret."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV

from sklearn_ada import Guess, Holdout, MedianSettings, Metric, ReusableHoldoutCV

RNG = np.random.default_rng(0)
X = RNG.normal(size=(900, 4))
Y = X @ [1.0, 2.0, 0.0, -1.0] + RNG.normal(size=900)
LABELS = (Y > 0).astype(int)
TRAIN, VALIDATION, HELD = slice(300), slice(300, 600), slice(600, None)
RIDGE, CLASSIFIER = Ridge().fit(X[TRAIN], Y[TRAIN]), LogisticRegression().fit(X[TRAIN], LABELS[TRAIN])
OTHER = Ridge(alpha=300.0).fit(X[TRAIN], Y[TRAIN])
MAE, SMALL = "neg_mean_absolute_error", Metric("neg_mean_absolute_error", range=(-8, 0))
LOG_LOSS = Metric("neg_log_loss", range=(-5, 0))


def opened(of_labels=False, **policy):
    y = (LABELS if of_labels else Y)[HELD]
    return Holdout(X[HELD], y, **{"ledger": ":memory:", "random_state": 0} | policy)


def rows(of_labels=False):
    return X[VALIDATION], (LABELS if of_labels else Y)[VALIDATION]


def certified(scoring, *, holdout=None, of_labels=False, settings=None, drawn=True, **policy):
    holdout = holdout or opened(of_labels, **policy)
    model = CLASSIFIER if of_labels else RIDGE
    asked = {"guess_from": rows(of_labels), "settings": settings, "drawn": drawn}
    return holdout.certify(model, scoring=scoring, **asked)


def assumes_secret(answer):
    return any("knows the ledger's secret" in each for each in answer.certificate.assumptions)


PRIVATE = {"route": "both", "confidence_level": 0.9}
PRICED = {"of_labels": True, "class_mix": "priced"}
DRAWN = {
    "mean absolute error": {"scoring": MAE},
    "root mean square": {"scoring": "neg_root_mean_squared_error"},
    "log loss, rows of one law": {"scoring": LOG_LOSS, **PRICED},
    "average precision": {"scoring": "average_precision", "of_labels": True},
    "median of subsamples": {"scoring": "r2", "settings": MedianSettings()},
    "exact median of subsamples": {"scoring": "r2", "settings": MedianSettings(method="exact")},
    "noise": {"scoring": "accuracy", "of_labels": True, **PRIVATE},
}
NOT_DRAWN = {
    "accuracy": {"scoring": "accuracy", "of_labels": True},
    "accuracy, rows of one law": {"scoring": "accuracy", **PRICED},
    "log loss at the class mix": {"scoring": LOG_LOSS, "of_labels": True},
    "balanced accuracy": {"scoring": "balanced_accuracy", "of_labels": True},
    "R2": {"scoring": "r2"},
    "median error": {"scoring": "neg_median_absolute_error"},
    "F1 of classes": {"scoring": "f1_macro", "of_labels": True},
}


@pytest.mark.parametrize("asked", DRAWN.values(), ids=DRAWN)
def test_what_is_drawn_from_the_secret_names_it_among_its_assumptions(asked):
    assert assumes_secret(certified(**asked))


@pytest.mark.parametrize("asked", NOT_DRAWN.values(), ids=NOT_DRAWN)
def test_what_is_not_drawn_needs_no_secret_and_is_the_same_question_without(asked):
    asked = dict(asked)
    policy = {"class_mix": asked.pop("class_mix")} if "class_mix" in asked else {}
    holdout = opened(asked.get("of_labels", False), **policy)
    answer, again = (certified(holdout=holdout, drawn=drawn, **asked) for drawn in (True, False))
    assert not assumes_secret(answer)
    assert (again.repeated, again.index, again.interval) == (True, answer.index, answer.interval)


WITHOUT = {name: DRAWN[name] for name in list(DRAWN)[:3]}


@pytest.mark.parametrize("asked", WITHOUT.values(), ids=WITHOUT)
def test_ends_that_are_not_drawn_are_the_same_whatever_the_secret_and_not_much_wider(asked, tmp_path):
    drawn, fixed = (
        [
            certified(**asked, drawn=drawn, random_state=seed, ledger=tmp_path / f"{seed} {drawn}.db")
            for seed in range(4)
        ]
        for drawn in (True, False)
    )
    assert len({answer.interval for answer in fixed}) == 1 < len({answer.interval for answer in drawn})
    assert not any(map(assumes_secret, fixed))
    assert fixed[0].half_width < 1.6 * drawn[0].half_width


@pytest.mark.parametrize("answers", ["exact", "coarse"])
def test_a_record_with_drawn_ends_is_no_answer_to_whoever_wants_none(answers):
    """Else a certificate that needs no secret would be had from draws."""
    holdout = opened(answers=answers)
    one, other = (certified(SMALL, holdout=holdout, drawn=drawn) for drawn in (True, False))
    assert not other.repeated
    assert other.cost.nats > (1.0 if answers == "exact" else 0.02)
    assert [assumes_secret(each) for each in (one, other)] == [True, False]
    spent = holdout.report().nats
    assert certified(SMALL, holdout=holdout, drawn=True).index == one.index
    assert holdout.report().nats - spent < 0.01


@pytest.mark.parametrize("answers", ["exact", "coarse"])
def test_a_record_without_drawn_ends_is_one_to_everybody(answers):
    holdout = opened(answers=answers)
    one, other = (certified(SMALL, holdout=holdout, drawn=drawn) for drawn in (False, True))
    assert (other.repeated, other.interval, assumes_secret(other)) == (True, one.interval, False)


@pytest.mark.parametrize("guess", [Guess(-0.8, 300.0, 0.6, 1.0), Guess(-0.9, 300.0, 0.7, 1.0)])
def test_a_published_value_needs_no_secret_if_it_is_asked_for_so(guess):
    holdout = opened(answers="coarse")
    certified(SMALL, holdout=holdout)
    published = holdout.publish(RIDGE, scoring=SMALL, guess=guess, drawn=False)
    assert not assumes_secret(published)
    again = holdout.publish(RIDGE, scoring=SMALL, guess=guess, drawn=False)
    assert (again.repeated, again.interval) == (True, published.interval)
    assert assumes_secret(holdout.publish(RIDGE, scoring=SMALL, guess=guess))


@pytest.mark.parametrize("answers", ["exact", "coarse"])
def test_the_winner_of_a_search_is_certified_without_the_secret(answers):
    search = ReusableHoldoutCV(
        GridSearchCV(Ridge(), {"alpha": [1.0, 10.0]}, scoring=MAE), answers=answers, ledger=":memory:"
    ).fit(X, Y)
    assert assumes_secret(search.best_answer_)
    published = search.publish(drawn=False)
    assert not assumes_secret(published)
    assert search.best_score_interval_ == published.interval


def test_a_comparison_of_errors_needs_no_secret_if_it_is_asked_for_so():
    holdout = opened()
    one, other = (
        holdout.compare(RIDGE, OTHER, scoring=SMALL, guess_from=rows(), drawn=drawn)
        for drawn in (True, False)
    )
    assert [assumes_secret(each) for each in (one, other)] == [True, False]


REFUSED = {name: DRAWN[name] for name in list(DRAWN)[3:]}


@pytest.mark.parametrize("asked", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_had_without_the_secret_is_refused_for_nothing(asked):
    asked = dict(asked)
    policy = {name: asked.pop(name) for name in PRIVATE if name in asked}
    holdout = opened(asked.get("of_labels", False), **policy)
    with pytest.raises(ValueError, match=r"'drawn' parameter of Holdout.certify must be True for"):
        certified(holdout=holdout, drawn=False, **asked)
    report = holdout.report()
    assert (report.asked, report.refused) == ({"check": 0, "certify": 0}, 0)
    assert report.nats < 1e-5  # that the rows of the guess are not the holdout's


def test_other_values_of_drawn_are_refused():
    with pytest.raises(ValueError, match=r"'drawn' parameter of Holdout.certify must be True or False"):
        certified(SMALL, drawn="no")
