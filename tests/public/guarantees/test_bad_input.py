"""Bad input of every public function of guarantees is an error that names the parameter."""

import dataclasses
import inspect
import math

import numpy as np
import pytest

from sklearn_ada import guarantees
from sklearn_ada.accounting import Code
from sklearn_ada.guarantees import ExpectedLosses, Purse


class With(dict):
    """Other arguments that make a parameter a bad one."""


LN_BETA, NAN, EYE = math.log(0.05), math.nan, np.eye(2)
ASKED = {"n": 1000, "n_questions": 10, "ln_beta": LN_BETA}
CELL = {"low_count": 3, "high_count": 5, "n": 10, "ln_beta": -3.0, "nats": 0.0}
BAD_CELL = {"low_count": [-1], "high_count": [12], "n": [0], "ln_beta": [0.0], "nats": [-0.1]}
VALUE = {"low_value": 0.5, "high_value": 0.6, "ln_delta": -3.0}
CLIP, ZERO_ONE, NEAR = {"target_range": (-4.0, 4.0), "most_error": 4.0}, [0.0, 1.0] * 500, [0.2, 0.9] * 500
LOSSES = {"target": ZERO_ONE, "prediction": NEAR, "ln_delta": -3.0, **CLIP}
LOSSES["expected"] = ExpectedLosses.of_rows(ZERO_ONE, NEAR, **CLIP)
BAD_LOSSES = {
    "target": [[], [math.inf]], "prediction": [[1.0, 2.0]], "range": [With(target_range=(1.0, 1.0))],
    "most_error": [0.0], "ln_delta": [0.1],
}  # fmt: skip
VERIFIED = {"n_questions": 9, "rho": 0.4, "alpha": 0.3, "max_failures": 5}
ROUTE = {"epsilon": 0.1, "delta": 1e-6, "beta": 0.05}
PAIR = {"losses_a": [0.5], "losses_b": [0.4], "ln_delta": -3.0, "bounds": (0, 1)}


