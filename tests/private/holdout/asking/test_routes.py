"""Which route certifies what, what ends the privacy route, and what its budget admits."""

import math
import re

import numpy as np
import pytest
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV

from sklearn_ada import (
    Holdout,
    LadderSettings,
    MedianSettings,
    NoiseSettings,
    ReusableHoldoutCV,
    ThresholdoutScorer,
)
from sklearn_ada.accounting import ComposedEvent, Symbol, gaussian_zcdp
from sklearn_ada.exceptions import BudgetExhaustedError, HoldoutLeakError
from sklearn_ada.holdout.asking import with_routes
from sklearn_ada.terms.policy import Allowance
from sklearn_ada.terms.privacy_account import TransferAllowance
from tests.support import holdouts
from tests.support.ledgers import bodies, kinds
from tests.support.models import coin
from tests.support.rows import numbered

ROWS = 20_000
X, Y = numbered(np.arange(ROWS) % 2)
PRIVATE = ("differential_privacy", "both")
STREAMS = ("grid", "spread", "spread")  # of a certified median


@pytest.fixture
def make(tmp_path):
    def make(route, **parameters):
        parameters = {"expected_questions": 20, "ledger": tmp_path / f"{route}.db", **parameters}
        return Holdout(X, Y, route=route, random_state=0, **parameters)

    return make


def check(holdout, share, tag=0, settings=None, mechanism="check", fails=False, scoring="accuracy"):
    model = coin(share, tag, fails)
    return holdouts.ask(holdout, model, scoring=scoring, purpose=mechanism, guess=0.8, settings=settings)


# --- What certifies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", ["check", "certify"])
@pytest.mark.parametrize("route", PRIVATE)
def test_the_answer_names_its_route_holds_and_costs_what_gaussian_noise_does(make, route, mechanism):
    holdout = make(route)
    answer = check(holdout, 0.8, mechanism=mechanism)
    assert answer.certificate.route == route
    assert "direct transfer" in answer.certificate.theorem
    assert ("description length" in answer.certificate.theorem) == (route == "both")
    assert answer.interval[0] < 0.8 < answer.interval[1]
    assert answer.half_width < 0.15
    assert not answer.certificate.vacuous
    noise = holdouts.plan(holdout, coin(0.8), scoring="accuracy", purpose=mechanism, guess=0.8).multiplier
    assert answer.cost.rho == pytest.approx(gaussian_zcdp(noise))


def test_by_privacy_all_answers_of_a_family_share_one_failure_probability(make):
    holdout = make("differential_privacy")
    used = {check(holdout, 0.8, tag).certificate.ln_delta for tag in range(3)}
    assert list(used) == [pytest.approx(math.log(0.05 / 2.0 * 0.5))]  # half of beta, half of it for means


def test_route_both_intersects_two_intervals_at_half_of_the_failure_probability_each(make):
    """At these sizes description length is the sharper one, also with half of beta and a noisy answer."""
    private, both = (check(make(route), 0.8, mechanism="certify") for route in PRIVATE)
    assert both.half_width < private.half_width


@pytest.mark.parametrize("scoring", ["roc_auc", "balanced_accuracy", "neg_brier_score"])
@pytest.mark.parametrize("route", PRIVATE)
def test_other_metrics_have_private_answers(make, route, scoring):
    guess = -0.15 if scoring.startswith("neg") else 0.7
    assert make(route).check(coin(0.8), scoring=scoring, guess=guess).certificate.route == route


@pytest.mark.parametrize(("ln_delta", "rho", "better"), [(-5.0, 0.3, "described"), (-60.0, 0.01, "private")])
def test_a_certified_median_of_both_routes_is_released_where_the_better_one_covers_it(
    make, ln_delta, rho, better
):
    """The other one says nothing there, instead of widening what is released."""
    how = {"guess": 0.8, "settings": MedianSettings(n_subsamples=400, epsilon=2.0)}
    question = holdouts.plan(make("both"), coin(0.8), scoring="accuracy", purpose="certify", **how)
    transfer = TransferAllowance(rho, ln_gap=-4.0, ln_noise=-4.0)
    shares = {
        "described": Allowance(ln_delta, 0.0),
        "private": Allowance(ln_delta, 0.0, described=False, transfer=transfer),
        "both": Allowance(ln_delta, 0.0, transfer=transfer),
    }
    reach = {name: question.foreseen_half_width(each, lambda event: None)[0] for name, each in shares.items()}
    assert reach["both"] == reach[better] == min(reach.values()) < max(reach.values())
    event = ComposedEvent(tuple(question.drawing.event(Symbol(stream, 2, 1.0)) for stream in STREAMS))
    outcome = {name: question.outcome(event, share, {}, None) for name, share in shares.items()}
    assert (outcome["both"].interval, outcome["both"].vacuous) == (outcome[better].interval, False)
    read = (
        question.described_outcome(event, shares["both"], {}),
        question.private_outcome(event, shares["both"]),
    )
    assert [each.vacuous for each in read] == [better != "described", better != "private"]


