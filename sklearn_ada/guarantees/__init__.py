"""Guarantees: how far an answer about the holdout can be from the population, after many adaptive questions.

Two routes lead there. By *description length* (route A), what was said about the holdout is priced in nats,
and the interval of each question is widened accordingly. By *differential privacy* (route B), answers have
noise, and a *transfer theorem* says that they fit the population as well as the holdout. Every bound is a
function named after its theorem.
"""

from sklearn_ada._solving import smallest_integer
from sklearn_ada.accounting.polya_urn import urn_nats
from sklearn_ada.guarantees.baselines import (
    nonadaptive_half_width,
    rounding_half_width,
    sample_splitting_half_width,
    verdict_half_width,
)
from sklearn_ada.guarantees.description_length.cell_width import (
    choose_half_cell,
    planned_ln_deltas,
    planned_questions,
)
from sklearn_ada.guarantees.description_length.class_counts import class_count_nats
from sklearn_ada.guarantees.description_length.declared_models import ln_declared
from sklearn_ada.guarantees.description_length.locked_candidates import locked_ln_delta, rank_weight
from sklearn_ada.guarantees.description_length.planned_checks import (
    PlannedChecks,
    plan_certifies,
    plan_checks,
    wilson_deviation,
)
from sklearn_ada.guarantees.description_length.sealed import question_interval
from sklearn_ada.guarantees.description_length.shares import intersection
from sklearn_ada.guarantees.description_length.theorem import ln_delta
from sklearn_ada.guarantees.description_length.wealth import Purse, log_weight
from sklearn_ada.guarantees.description_length.weights import ln_share, round_weight
from sklearn_ada.guarantees.intervals.bentkus import bentkus
from sklearn_ada.guarantees.intervals.bernstein import empirical_bernstein
from sklearn_ada.guarantees.intervals.betting import betting_fixed, betting_predictable
from sklearn_ada.guarantees.intervals.chernoff import bernoulli_kl, chernoff_kl
from sklearn_ada.guarantees.intervals.clopper_pearson import binomial_tail_ends, clopper_pearson
from sklearn_ada.guarantees.intervals.effective_size import bounded_weight_size, class_mean_size, kish_size
from sklearn_ada.guarantees.intervals.expected_width import expected_half_width
from sklearn_ada.guarantees.intervals.expected_width_of_difference import difference_half_width
from sklearn_ada.guarantees.intervals.hoeffding import hoeffding, hoeffding_half_width
from sklearn_ada.guarantees.intervals.of_metrics.ratio_of_counts import ratio_half_width, ratio_interval
from sklearn_ada.guarantees.intervals.of_metrics.recall_and_balanced_accuracy import class_mean_interval
from sklearn_ada.guarantees.intervals.weighted_mean import bounded_weights_kl, fixed_shares_kl
from sklearn_ada.guarantees.ladder import LadderBound, blum_hardt_2015, ladder_transcripts
from sklearn_ada.guarantees.learner import private_learner_sample_size
from sklearn_ada.guarantees.medians.distance_to_mean import MeanDeviation, mean_deviation
from sklearn_ada.guarantees.medians.exact_median import (
    median_is_covered,
    outer_levels,
    quantile_interval,
    uniform_code_level,
)
from sklearn_ada.guarantees.medians.feldman_steinke import (
    OverfittingBound,
    feldman_steinke_2017_corollary_3_3,
    feldman_steinke_2017_theorem_3_1,
    feldman_steinke_2017_theorem_4_1,
    feldman_steinke_2017_theorem_4_2,
    feldman_steinke_2017_theorem_4_3,
    feldman_steinke_2017_theorem_4_6,
    feldman_steinke_2017_theorem_4_7,
)
from sklearn_ada.guarantees.medians.stable_median import (
    median_level_direct,
    median_level_jung,
    median_rank_error,
)
from sklearn_ada.guarantees.medians.stable_median_plan import (
    MedianLevel,
    MedianPlan,
    stable_median_level,
    stable_median_plan,
)
from sklearn_ada.guarantees.transfer.bassily import bassily_2016
from sklearn_ada.guarantees.transfer.bound import TransferBound, is_vacuous
from sklearn_ada.guarantees.transfer.direct import (
    approximate_dp_gap,
    gaussian_dp_gap,
    gaussian_tail_mean,
    laplace_tail_mean,
    zcdp_gap,
)
from sklearn_ada.guarantees.transfer.gaussian_noise import (
    GaussianBound,
    gaussian_bassily,
    gaussian_direct,
    gaussian_jung,
)
from sklearn_ada.guarantees.transfer.jung import (
    jung_2020,
    jung_2020_best,
    jung_2020_low_sensitivity,
    jung_2020_pure,
)
from sklearn_ada.guarantees.transfer.laplace_noise import (
    LaplaceBound,
    LaplacePlan,
    laplace_bassily,
    laplace_plan,
)
from sklearn_ada.guarantees.transfer.max_information import dwork_2015_max_information, joined_nats
from sklearn_ada.guarantees.transfer.multiplicative_weights import (
    MultiplicativeWeightsBound,
    multiplicative_weights_direct,
    multiplicative_weights_median_level,
    multiplicative_weights_records,
)
from sklearn_ada.guarantees.transfer.mutual_information import gaussian_rogers
from sklearn_ada.guarantees.transfer.pure_dp import pure_dp_half_width, pure_dp_interval
from sklearn_ada.guarantees.transfer.thresholdout import ThresholdoutBound, thresholdout_direct
from sklearn_ada.guarantees.transfer.verification import (
    VerificationLevels,
    VerificationPlan,
    verification_levels,
    verification_plan,
)
from sklearn_ada.guarantees.universal_inference.counts import transcript_cell_interval, transcript_interval
from sklearn_ada.guarantees.universal_inference.exact_count import (
    largest_ln_mass,
    transcript_interval_beside_exact_count,
)
from sklearn_ada.guarantees.universal_inference.ratio import transcript_ratio_interval
from sklearn_ada.guarantees.universal_inference.theorem import transcript_ln_side
from sklearn_ada.results import Certificate