# A valid call of each function, and what is bad besides `NO_NUMBERS` in the place of every number.
NO_NUMBERS = [NAN, math.inf, "much", None, True]
CALLS = [
    ("approximate_dp_gap", ROUTE, {}),
    ("average_precision_interval", {"scores": [0.0, 1.0], "is_positive": [0, 1], "ln_delta": -3.0, "seed":
     0, "expected_scores": [0.0, 1.0], "expected_positive": [0, 1]}, {"scores": [[NAN, 1.0]], "is_positive":
     [[1, 1], [1, 0, 0]], "expected_positive": [[0, 0]], "ln_delta": [0.1], "seed": [-1]}),
    ("average_ratio_interval", {"metric": "f_beta", "confusion": EYE, "ln_delta": -3.0, "expected": EYE,
     "average": "macro", "beta": 1.0}, {"metric": ["kappa"], "average": ["micro"], "confusion": [[[1, 2,
     3]]], "expected": [np.eye(3)], "ln_delta": [0.1], "beta": [0.0]}),
    ("bassily_2016", {**ROUTE, "alpha": 0.1, "beta": 1e-6, "n_questions": 10, "n": 5000}, {}),
    ("bentkus", {**VALUE, "size": 10}, {"low_value": [-0.1], "high_value": [0.4]}),
    ("betting_fixed", {"values": [0.5], "variance": 0.1, "ln_delta": -3.0}, {"values": [[], [1.5], [NAN]]}),
    ("betting_predictable", {"values": [0.5], "variance": 0.1, "ln_delta": -3.0, "grid": [0.5], "uniform":
     0.5}, {"values": [[0.5, 1.5], [0.5, NAN], []], "variance": [-0.1], "ln_delta": [1.0], "grid": [[0.5,
     0.4], [0.0, 0.5]], "uniform": [-0.1, 1.1]}),
    ("binomial_tail_ends", {"low_count": 3, "high_count": 5, "n": 10, "ln_side": -3.0}, {"low_count":
     [-1]}),
    ("blum_hardt_2015", {**ASKED, "step": 0.1}, {}),
    ("bounded_weight_size", {"n": 10, "mean_weight": 0.5, "weight_bound": 1.0}, {"mean_weight": [2.0]}),
    ("bounded_weights_kl", {**VALUE, "n": 10, "mean_weight": 0.5, "weight_bound": 1.0}, {"mean_weight":
     [2.0]}),
    ("chernoff_kl", {**VALUE, "size": 10.0}, {"low_value": [-0.1], "range": [(1.0, 0.0)], "ln_delta": [0.1,
     -math.inf]}),
    ("choose_half_cell", {"n_questions": 10, "standard_error": 0.005, "interval_deviation": 0.4, "size":
     1e4, "ln_delta": -5.0, "ln_delta_certify": -3.3, "code": Code()}, {"standard_error": [-1.0, 0.0]}),
    ("class_count_nats", {"n": 100, "n_classes": 3}, {"n": [0], "n_classes": [0]}),
    ("class_mean_interval", {"hits": [3], "rows": [4], "ln_delta": -3.0},
     {"hits": [[], [1, 2]], "high_count": [With(hits=[5])]}),
    ("clopper_pearson", {"low_count": 3, "high_count": 5, "n": 10, "ln_delta": -3.0}, {"low_count": [-1],
     "high_count": [11, With(low_count=6)], "ln_delta": [0.1, -math.inf]}),
    ("confusion_ratio_interval", {"metric": "f_beta", "confusion": EYE, "ln_delta": -3.0, "expected": EYE,
     "label": 0, "beta": 1.0}, {"metric": ["accuracy"], "confusion": [[[1, 2, 3]], [[0.5, 1], [1, 1]], [[-1,
     1], [1, 1]]], "expected": [np.eye(3)], "ln_delta": [0.1], "label": [2], "beta": [0.0]}),
    ("d2_pinball_interval", {**LOSSES, "quantile": 0.5}, {**BAD_LOSSES, "quantile": [1.0]}),
    ("difference_half_width", {"n": 10, "ln_delta": -3.0, "disagreement": 0.2}, {"disagreement": [1.5]}),
    ("direct_transfer", {**ROUTE, "alpha": 0.1, "beta": 1e-6, "failure": 0.05}, {}),
    ("dwork_2015_max_information", {"epsilon": 0.01, "n": 1000, "ln_beta": LN_BETA}, {}),
    ("empirical_bernstein", {"low": 0.5, "high": 0.5, "variance": 0.1, "n": 10, "ln_delta": -3.0, "bounds":
     (0.0, 1.0)}, {"variance": [-0.1], "n": [1], "ln_delta": [0.1], "low": [2.0], "bounds": [(1.0, 0.0)]}),
    ("expected_half_width", {"n": 1000, "ln_delta": LN_BETA, "expected_value": 0.8, "reach": 0.1}, {}),
    ("feldman_steinke_2017_corollary_3_3", {**ROUTE, "grid_size": 100, "alpha": 0.25}, {}),
    ("feldman_steinke_2017_theorem_3_1", {"grid_size": 100, "epsilon": 0.1, "alpha": 0.25, "beta": 0.05},
     {}),
    ("feldman_steinke_2017_theorem_4_1", {**ROUTE, "n_subsamples": 1000, "n_questions": 10}, {}),
    ("feldman_steinke_2017_theorem_4_2", {"n_subsamples": 15_339, "n_questions": 10, "epsilon": 0.05,
     "delta": 1e-4, "beta": 0.05}, {"n_subsamples": [15_338], "epsilon": [0.051], "delta": [0.05 / 255]}),
    ("feldman_steinke_2017_theorem_4_3", {"n_questions": 10, "grid_size": 100, "beta": 0.05, "failure":
     "beta"}, {"failure": NO_NUMBERS}),
    ("feldman_steinke_2017_theorem_4_6", {"level": 0.1, "epsilon": 0.1, "delta": 1e-6}, {}),
    ("feldman_steinke_2017_theorem_4_7", {**ROUTE, "n_subsamples": 100, "n_questions": 10, "delta": 1e-9},
     {}),
    ("fixed_shares_kl", {**VALUE, "n": 10, "largest_share": 0.2}, {"largest_share": [0.0, 1.5]}),
    ("fixed_bets_mean", {"values": [0.5], "ln_delta": -3.0, "expected_mean": 0.5, "expected_variance": 0.1},
     {"values": [[0.5, 1.5], [], [NAN]], "ln_delta": [0.1], "expected_mean": [2.0], "expected_variance":
     [-1.0]}),
    ("gaussian_bassily", {**ASKED, "n": 10**6}, {}),
    ("gaussian_direct", {**ASKED, "noise_scale": 0.1}, {}),
    ("gaussian_dp_gap", {"mu": 0.1, "ln_beta": LN_BETA}, {}),
    ("gaussian_jung", {**ASKED, "noise_scale": 0.1}, {}),
    ("gaussian_rogers", {**ASKED, "noise_scale": 0.1}, {}),
    ("gaussian_tail_mean", {"n_questions": 10, "noise_scale": 0.1, "ln_beta": LN_BETA}, {}),
    ("hoeffding", {**VALUE, "size": 10.0}, {"ln_delta": [0.1, -math.inf]}),
    ("hoeffding_half_width", {"size": 10.0, "ln_delta": -3.0}, {"ln_delta": [0.1, -math.inf]}),
    ("intersection", {"fixed": (0.5, 0.6), "others": [(0.1, 0.9)]}, {"intervals": [With(fixed=(0.5, 0.4)),
     With(others=[(0.1, NAN)])]}),
    ("joined_nats", {"nats": 3.0, "epsilon": 0.01, "n": 1000, "ln_slack": LN_BETA, "weight": 0.5}, {}),
    ("jung_2020", {**ROUTE, "alpha": 0.1, "beta": 1e-6, "c": 0.01, "d": 0.01}, {}),
    ("jung_2020_best", {"alpha": 0.1, "ln_beta": -15.0, "epsilon": 0.1, "ln_delta": -15.0, "ln_failure":
     LN_BETA}, {}),
    ("jung_2020_low_sensitivity", {**ROUTE, "alpha": 0.1, "beta": 1e-6, "n": 1000, "sensitivity": 0.001,
     "c": 100.0, "d": 0.01}, {}),
    ("jung_2020_pure", {"alpha": 0.1, "beta": 1e-6, "epsilon": 0.1, "n": 1000, "eta": 0.01}, {}),
    ("ladder_transcripts", {"n_questions": 10, "step": 0.1}, {}),
    ("laplace_bassily", {"n": 10**6, "n_questions": 10, "beta": 0.05}, {"beta": [1e-320]}),
    ("laplace_plan", {"n_questions": 10, "alpha": 0.2, "beta": 0.05}, {"alpha": [1e-12,
     *(With(n_questions=k, alpha=a, beta=b) for k, b in ((1, 0.05), (10**9, 1e-299)) for a in (1e-300,
     1e-160, 1e-12))], "beta": [1e-320]}),
    ("laplace_tail_mean", {"n_questions": 10, "noise_scale": 0.1, "ln_beta": LN_BETA}, {}),
    ("ln_declared", {"ln_beta": LN_BETA, "n_models": 3}, {"n_models": [0]}),
    ("ln_delta", {"ln_beta": LN_BETA, "weight": 0.5, "nats": 1.0}, {"weight": [1.5], "nats": [-1.0]}),
    ("log_weight", {"j": 3}, {"j": [0]}),
    ("max_information", {"epsilon": 0.01, "n": 1000, "ln_beta": LN_BETA}, {}),
    ("mcc_interval", {"confusion": EYE, "ln_delta": -3.0, "expected": EYE}, {"confusion": [[[1, 2]]],
     "expected": [np.eye(3)], "ln_delta": [1.0]}),
    ("mean_deviation", {"level": 0.25}, {}),
    ("median_is_covered", {"n_subsamples": 10, "level": 0.1, "rank_error": 0.1, "ln_delta": -1.0}, {}),
    ("median_level_direct", {"mean_rank_error": 0.05, "rho": 0.01, "ln_beta": LN_BETA}, {}),
    ("median_level_jung", {"rank_error": 0.05, "ln_rank_failure": -12.0, "rho": 0.001, "ln_beta": LN_BETA},
     {}),
    ("median_rank_error", {"n_subsamples": 1000, "n_questions": 10, "grid_size": 100, "epsilon": 0.1,
     "ln_beta": LN_BETA}, {}),
    ("multiplicative_weights_direct", {"n": 10**6, "n_questions": 9, "ln_beta": -3.0, "universe_size": 16,
     "alpha": 0.2, "epsilon": 0.01}, {"epsilon": [None]}),
    ("multiplicative_weights_records", {"n_questions": 9, "half_width": 0.3, "universe_size": 16, "beta":
     0.05}, {"half_width": [1e-9]}),
    ("nonadaptive_half_width", ASKED, {}),
    ("outer_levels", {"n_subsamples": 10, "rank_error": 0.1, "ln_delta": -1.0}, {"rank_error": [-0.1]}),
    ("paired_loss_interval", {**PAIR, "expected_difference": 0.0, "expected_variance": 0.1}, {"losses_a":
     [[2.0]], "losses_b": [[0.5, 0.5]], "range": [With(bounds=(1, 0))], "expected_difference": [3.0],
     "expected_variance": [-1.0]}),
    ("paired_zero_one_interval", {"better": 1, "worse": 1, "n": 4, "ln_delta": -3.0}, {"n": [0], "better":
     [5], "worse": [With(better=3, worse=2)], "ln_delta": [0.1], "expected": [(0.6, 0.6)]}),
    ("plan_certifies", {"n_questions": 10, "scale": 20.0, "ln_beta": LN_BETA, "check_share": 0.1}, {}),
    ("plan_checks", {"n_questions": 10, "standard_error": 0.01, "deviation": 0.4, "size": 1000, "ln_beta":
     LN_BETA, "check_share": 0.1, "surprise_rate": 0.1}, {}),
    ("private_learner_sample_size", {"n_hypotheses": 10, "alpha": 0.1, "epsilon": 0.1, "beta": 0.05}, {}),
    ("pure_dp_half_width", {"alpha": 0.1, "epsilon": 0.1, "n": 1000, "ln_eta": LN_BETA}, {}),
    ("pure_dp_interval", {"low_value": 0.8, "high_value": 0.9, "epsilon": 0.1, "n": 1000, "ln_eta":
     LN_BETA}, {}),
    ("quantile_interval", {"n_subsamples": 10, "rank_error": 0.1, "ln_delta": -1.0}, {"rank_error":
     [-0.1]}),
    ("question_interval", {**CELL, "weight": 0.5}, {**BAD_CELL, "high_count": [12, With(low_count=6)],
     "weight": [1.5, -0.1]}),
    ("r_squared_interval", LOSSES, BAD_LOSSES),
    ("rank_weight", {"rank": 3}, {"rank": [0]}),
    ("ratio_half_width", {"size": 10, "ln_delta": -3.0, "expected_size": 10}, {"expected_size": [0.5]}),
    ("ratio_interval", {"low_share": 0.5, "high_share": 0.6, "ln_delta": -3.0, "size": 10, "expected_share":
     0.5, "expected_size": 10}, {"low_share": [-0.1], "high_share": [With(low_share=0.9)], "size": [0],
     "ln_delta": [0.1], "expected_size": [0.5]}),
    ("rounding_half_width", {**ASKED, "expected_value": 0.8}, {}),
    ("round_weight", {"purpose": "check", "first": 0, "size": 3}, {"purpose": ["ask"], "first": [-1],
     "size": [0]}),
    ("sample_splitting_half_width", ASKED, {}),
    ("stable_median_level", {"n_subsamples": 5000, "n_questions": 10, "grid_size": 100, "ln_beta": LN_BETA,
     "transfer": "direct"}, {"transfer": NO_NUMBERS}),
    ("stable_median_plan", {"n_questions": 10, "grid_size": 100, "ln_beta": LN_BETA, "level": 0.25,
     "transfer": "direct"}, {"transfer": NO_NUMBERS}),
    ("thresholdout_direct", {**ASKED, "max_hits": 2, "threshold": 0.1, "noise_scale": 0.1}, {}),
    ("transcript_cell_interval", CELL, BAD_CELL),
    ("transcript_interval", {**CELL, "identical_rows": True}, BAD_CELL),
    ("transcript_interval_beside_exact_count", {**CELL, "exact_count": 4}, BAD_CELL),
    ("transcript_ln_side", {"ln_beta": -3.0, "nats": 1.0}, {"nats": [-0.1]}),
    ("uniform_code_level", {"n_subsamples": 1000, "n_questions": 10, "grid_size": 100, "ln_beta": LN_BETA},
     {}),
    ("verdict_half_width", {**ASKED, "passes": 3, "disagreement": 0.2}, {}),
    ("verification_levels", {**VERIFIED, "m": 10**5, "epsilon": 0.02, "ln_beta": -3.0}, {"ln_beta": [0.0],
     "rho": [0.6], "alpha": [0.4], "epsilon": [0.0]}),
    ("verification_plan", {**VERIFIED, "beta": 0.05}, {"alpha": [1e-16]}),
    ("Purse", {"left": 1.0, "taken": 0}, {"left": [-0.1, 1.1], "taken": [-1]}),
    ("Purse.round", {"size": 3}, {"size": [0]}),
    ("Purse.take", {"share": 0.5}, {"share": [1.01, -0.01]}),
    ("wilson_deviation", {"value": 0.8, "size": 100.0}, {}),
    ("zcdp_gap", {"rho": 0.1, "ln_beta": LN_BETA}, {}),
]  # fmt: skip
METHODS = {"Purse.take": Purse().take, "Purse.round": Purse().round}
ELSEWHERE = {  # of other functions' results, or in tests of their own
    *("betting_half_width", "largest_ln_mass", "locked_ln_delta", "transcript_ratio_interval"),
    *("bernoulli_kl", "class_mean_size", "is_vacuous", "kish_size", "ln_share", "planned_ln_deltas"),
    *("multiplicative_weights_median_level", "planned_questions", "smallest_integer", "urn_nats"),
}


