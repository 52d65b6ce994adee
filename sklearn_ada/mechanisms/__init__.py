"""Mechanisms: procedures that answer a question about the holdout and say what they did.

Each returns a `Release`: the answer, and the event that says what happened. What that costs is not theirs to
say but `sklearn_ada.accounting`'s. Randomness comes from the generator that is passed in.
"""

from sklearn_ada.accounting.events import Release
from sklearn_ada.mechanisms.effective_rounds import (
    EffectiveRounds,
    EffectiveRoundsAnswer,
    Verification,
    verification_sample_size,
)
from sklearn_ada.mechanisms.ladder import Ladder, ParameterFreeLadder
from sklearn_ada.mechanisms.multiplicative_weights import (
    PrivateMultiplicativeWeights,
    multiplicative_weights_median,
    multiplicative_weights_sample_size,
)
from sklearn_ada.mechanisms.noise import (
    SampleSplitting,
    StatefulMechanism,
    gaussian_mechanism,
    laplace_mechanism,
    randomized_response,
)
from sklearn_ada.mechanisms.quantiles import (
    binary_search_error,
    binary_search_quantile,
    exact_quantile,
    exponential_quantile,
    grid_quantile,
    n_counting_questions,
    private_quantile,
    quantile_log_law,
    rank_error,
    search_quantile,
)
from sklearn_ada.mechanisms.rounding import (
    Cells,
    CountCells,
    ExplicitGrid,
    Grid,
    LogGrid,
    Rounding,
    UniformGrid,
    candidate_width,
    guess_error,
    rounded,
)
from sklearn_ada.mechanisms.selection import (
    exponential_mechanism,
    permute_and_flip,
    private_learner,
    private_minimum,
    report_noisy_max,
    selection_error,
)
from sklearn_ada.mechanisms.thresholdout import (
    SparseVector,
    Thresholdout,
    ThresholdoutAnswer,
    above_threshold,
    gaussian_thresholdout,
    sparse_vector_error,
)

__all__ = [
    "Cells",
    "CountCells",
    "EffectiveRounds",
    "EffectiveRoundsAnswer",
    "ExplicitGrid",
    "Grid",
    "Ladder",
    "LogGrid",
    "ParameterFreeLadder",
    "PrivateMultiplicativeWeights",
    "Release",
    "Rounding",
    "SampleSplitting",
    "SparseVector",
    "StatefulMechanism",
    "Thresholdout",
    "ThresholdoutAnswer",
    "UniformGrid",
    "Verification",
    "above_threshold",
    "binary_search_error",
    "binary_search_quantile",
    "candidate_width",
    "exact_quantile",
    "exponential_mechanism",
    "exponential_quantile",
    "gaussian_mechanism",
    "gaussian_thresholdout",
    "grid_quantile",
    "guess_error",
    "laplace_mechanism",
    "multiplicative_weights_median",
    "multiplicative_weights_sample_size",
    "n_counting_questions",
    "permute_and_flip",
    "private_learner",
    "private_minimum",
    "private_quantile",
    "quantile_log_law",
    "randomized_response",
    "rank_error",
    "report_noisy_max",
    "rounded",
    "search_quantile",
    "selection_error",
    "sparse_vector_error",
    "verification_sample_size",
]
