"""Every mechanism through the holdout: budget, price, privacy and certificate."""

import math
import threading

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV

from sklearn_ada import (
    Guess,
    Holdout,
    LadderScorer,
    LadderSettings,
    NoiseSettings,
    ReusableHoldoutCV,
    StableHoldoutScorer,
    ThresholdoutScorer,
)
from sklearn_ada.accounting import exponential_mechanism_zcdp, gaussian_zcdp, thresholdout_epsilon
from sklearn_ada.metrics import Metric
from sklearn_ada.questions.coded import CodedQuestion
from sklearn_ada.questions.ladder_check import LadderQuestion
from sklearn_ada.questions.noisy import NoisyCheck
from sklearn_ada.questions.question import Draw
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.policy import Allowance, Policy
from tests.support import holdouts
from tests.support.laws import is_too_often
from tests.support.ledgers import bodies, kinds
from tests.support.models import RightBelow

ROWS = 400


@pytest.fixture
def holdout(tmp_path):
    X, y = np.arange(ROWS, dtype=float)[:, None], np.ones(ROWS, dtype=int)
    y[-1] = 0  # a class of one, so that labels are a classification
    return Holdout(X, y, ledger=tmp_path / "ledger.db", random_state=0)


def ask(holdout, right, settings, tag=0, scoring="accuracy"):
    return holdout.check(RightBelow(right, tag), scoring=scoring, guess=0.5, settings=settings)


# --- Thresholdout with noise ------------------------------------------------------------------------------


def test_laplace_answers_what_agrees_for_ever_and_corrects_max_hits_times(holdout):
    settings = NoiseSettings("laplace", 1e-4, max_hits=2, threshold=0.05)
    agreed = [ask(holdout, 200, settings, tag) for tag in range(40)]
    assert {answer.verdict for answer in agreed} == {"agrees"}
    corrected = [ask(holdout, 100 + tag, settings, tag) for tag in range(2)]
    assert {answer.verdict for answer in corrected} == {"differs"}
    refused = [ask(holdout, right, settings, 99) for right in (200, 100)]
    assert {answer.verdict for answer in refused} == {"refused"}
    assert "hits" in refused[0].reason


def test_laplace_is_charged_when_its_threshold_is_drawn_and_covers_the_rest(holdout):
    settings = NoiseSettings("laplace", 0.01, max_hits=3, threshold=0.05)
    answers = [ask(holdout, 200, settings, tag) for tag in range(5)]
    assert answers[0].cost.epsilon == pytest.approx(thresholdout_epsilon(1 / (ROWS * 0.01), 3))
    assert [answer.cost.epsilon for answer in answers[1:]] == [0.0] * 4


def test_gaussian_charges_every_comparison_and_a_hit_twice(holdout):
    settings = NoiseSettings("gaussian", 0.002, threshold=0.05)
    agreed, hit = ask(holdout, 200, settings), ask(holdout, 100, settings)
    assert agreed.cost.rho == pytest.approx(gaussian_zcdp(0.002 * ROWS))
    assert hit.cost.rho == pytest.approx(2 * agreed.cost.rho)
    assert (agreed.verdict, hit.verdict) == ("agrees", "differs")
    assert agreed.cost.epsilon is None


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_noise_is_a_function_of_secret_and_recorded_order(noise, tmp_path):
    X, y = np.arange(ROWS, dtype=float)[:, None], np.arange(ROWS) % 2
    settings = NoiseSettings(noise, 0.3, threshold=0.05)
    runs = []
    for name, seed in (("first", 7), ("again", 7), ("other", 8)):
        holdout = Holdout(X, y, ledger=tmp_path / name, random_state=seed)
        runs.append([ask(holdout, right, settings).value for right in range(0, 400, 40)])
    assert runs[0] == runs[1] != runs[2]