__all__ = [
    "Certificate",
    "GaussianBound",
    "LadderBound",
    "LaplaceBound",
    "LaplacePlan",
    "MeanDeviation",
    "MedianLevel",
    "MedianPlan",
    "MultiplicativeWeightsBound",
    "OverfittingBound",
    "PlannedChecks",
    "Purse",
    "ThresholdoutBound",
    "TransferBound",
    "VerificationLevels",
    "VerificationPlan",
    "approximate_dp_gap",
    "bassily_2016",
    "bentkus",
    "bernoulli_kl",
    "betting_fixed",
    "betting_predictable",
    "binomial_tail_ends",
    "blum_hardt_2015",
    "bounded_weight_size",
    "bounded_weights_kl",
    "chernoff_kl",
    "choose_half_cell",
    "class_count_nats",
    "class_mean_interval",
    "class_mean_size",
    "clopper_pearson",
    "difference_half_width",
    "dwork_2015_max_information",
    "empirical_bernstein",
    "expected_half_width",
    "feldman_steinke_2017_corollary_3_3",
    "feldman_steinke_2017_theorem_3_1",
    "feldman_steinke_2017_theorem_4_1",
    "feldman_steinke_2017_theorem_4_2",
    "feldman_steinke_2017_theorem_4_3",
    "feldman_steinke_2017_theorem_4_6",
    "feldman_steinke_2017_theorem_4_7",
    "fixed_shares_kl",
    "gaussian_bassily",
    "gaussian_direct",
    "gaussian_dp_gap",
    "gaussian_jung",
    "gaussian_rogers",
    "gaussian_tail_mean",
    "hoeffding",
    "hoeffding_half_width",
    "intersection",
    "is_vacuous",
    "joined_nats",
    "jung_2020",
    "jung_2020_best",
    "jung_2020_low_sensitivity",
    "jung_2020_pure",
    "kish_size",
    "ladder_transcripts",
    "laplace_bassily",
    "laplace_plan",
    "laplace_tail_mean",
    "largest_ln_mass",
    "ln_declared",
    "ln_delta",
    "ln_share",
    "locked_ln_delta",
    "log_weight",
    "mean_deviation",
    "median_is_covered",
    "median_level_direct",
    "median_level_jung",
    "median_rank_error",
    "multiplicative_weights_direct",
    "multiplicative_weights_median_level",
    "multiplicative_weights_records",
    "nonadaptive_half_width",
    "outer_levels",
    "plan_certifies",
    "plan_checks",
    "planned_ln_deltas",
    "planned_questions",
    "private_learner_sample_size",
    "pure_dp_half_width",
    "pure_dp_interval",
    "quantile_interval",
    "question_interval",
    "rank_weight",
    "ratio_half_width",
    "ratio_interval",
    "round_weight",
    "rounding_half_width",
    "sample_splitting_half_width",
    "smallest_integer",
    "stable_median_level",
    "stable_median_plan",
    "thresholdout_direct",
    "transcript_cell_interval",
    "transcript_interval",
    "transcript_interval_beside_exact_count",
    "transcript_ln_side",
    "transcript_ratio_interval",
    "uniform_code_level",
    "urn_nats",
    "verdict_half_width",
    "verification_levels",
    "verification_plan",
    "wilson_deviation",
    "zcdp_gap",
]