@pytest.mark.parametrize("mechanism", ["check", "certify"])
@pytest.mark.parametrize("method", ["exponential", "binary_search"])
@pytest.mark.parametrize("expected", [1, 2, 20])
def test_the_budget_is_enough_for_the_first_median_which_is_certified_by_privacy(
    make, mechanism, method, expected
):
    holdout = make("differential_privacy", expected_questions=expected)
    median = MedianSettings(n_subsamples=ROWS if expected == 1 else "auto", method=method)
    answer = check(holdout, 0.8, settings=median, mechanism=mechanism)
    assert answer.certificate.route == "differential_privacy"
    if (mechanism, expected) == ("check", 1):
        low, high = answer.levels
        assert 0.0 < low < 0.5 < high < 1.0


# --- The budget -------------------------------------------------------------------------------------------


def test_as_many_are_answered_as_were_expected_and_as_remaining_says_then_all_are_refused(make):
    holdout = make("differential_privacy")
    left = holdout.remaining()
    answers = [check(holdout, 0.8, tag) for tag in range(30)]
    answered = [answer.answered for answer in answers]
    assert 20 <= sum(answered) == left <= 22  # the noise is rounded up a little
    assert answered == sorted(answered, reverse=True)
    assert "privacy budget" in answers[-1].reason
    assert holdout.remaining() == 0
    again = check(holdout, 0.8, 0)  # a class of one's own and a bare guess: a new question
    assert again.verdict == "refused"


def test_a_round_beyond_the_budget_is_refused_before_the_first_question(make):
    holdout = make("differential_privacy")
    with pytest.raises(BudgetExhaustedError, match="within the privacy budget the holdout can answer 20"):
        holdouts.open_round(holdout, 100, purpose="check", scoring="accuracy", name="grid")


def test_route_both_goes_on_by_description_length_when_the_privacy_budget_is_spent(make):
    holdout = make("both", expected_questions=2)
    routes = [check(holdout, 0.8, tag).certificate.route for tag in range(4)]
    assert routes == ["both", "both", "description_length", "description_length"]


def test_a_thresholdout_leaves_room_for_another_one(make):
    """Each takes half of the budget, and covers all its later answers."""
    holdout = make("differential_privacy")
    settings = [NoiseSettings("laplace", max_hits=hits) for hits in (5, 6, 7)]
    answers = [check(holdout, 0.8, settings=each) for each in settings]
    assert [answer.answered for answer in answers] == [True, True, False]
    assert check(holdout, 0.8, tag=1, settings=settings[0]).cost.rho == 0.0


# --- What ends the privacy route --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings", [0.02, LadderSettings(), MedianSettings(n_subsamples=50, method="exact")], ids=str
)
def test_privacy_alone_refuses_what_has_no_noise_before_it_is_charged(make, settings):
    holdout = make("differential_privacy")
    message = r"'settings' parameter of Holdout.check must be a mechanism with noise"
    with pytest.raises(ValueError, match=message):
        check(holdout, 0.8, settings=settings)
    assert kinds(holdout) == [None]  # the genesis


def test_a_scorer_without_noise_needs_another_route(make):
    with pytest.raises(ValueError, match="'noise' parameter of ThresholdoutScorer"):
        ThresholdoutScorer("accuracy", make("differential_privacy"))


def test_a_ratio_has_no_private_answer(make):
    with pytest.raises(ValueError, match="One row can move a ratio"):
        check(make("differential_privacy"), 0.8, scoring="f1")
    assert check(make("both"), 0.8, scoring="f1").certificate.route == "description_length"


def test_an_exact_answer_ends_the_privacy_of_both(make):
    holdout = make("both")
    before, exact, after = check(holdout, 0.8), check(holdout, 0.8, settings=0.02), check(holdout, 0.8, tag=1)
    routes = [answer.certificate.route for answer in (before, exact, after)]
    assert routes == ["both", "description_length", "description_length"]


@pytest.mark.parametrize("route", PRIVATE)
def test_a_failure_ends_the_privacy_route(make, route):
    holdout = make(route)
    assert check(holdout, 0.8, fails=True).verdict == "failed"
    after = check(holdout, 0.8)
    assert after.certificate.route == "description_length" if route == "both" else "ended" in after.reason
    assert (after.verdict == "refused") == (route == "differential_privacy")