def coded(n, guess=0.5, size=None, half_cell=0.02):
    data, guess = HoldoutData(np.zeros((n, 1)), np.zeros(n, dtype=int)), Guess(guess, size)
    return CodedQuestion.plan("check", Metric("accuracy"), guess, data, Policy(), half_cell), data


def noisy(n, settings, **how):
    question, data = coded(n, **how)
    return NoisyCheck.refine(question, settings, data, Policy())


@pytest.mark.parametrize(("noise", "scale"), [("laplace", 0.02), ("gaussian", 0.06)])
def test_noisy_intervals_cover_and_without_the_noise_they_would_not(noise, scale):
    n, delta, runs = 4000, 0.2, 1000
    question = noisy(n, NoiseSettings(noise, scale, threshold=0.02))
    share, rng, misses, naive = Allowance(math.log(delta), 0.0), np.random.default_rng(0), 0, 0
    for run in range(runs):
        value = rng.binomial(n, 0.42) / n  # away from the guess, so that values are corrected
        event, remembered = question.release(value, share, Draw(b"secret", str(run)))
        outcome = question.described_outcome(event, share, remembered)
        misses += not outcome.interval[0] <= 0.42 <= outcome.interval[1]
        naive += not abs(outcome.value - 0.42) <= 0.02 + math.sqrt(math.log(2 / delta) / (2 * n))
    assert not is_too_often(misses, runs, delta)
    assert is_too_often(naive, runs, delta)


def test_the_noisiest_of_all_runs_is_allowed_for():
    """Runs with much noise may last longest, so the worst of them counts, not one drawn at random."""
    hits, scale, delta, trials = 20, 0.01, 0.4, 4000
    question = noisy(1000, NoiseSettings("laplace", scale, max_hits=hits))
    allowed = question.noise_bound(Allowance(math.log(delta), 0.0).ln_noise)
    rng = np.random.default_rng(0)
    worst = np.abs(rng.laplace(scale=2 * scale, size=(trials, hits + 1))).max(axis=1)
    moved = worst + np.abs(rng.laplace(scale=4 * scale, size=trials))
    one_run = allowed - 2 * scale * math.log(hits + 1)  # what a bound for one run would allow
    assert not is_too_often((moved > allowed).sum(), trials, delta / 2)
    assert is_too_often((moved > one_run).sum(), trials, delta / 2)


def test_one_event_covers_all_guesses_because_the_scale_is_theirs_in_common():
    how = {"size": 300.0, "half_cell": None}
    questions = (noisy(500, NoiseSettings("laplace"), guess=guess, **how) for guess in (0.5, 0.9, 0.99))
    assert len({question.scale_of_noise for question in questions}) == 1


def test_a_ratio_takes_no_noise(holdout):
    with pytest.raises(ValueError, match="ratio"):
        holdout.check(RightBelow(10), scoring="f1", guess=0.5, settings=NoiseSettings("laplace", 0.01))


@pytest.mark.parametrize("bad", [math.nan, 0.0, -1.0, math.inf, "x"])
def test_bad_noise_settings_are_refused(bad):
    for settings in (
        lambda: NoiseSettings("laplace", bad),
        lambda: NoiseSettings("laplace", max_hits=bad),
        lambda: LadderSettings(bad),
    ):
        with pytest.raises(ValueError, match="must be"):
            settings()


# --- Ladder ------------------------------------------------------------------------------------------------


def test_the_ladder_speaks_of_improvements_only(holdout):
    settings = LadderSettings(0.05)
    first, worse, near, better = (ask(holdout, right, settings) for right in (200, 100, 210, 300))
    assert (first.verdict, first.value) == ("improves", pytest.approx(0.5, abs=0.03))
    assert (worse.verdict, near.verdict, better.verdict) == ("no improvement", "no improvement", "improves")
    assert worse.value == near.value == first.value
    assert better.value == pytest.approx(0.75, abs=0.03)
    assert worse.interval[0] == 0.0
    assert worse.interval[1] < 0.8
    assert worse.cost.nats < 0.01 < better.cost.nats


