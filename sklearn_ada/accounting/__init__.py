"""Prices of events: what the answers given so far have cost, in each of two currencies.

*Nats* of description length, for answers that are symbols of a code (`codes`, `count_code`, `polya_urn`,
`unsealing`); and *privacy loss*, for answers with noise: pure and approximate differential privacy (epsilon,
delta), zero-concentrated differential privacy (rho, "zCDP") and Gaussian differential privacy (mu, "GDP").
Composition theorems say what many answers cost together.
"""

from sklearn_ada.accounting.codes import Code
from sklearn_ada.accounting.composition import (
    EpsilonDelta,
    advanced_composition,
    advanced_composition_simple,
    basic_composition,
    heterogeneous_composition,
)
from sklearn_ada.accounting.count_code import CountCode
from sklearn_ada.accounting.gaussian_dp import (
    GaussianPrivacyLoss,
    gaussian_composition,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_log_delta,
    gaussian_mu,
)
from sklearn_ada.accounting.odometer import ZCDPOdometer
from sklearn_ada.accounting.optimal_composition import (
    optimal_composition_delta,
    optimal_composition_epsilon,
)
from sklearn_ada.accounting.polya_urn import DescriptionLength, PolyaUrn
from sklearn_ada.accounting.privacy_loss import (
    PrivacyLossDistribution,
    finite_privacy_loss,
    leaky_randomized_response_loss,
    randomized_response_loss,
)
from sklearn_ada.accounting.pure_dp import approximate_dp_cost, pure_dp_cost, thresholdout_epsilon
from sklearn_ada.accounting.unsealing import (
    failed_unsealing_nats,
    largest_unsealing_nats,
    released_ends_nats,
    unsealing_nats,
)
from sklearn_ada.accounting.zcdp import (
    exponential_mechanism_zcdp,
    gaussian_zcdp,
    laplace_zcdp,
    pure_dp_zcdp,
    thresholdout_zcdp,
    zcdp_cost,
)
from sklearn_ada.accounting.zcdp_conversion import (
    zcdp_delta,
    zcdp_delta_simple,
    zcdp_epsilon,
    zcdp_epsilon_simple,
)
from sklearn_ada.accounting.zcdp_filter import ZCDPFilter, admits

__all__ = [
    "Code",
    "CountCode",
    "DescriptionLength",
    "EpsilonDelta",
    "GaussianPrivacyLoss",
    "PolyaUrn",
    "PrivacyLossDistribution",
    "ZCDPFilter",
    "ZCDPOdometer",
    "admits",
    "advanced_composition",
    "advanced_composition_simple",
    "approximate_dp_cost",
    "basic_composition",
    "exponential_mechanism_zcdp",
    "failed_unsealing_nats",
    "finite_privacy_loss",
    "gaussian_composition",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_log_delta",
    "gaussian_mu",
    "gaussian_zcdp",
    "heterogeneous_composition",
    "laplace_zcdp",
    "largest_unsealing_nats",
    "leaky_randomized_response_loss",
    "optimal_composition_delta",
    "optimal_composition_epsilon",
    "pure_dp_cost",
    "pure_dp_zcdp",
    "randomized_response_loss",
    "released_ends_nats",
    "thresholdout_epsilon",
    "thresholdout_zcdp",
    "unsealing_nats",
    "zcdp_cost",
    "zcdp_delta",
    "zcdp_delta_simple",
    "zcdp_epsilon",
    "zcdp_epsilon_simple",
]