def target(name):
    return METHODS.get(name) or getattr(guarantees, name)


def bad_values(name, parameter, good):
    """Return what is bad besides the table's: no number where there is one; None where it is no default."""
    if type(good) not in (int, float):
        return []
    is_optional = inspect.signature(target(name)).parameters[parameter].default is None
    return [value for value in NO_NUMBERS if not (value is None and is_optional)]


CASES = [
    pytest.param(name, good, parameter, bad, id=f"{name}-{parameter}-{bad}")
    for name, good, table in CALLS
    for parameter in sorted(good.keys() | table.keys())
    for bad in (*bad_values(name, parameter, good.get(parameter)), *table.get(parameter, ()))
]


@pytest.mark.parametrize(("name", "good", "parameter", "bad"), CASES)
def test_bad_input_is_named(name, good, parameter, bad):
    changed = bad if isinstance(bad, With) else {parameter: bad}
    with pytest.raises(ValueError, match=rf"(?s)^The '{parameter}' parameter of [\w.]+ must be .* Got "):
        target(name)(**{**good, **changed})


@pytest.mark.parametrize(("name", "good", "bad"), CALLS)
def test_the_input_is_good_to_begin_with(name, good, bad):
    result = target(name)(**good)
    numbers = dataclasses.astuple(result) if dataclasses.is_dataclass(result) else np.ravel(result)
    assert np.isfinite([float(number) for number in numbers if isinstance(number, float | int)]).all()


def test_every_public_function_is_fed_bad_input():
    public = {name for name in guarantees.__all__ if name.islower()}
    assert public == {name for name, *_ in CALLS if name.islower()} | ELSEWHERE
