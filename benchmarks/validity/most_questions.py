"""How many adaptive questions each static method answers within .1 at 95 %.

    python benchmarks/validity/most_questions.py

For each method the largest number of questions k whose half-width is at most .1, with figures computed
elsewhere in brackets. Those of splitting and of the two Gaussian bounds were searched more coarsely. Three
methods have variants, so only their order of magnitude compares: rounding (here the union bound is over the
transcripts that can occur before each question), Bassily et al. 2016 (here Laplace noise and the constants
of lecture 19), and Jung et al. from the zCDP cost of Gaussian noise (here with the optimal conversion and
the best c and d). "direct" is proved in `sklearn_ada.guarantees.transfer`.
"""

import math
from functools import partial

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtri_exp

from sklearn_ada.accounting import zcdp_delta
from sklearn_ada.guarantees import laplace_plan, smallest_integer
from sklearn_ada.guarantees.baselines import rounding_half_width, sample_splitting_half_width
from sklearn_ada.guarantees.noise import gaussian_direct, gaussian_jung, gaussian_rogers
from sklearn_ada.guarantees.transfer import jung_2020_best

TAU, BETA = 0.1, 0.05
LN_BETA = math.log(BETA)
SIZES = (10_000, 100_000, 1_000_000)
FIGURES = {
    "splitting": (28, 219, 1_784),
    "rounding": (34, 350, 3_515),
    "Bassily et al. 2016": (0, 29, 2_224),
    "Jung et al., zCDP": (2, 153, 11_616),
    "Gaussian, Jung et al., exact curve": (4, 323, 25_216),
    "Gaussian, Rogers et al., corrected": (2, 263, 21_184),
    "Gaussian, direct": (None, None, None),
}


def jung_by_zcdp(n, k):
    """Half-width of Jung et al. for Gaussian noise whose privacy is known by its zCDP cost only."""

    def half_width(x):
        sigma, epsilon, ln_sample = math.exp(x[0]), math.exp(x[1]), -math.exp(x[2])
        alpha = -sigma * float(ndtri_exp(ln_sample - math.log(2 * k)))
        delta = zcdp_delta(k / (2.0 * (n * sigma) ** 2), epsilon)
        return min(jung_2020_best(alpha, ln_sample, epsilon, math.log(delta), LN_BETA), 1e9)

    start = [math.log(0.02), math.log(0.05), math.log(12.0)]
    for _ in range(2):
        start = minimize(half_width, start, method="Nelder-Mead").x
    return half_width(start)


def most(fits):
    """Return the largest k at which a condition holds that fails from some k on."""
    return smallest_integer(lambda k: not fits(k)) - 1


METHODS = {
    "splitting": lambda n, k: sample_splitting_half_width(n, k, LN_BETA) <= TAU,
    "rounding": lambda n, k: rounding_half_width(n, k, LN_BETA) <= TAU,
    "Bassily et al. 2016": lambda n, k: laplace_plan(k, TAU, BETA).n <= n,
    "Jung et al., zCDP": lambda n, k: jung_by_zcdp(n, k) <= TAU,
    "Gaussian, Jung et al., exact curve": lambda n, k: gaussian_jung(n, k, LN_BETA).half_width <= TAU,
    "Gaussian, Rogers et al., corrected": lambda n, k: gaussian_rogers(n, k, LN_BETA).half_width <= TAU,
    "Gaussian, direct": lambda n, k: gaussian_direct(n, k, LN_BETA).half_width <= TAU,
}


def table():
    """Return {method: most questions for each n of SIZES}."""
    return {name: [most(partial(fits, n)) for n in SIZES] for name, fits in METHODS.items()}


def main():
    print(f"most questions within {TAU} at {1 - BETA:.0%}: ours (figure)")
    print(f"{'method':36}" + "".join(f"{'n = ' + format(n, ','):>24}" for n in SIZES))
    for name, ours in table().items():
        cells = (
            f"{k:,}" + (f" ({figure:,})" if figure is not None else "")
            for k, figure in zip(ours, FIGURES[name], strict=True)
        )
        print(f"{name:36}" + "".join(f"{cell:>24}" for cell in cells))


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main()
