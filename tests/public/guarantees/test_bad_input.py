"""Bad input of every public function of guarantees is an error that names the parameter."""

import dataclasses
import inspect
import math

import numpy as np
import pytest

from sklearn_ada import guarantees
from sklearn_ada.accounting import Code
from sklearn_ada.guarantees import AreaSpread, ExpectedLosses, Purse


class With(dict):
    """Other arguments that make a parameter a bad one."""


LN_BETA, NAN, INF, EYE = math.log(0.05), math.nan, math.inf, np.eye(2)
NO_NUMBERS = [NAN, INF, "much", None, True]
ZERO_ONE, NEAR = [0.0, 1.0] * 500, [0.2, 0.9] * 500

# By the name of a parameter: a good value, and what is bad besides `NO_NUMBERS` in the place of a number.
GOOD = {
    "alpha": 0.1, "average": "macro", "beta": 0.05, "better": 1, "bounds": (0, 1), "c": 0.01,
    "check_share": 0.1, "code": Code(), "confusion": EYE, "d": 0.01, "delta": 1e-6, "denominators": [1.0] * 9,
    "deviation": 0.4, "disagreement": 0.2, "disagreements": [2], "drawn": True, "epsilon": 0.1, "eta": 0.01,
    "exact_count": 4, "expected": EYE, "expected_area": 0.8, "expected_difference": 0.0, "expected_mean": 0.5,
    "expected_positive": [0, 1], "expected_scores": [0.0, 1.0], "expected_share": 0.5, "expected_size": 10,
    "expected_value": 0.8, "expected_variance": 0.1, "failure": 0.05, "false_positives": 1, "first": 0,
    "fixed": (0.5, 0.6), "grid": [0.5], "grid_size": 100, "half_width": 0.3, "high": 0.5, "high_count": 5,
    "high_share": 0.6, "high_value": 0.6, "hits": [3], "identical_rows": True, "interval_deviation": 0.4,
    "is_positive": [0, 1], "j": 3, "label": 0, "largest_share": 0.2, "left": 1.0, "level": 0.25,
    "ln_beta": LN_BETA, "ln_delta": -3.0, "ln_delta_certify": -3.3, "ln_eta": LN_BETA, "ln_failure": LN_BETA,
    "ln_rank_failure": -12.0, "ln_side": -3.0, "ln_slack": LN_BETA, "losses_a": [0.5], "losses_b": [0.4],
    "low": 0.5, "low_count": 3, "low_share": 0.5, "low_value": 0.5, "m": 10**5, "max_failures": 5,
    "max_hits": 2, "mean_rank_error": 0.05, "mean_weight": 0.5, "metric": "f_beta", "most": 1.0,
    "most_error": 4.0, "mu": 0.1, "n": 1000, "n_classes": 3, "n_hypotheses": 10, "n_models": 3,
    "n_questions": 10, "n_subsamples": 1000, "n_values": 101, "nats": 1.0, "negatives": 20,
    "noise_scale": 0.1, "numerators": [0.5] * 9, "others": [(0.1, 0.9)], "passes": 3, "positives": 10,
    "prediction": NEAR,
    "purpose": "check", "quantile": 0.5, "rank": 3, "rank_error": 0.1, "reach": 0.1, "rho": 0.4, "rows": [4],
    "scale": 20.0, "scores": [0.0, 1.0], "searches": 20, "seed": 0, "sensitivity": 0.001,
    "share": 0.5, "size": 10, "spread": AreaSpread((0.02, 0.02), 0.05), "standard_error": 0.01, "step": 0.1,
    "surprise_rate": 0.1, "taken": 0, "target": ZERO_ONE, "target_range": (-4.0, 4.0), "threshold": 0.1,
    "transfer": "direct",
    "true_positives": 8, "uniform": 0.5, "universe_size": 16, "value": 0.8, "values": [0.5], "variance": 0.1,
    "weight": 0.5, "weight_bound": 1.0, "worse": 1,
}  # fmt: skip
BAD = {
    "average": ["micro"], "better": [5], "candidates": [0], "confusion": [[[1, 2, 3]]],
    "expected": [np.eye(3)], "expected_area": [1.1], "expected_difference": [3.0], "expected_mean": [2.0],
    "expected_positive": [[0, 0]], "expected_size": [0.5], "expected_variance": [-1.0], "first": [-1],
    "grid": [[0.5, 0.4], [0.0, 0.5]], "hits": [[], [1, 2]], "is_positive": [[1, 1], [1, 0, 0]], "j": [0],
    "label": [2], "largest_share": [0.0, 1.5], "left": [-0.1, 1.1], "ln_beta": [0.1], "ln_delta": [0.1],
    "losses_a": [[2.0]], "losses_b": [[0.5, 0.5]], "low_count": [-1], "low_share": [-0.1],
    "mean_weight": [2.0], "metric": ["accuracy"], "most": [0.0], "most_error": [0.0], "n": [0],
    "n_classes": [0], "n_models": [0], "n_values": [0], "nats": [-0.1], "prediction": [[1.0, 2.0]],
    "purpose": ["ask"], "quantile": [1.0], "rank": [0], "rank_error": [-0.1], "scores": [[NAN, 1.0]],
    "searches": [0], "seed": [-1], "share": [1.01, -0.01], "size": [0], "standard_error": [-1.0, 0.0],
    "taken": [-1], "target": [[], [INF]],
    "transfer": NO_NUMBERS, "uniform": [-0.1, 1.1], "values": [[], [0.5, 1.5], [NAN]], "variance": [-0.1],
    "weight": [1.5],
}  # fmt: skip
# What else is good, and bad, in one function alone; `...` is left to its default.
EXPECTED = ExpectedLosses.of_rows(ZERO_ONE, NEAR, target_range=(-4.0, 4.0), most_error=4.0)
LOSSES = {"expected": EXPECTED}, {"range": [With(target_range=(1.0, 1.0))], "expected": []}
CELL = {"n": 10}, {"high_count": [12, With(low_count=6)], "ln_beta": [0.0]}
ALONE = {
    "auc_of_groups_interval": ({"is_positive": [0, 1] * 20, "scores": [*range(40)], "group": [*range(40)]},
        {"group": [[*range(39)], [-1] * 40, [0.5] * 40, [0] * 20 + [1] * 20], "is_positive": [[1], [1] * 40],
         "scores": [[NAN] * 40, []], "row_weights": [[1.0], [-1.0] * 40, [NAN] * 40]}),
    "auc_by_matchings": ({"is_positive": [0, 1] * 10, "scores": [*range(20)]},
        {"is_positive": [[1, 0, 0], [1] * 20, [1] * 13 + [0] * 7], "scores": [[NAN] * 20, []]}),
    "average_ratio_interval": ({"beta": 1.0}, {"beta": [0.0], "metric": ["kappa"]}),
    "bassily_2016": ({"beta": 1e-6, "n": 5000}, {}),
    "bentkus": ({}, {"low_value": [-0.1], "high_value": [0.4]}),
    "binomial_tail_ends": ({"identical_rows": ...}, {}),
    "chernoff_kl": ({}, {"low_value": [-0.1], "range": [(1.0, 0.0)], "ln_delta": [0.1, -INF]}),
    "class_mean_interval": ({}, {"high_count": [With(hits=[5])]}),
    "clopper_pearson": ({"n": 10}, {"high_count": [11, With(low_count=6)], "ln_delta": [0.1, -INF]}),
    "confusion_ratio_interval": (
        {"beta": 1.0, "weights": None},
        {"beta": [0.0], "confusion": [[[1, 2, 3]], [[0.5, 1], [1, 1]], [[-1, 1], [1, 1]]],
         "weights": ["cubic"]},
    ),
    "d2_pinball_interval": LOSSES,
    "difference_half_width": ({}, {"disagreement": [1.5]}),
    "direct_transfer": ({"beta": 1e-6}, {}),
    "empirical_bernstein": ({}, {"n": [1], "low": [2.0], "bounds": [(1.0, 0.0)]}),
    "feldman_steinke_2017_theorem_4_2": (
        {"n_subsamples": 15_339, "epsilon": 0.05, "delta": 1e-4},
        {"n_subsamples": [15_338], "epsilon": [0.051], "delta": [0.05 / 255]},
    ),
    "feldman_steinke_2017_theorem_4_3": ({"failure": "beta"}, {"failure": NO_NUMBERS}),
    "feldman_steinke_2017_theorem_4_6": ({"level": 0.1}, {}),
    "feldman_steinke_2017_theorem_4_7": ({"delta": 1e-9, "n_subsamples": 100}, {}),
    "gaussian_bassily": ({"n": 10**6}, {}),
    "hoeffding": ({}, {"ln_delta": [0.1, -INF]}),
    "hoeffding_half_width": ({}, {"ln_delta": [0.1, -INF]}),
    "intersection": ({}, {"intervals": [With(fixed=(0.5, 0.4)), With(others=[(0.1, NAN)])]}),
    "jung_2020_low_sensitivity": ({"beta": 1e-6, "c": 100.0}, {}),
    "laplace_bassily": ({"n": 10**6}, {"beta": [1e-320]}),
    "laplace_plan": ({}, {"beta": [1e-320], "alpha": [1e-12, *(With(n_questions=k, alpha=a, beta=b)
        for k, b in ((1, 0.05), (10**9, 1e-299)) for a in (1e-300, 1e-160, 1e-12))]}),
    "median_is_covered": ({"level": 0.1}, {}),
    "multiplicative_weights_direct": ({"n": 10**6}, {"epsilon": [None]}),
    "multiplicative_weights_records": ({}, {"half_width": [1e-9]}),
    "paired_given_interval": ({"n": 4}, {"worse": [With(better=3, worse=2)]}),
    "paired_loss_interval": ({}, {"range": [With(bounds=(1, 0))]}),
    "paired_mix_interval": ({"expected": ...},
        {"worse": [With(better=3, worse=2)], "expected": [(0.6, 0.6)],
         "disagreements": [[1], [1, 1], [5], [-1], With(disagreements=[], rows=[]), With(rows=[0])]}),
    "paired_table_interval": ({"n": 4}, {"worse": [With(better=3, worse=2)]}),
    "paired_zero_one_interval": ({"n": 4, "expected": ..., "identical_rows": ...},
        {"worse": [With(better=3, worse=2)], "expected": [(0.6, 0.6)]}),
    "question_interval": (CELL[0], CELL[1] | {"weight": [1.5, -0.1]}),
    "r_squared_interval": (LOSSES[0], {**LOSSES[1], "row_weights": [[1.0], [0.0] * 1000, [NAN] * 1000],
        "unit": [[0], [-1] * 1000, [0.5] * 1000]}),
    "ratio_interval": ({}, {"high_share": [With(low_share=0.9)]}),
    "population_table_interval": (
        {"beta": 1.0, "expected": (0.8, 0.1, 0.2)},
        {"beta": [-0.1], "false_positives": [-1, 21], "metric": ["auc"],
         "negatives": [-1], "positives": [-1], "true_positives": [-1, 11]},
    ),
    "stable_median_level": ({"n_subsamples": 5000}, {}),
    "transcript_cell_interval": CELL, "transcript_interval": CELL,
    "transcript_interval_beside_exact_count": CELL,
    "two_class_interval": (
        {"beta": 1.0},
        {"beta": [-0.1], "false_positives": [-1, 21], "metric": ["auc"], "negatives": [0], "positives": [0],
         "share": [0.0, 1.0], "true_positives": [-1, 11]},
    ),
    "verification_levels": ({}, {"ln_beta": [0.0], "rho": [0.6], "alpha": [0.4], "epsilon": [0.0]}),
    "verification_plan": ({}, {"alpha": [1e-16]}),
    "unit_mean_interval": ({},
        {"denominators": [[], [1.0], [2.0] * 9, With(numerators=[1.5] * 9), With(numerators=[-0.5] * 9)]}),
    "verdict_half_width": ({"expected_value": ...}, {}),
}  # fmt: skip
ELSEWHERE = {  # of other functions' results, or in tests of their own
    *("betting_half_width", "largest_ln_mass", "locked_ln_delta", "transcript_ratio_interval"),
    *("bernoulli_kl", "class_mean_size", "is_vacuous", "kish_size", "ln_share", "planned_ln_deltas"),
    *("multiplicative_weights_median_level", "planned_questions", "smallest_integer", "urn_nats"),
}
METHODS = {"Purse": Purse, "Purse.take": Purse().take, "Purse.round": Purse().round}
PUBLIC = {name: getattr(guarantees, name) for name in guarantees.__all__ if name.islower()} | METHODS
CALLED = {name: function for name, function in PUBLIC.items() if name not in ELSEWHERE}