def own_metric(sign, held=None):
    """A metric named "score": the share of rows that are right, or (with sign -1) wrong."""

    def score(y_true, outputs, held=held):
        return sign * (np.equal(y_true, outputs) - 0.5) + 0.5

    return Metric(score, kind="mean", range=(0.0, 1.0))


@pytest.mark.parametrize("unreadable", [None, threading.Lock()], ids=["readable", "unreadable"])
def test_metrics_of_one_name_have_ladders_of_their_own(holdout, unreadable):
    settings = LadderSettings(0.05)
    right, wrong = own_metric(1, unreadable), own_metric(-1, unreadable)
    first, other = (ask(holdout, 300, settings, scoring=metric) for metric in (right, wrong))
    assert (first.verdict, other.verdict) == ("improves", "improves")
    assert other.value == pytest.approx(0.25, abs=0.03)  # and not the best that the other metric had
    again = ask(holdout, 100, settings, scoring=own_metric(1, unreadable))
    assert again.verdict == ("no improvement" if unreadable is None else "improves")


def test_metrics_of_one_name_have_hits_of_their_own(holdout):
    settings = NoiseSettings("laplace", 1e-4, max_hits=1, threshold=0.05)
    right, wrong = own_metric(1), own_metric(-1)
    asked = ((right, 100), (right, 120), (wrong, 100))
    verdicts = [ask(holdout, rows, settings, scoring=metric).verdict for metric, rows in asked]
    assert verdicts == ["differs", "refused", "differs"]


def test_the_ladder_covers_on_both_sides():
    n, delta, runs = 1000, 0.2, 400
    question = LadderQuestion.refine(coded(n)[0], LadderSettings(0.002), None, None)
    share, rng, misses = Allowance(math.log(delta), 0.0), np.random.default_rng(0), 0
    for run in range(runs):
        value = rng.binomial(n, 0.6) / n
        event, remembered = question.release(value, share, Draw(b"", str(run)))
        low, high = question.described_outcome(event, share, remembered).interval
        misses += not low <= 0.6 <= high
        event, remembered = question.release(value, share, Draw(b"", "", {"best": 100}))
        low, high = question.described_outcome(event, share, remembered).interval
        assert (low, high >= 0.6) == (0.0, True)
    assert not is_too_often(misses, runs, delta)
    assert misses > 0.2 * runs * delta  # and not because it says nothing


def test_a_seeded_holdout_says_who_must_not_know_its_seed(tmp_path):
    X, y = np.arange(ROWS, dtype=float)[:, None], np.arange(ROWS) % 2
    for seed, said in ((3, True), (None, False)):
        holdout = Holdout(X, y, ledger=tmp_path / f"{seed}", random_state=seed)
        answer = holdout.certify(RightBelow(200), scoring="accuracy", guess=0.5)
        assert any("random_state" in text for text in answer.certificate.assumptions) is said


# --- medians -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["exponential", "binary_search", "exact"])
def test_medians_by_every_method_lie_between_their_levels(method, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=8000)
    holdout = Holdout(X[1000:], y[1000:], ledger=tmp_path / "ledger.db", random_state=0)
    model = Ridge().fit(X[:500], y[:500])
    scorer = StableHoldoutScorer("neg_mean_absolute_error", holdout, n_subsamples=350, method=method)
    answer = scorer.answer(model, X[500:1000], y[500:1000])
    low, high = answer.levels
    assert 0.0 < low < 0.5 < high < 1.0
    truth = -np.mean(np.abs(rng.normal(size=(20_000, 20))), axis=1)  # the law on subsamples of 20
    assert np.quantile(truth, low) - 0.1 <= answer.value <= np.quantile(truth, high) + 0.1
    private = {"exponential": exponential_mechanism_zcdp, "binary_search": lambda e: e**2 / 2}
    if method == "exact":
        assert answer.cost.rho is None
    else:
        guess = Guess(**bodies(holdout)[-1]["guess"])
        what = {"scoring": scorer.metric, "purpose": "check", "guess": guess, "settings": scorer.settings}
        epsilon = holdouts.plan(holdout, model, **what).drawing.epsilon
        assert answer.cost.rho == pytest.approx(private[method](epsilon))