def test_a_leak_ends_the_privacy_route_and_a_clean_check_does_not(make):
    holdout = make("differential_privacy")
    holdout.check_overlap(np.random.default_rng(0).normal(size=(500, 2)))
    assert check(holdout, 0.8).answered
    with pytest.raises(HoldoutLeakError):
        holdout.check_overlap(X.copy())
    assert check(holdout, 0.8, tag=1).verdict == "refused"


def test_a_private_selection_is_paid_from_the_budget(make):
    holdout = make("differential_privacy")
    models = [coin(share) for share in (0.5, 0.9, 0.6)]
    assert holdout.select(models, scoring="accuracy", epsilon=0.001) in range(3)
    assert 0.0 < holdout.ledger.read(lambda state: state.privacy.spent()) < 1e-6
    with pytest.raises(BudgetExhaustedError, match="privacy budget"):
        holdout.select(models, scoring="accuracy", epsilon=50.0)
    with pytest.raises(BudgetExhaustedError, match="without noise"):
        holdout.select(models, scoring="accuracy", epsilon=None)


def test_a_failure_within_a_selection_ends_the_privacy_route(make):
    holdout = make("differential_privacy")
    holdout.select([coin(0.5), coin(0.6, fails=True)], scoring="accuracy", epsilon=0.001)
    assert check(holdout, 0.8).verdict == "refused"


# --- Families and units -----------------------------------------------------------------------------------


def test_each_family_of_metrics_has_a_share_of_its_own(make):
    holdout = make("differential_privacy")
    first = holdout.ledger.read(lambda state: _share(holdout, state, "accuracy"))
    check(holdout, 0.8)
    same, other = (
        holdout.ledger.read(lambda state, name=name: _share(holdout, state, name))
        for name in ("accuracy", "balanced_accuracy")
    )
    assert first.ln_gap == same.ln_gap > other.ln_gap + 1.0


def _share(holdout, state, scoring):
    question = holdouts.plan(holdout, coin(0.8), scoring=scoring, purpose="check", guess=0.8)
    return with_routes(state, question, state.allowance("check")).transfer


@pytest.mark.parametrize("first", ["mean", "median"])
def test_means_and_medians_draw_on_each_others_budget_and_the_refusal_shows_it(make, first):
    holdout, median = make("differential_privacy"), MedianSettings(n_subsamples=200)
    order = (None, median) if first == "mean" else (median, None)
    assert check(holdout, 0.8, settings=order[0]).answered
    refused = check(holdout, 0.8, settings=order[1])
    assert refused.verdict == "refused"
    assert "privacy budget for replacing one of the" in refused.reason
    budget, spent, cost = map(float, re.findall(r"(?:rho|which|cost) ([\d.e-]+\d)", refused.reason))
    assert spent < budget  # all three speak of one unit
    assert spent + cost > budget


# --- In a search -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ask", ["candidates", "winner"])
@pytest.mark.parametrize("scoring", ["r2", "f1_macro"])
def test_a_search_draws_its_stable_median_where_privacy_alone_certifies(scoring, ask, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS + 1000, 2))
    signal = X[:, 0] + 0.3 * rng.normal(size=len(X))
    model, y = (Ridge(), signal) if scoring == "r2" else (RidgeClassifier(), (signal > 0).astype(int))
    terms = {"route": "differential_privacy", "expected_questions": 4, "random_state": 0}
    holdout = Holdout(X[1000:], y[1000:], ledger=tmp_path / "ledger.db", **terms)
    inner = GridSearchCV(model, {"alpha": [1.0]}, scoring=scoring)
    search = ReusableHoldoutCV(inner, holdout=holdout, ask=ask, mechanism="stable_median")
    search.fit(X[:1000], y[:1000])
    assert search.best_answer_.verdict == "drawn"
    assert search.best_score_interval_[0] < search.best_score_ < search.best_score_interval_[1]
    mechanism = bodies(holdout)[-1]["mechanism"]
    some = (rng.choice(np.arange(1000, len(X)), mechanism["subsample_size"]) for _ in range(600))
    scores = [search.score(X[rows], y[rows]) for rows in some]  # the drawn median has a rank error of .1
    low, high, points = map(float, re.findall(r"=([-\d.e]+)", mechanism["grid"]))
    rounding = (high - low) / (points - 1.0) / 2.0
    assert np.quantile(scores, 0.4) - rounding <= search.best_score_ <= np.quantile(scores, 0.6) + rounding