def good_arguments(name):
    changes, _ = ALONE.get(name, ({}, {}))
    parameters = inspect.signature(CALLED[name]).parameters
    good = {each: changes.get(each, GOOD.get(each)) for each in parameters if each in {**GOOD, **changes}}
    return {each: value for each, value in good.items() if value is not ...}


def bad_values(name):
    """Yield parameters and bad values of them; None is not bad where it is the default."""
    good, (_, alone) = good_arguments(name), ALONE.get(name, ({}, {}))
    for parameter in sorted(good.keys() | alone.keys()):
        if type(good.get(parameter)) in (int, float):
            is_optional = inspect.signature(CALLED[name]).parameters[parameter].default is None
            yield from ((parameter, value) for value in NO_NUMBERS if not (value is None and is_optional))
        yield from ((parameter, value) for value in alone.get(parameter, BAD.get(parameter, ())))


CASES = [
    pytest.param(name, parameter, bad, id=f"{name}-{parameter}-{bad}")
    for name in CALLED
    for parameter, bad in bad_values(name)
]


@pytest.mark.parametrize(("name", "parameter", "bad"), CASES)
def test_bad_input_is_named(name, parameter, bad):
    changed = bad if isinstance(bad, With) else {parameter: bad}
    with pytest.raises(ValueError, match=rf"(?s)^The '{parameter}' parameter of [\w.]+ must be .* Got "):
        CALLED[name](**{**good_arguments(name), **changed})


@pytest.mark.parametrize("name", CALLED)
def test_the_input_is_good_to_begin_with(name):
    result = CALLED[name](**good_arguments(name))
    numbers = dataclasses.astuple(result) if dataclasses.is_dataclass(result) else np.ravel(result)
    assert np.isfinite([float(number) for number in numbers if isinstance(number, float | int)]).all()