# --- selection ---------------------------------------------------------------------------------------------


def test_selection_reveals_a_good_winner_for_ln_n(holdout):
    models = [RightBelow(right) for right in (100, 390, 150, 200)]
    assert holdout.select(models, scoring="accuracy", epsilon=2.0) == 1
    before = holdout.report().nats
    assert before == pytest.approx(math.log(4), abs=0.01)
    assert holdout.select(models, scoring="accuracy", epsilon=2.0) == 1
    assert before < holdout.report().nats < before + 0.0011  # it is confirmed


def test_selection_needs_bounded_sensitivity_models_and_epsilon(holdout):
    two = [RightBelow(1), RightBelow(2)]
    for models, how, error, message in (
        (two, {"scoring": "f1"}, ValueError, "a selection"),
        ([RightBelow(1), "model"], {}, TypeError, "fitted model"),
        ([], {}, ValueError, "non-empty"),
        *(
            (two, {"epsilon": value}, ValueError, "'epsilon' parameter of a selection must be")
            for value in ("automatic", "", True, math.nan, 0.0)
        ),
    ):
        with pytest.raises(error, match=message):
            holdout.select(models, **{"scoring": "accuracy", **how})
    assert holdout.report().nats == 0.0


# --- through a search --------------------------------------------------------------------------------------


INNER = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0, 100.0]})


@pytest.fixture
def classification():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    return X, (X[:, 0] + 0.5 * rng.normal(size=600) > 0).astype(int)


@pytest.mark.parametrize("mechanism", ["ladder", "thresholdout", "stable_median"])
def test_reusable_holdout_takes_mechanisms_by_name(mechanism, classification, tmp_path):
    search = ReusableHoldoutCV(INNER, mechanism=mechanism, ask="candidates", ledger=tmp_path / "ledger.db")
    low, high = search.fit(*classification).best_score_interval_
    assert low <= search.best_answer_.value <= high
    assert len(search.answers_) == 4


def test_reusable_holdout_selects_and_certifies_only_the_winner(classification, tmp_path):
    how = {"mechanism": "exponential_mechanism", "ledger": tmp_path / "ledger.db"}
    search = ReusableHoldoutCV(INNER, ask=3, **how).fit(*classification)
    recorded = kinds(search.holdout_)
    assert (recorded.count("selection"), recorded.count("sealed")) == (1, 1)  # its cell
    assert len(search.answers_) == 1
    with pytest.raises(ValueError, match="'ask' parameter"):  # without a number of models
        ReusableHoldoutCV(INNER, mechanism="exponential_mechanism").fit(*classification)


SCORERS = {
    "ladder": lambda holdout: LadderScorer("accuracy", holdout, step=0.02),
    "thresholdout laplace": lambda holdout: ThresholdoutScorer(
        "accuracy", holdout, noise="laplace", max_hits=5
    ),
}


@pytest.mark.parametrize("name", SCORERS)
def test_reusable_holdout_takes_a_scorer(name, classification, tmp_path):
    X, y = classification
    holdout = Holdout(X[400:], y[400:], ledger=tmp_path / "ledger.db", random_state=0)
    search = ReusableHoldoutCV(INNER, mechanism=SCORERS[name](holdout), ask="candidates").fit(
        X[:400], y[:400]
    )
    assert search.holdout_ is holdout
    names = [body["mechanism"]["name"] for body in bodies(holdout) if body.get("kind") == "answer"]
    assert (set(names[:-1]), names[-1]) == ({name}, "certify")
