"""Theorems checked exactly where everything can be enumerated, and shown to fail when shrunk."""

import bisect
import itertools
import math

import numpy as np
import pytest
from scipy.special import logsumexp, ndtr
from scipy.stats import binom

from sklearn_ada import guarantees
from tests.support.laws import is_missed

ORDERS = 1.0 + np.exp(np.linspace(-6.0, 6.0, 60))


class Mechanism:
    """A mechanism with finitely many outputs on all data sets of n records from a law on few values."""

    def __init__(self, n, law, output_law):
        self.n, self.law = n, np.asarray(law)
        self.data = list(itertools.product(range(len(law)), repeat=n))
        self.outputs = np.array([output_law(np.array(d)) for d in self.data])
        self.outputs = self.outputs / self.outputs.sum(axis=1, keepdims=True)
        weights = np.array([np.prod(self.law[list(d)]) for d in self.data])
        self.joint = weights[:, None] * self.outputs
        self.marginal = self.joint.sum(axis=0)
        index = {d: i for i, d in enumerate(self.data)}
        self.pairs = [
            (index[d], index[(*d[:i], v, *d[i + 1 :])])
            for d in self.data
            for i in range(n)
            for v in range(len(law))
            if v != d[i]
        ]

    def pure_epsilon(self):
        return max(np.log(self.outputs[a] / self.outputs[b]).max() for a, b in self.pairs)

    def delta(self, epsilon):
        return max(
            np.maximum(self.outputs[a] - math.exp(epsilon) * self.outputs[b], 0.0).sum()
            for a, b in self.pairs
        )

    def rho(self):
        a, b = (self.outputs[list(side)] for side in zip(*self.pairs, strict=True))
        ratio = np.log(a) - np.log(b)
        renyi = [logsumexp((o - 1.0) * ratio, b=a, axis=1).max() / (o - 1.0) / o for o in ORDERS]
        return max(renyi) * (1.0 + 1e-4)

    def overfitting(self):
        """For each output the mean of S[q] - D[q] given it, at the 0/1-valued question worst for it."""
        values = range(len(self.law))
        counts = np.array([[d.count(v) / self.n for v in values] for d in self.data])
        posterior = (self.joint.T @ counts) / self.marginal[:, None]
        return np.maximum(posterior - self.law, 0.0).sum(axis=1)

    def events(self):
        """Pairs (probability, worst mean overfitting) of all events."""
        gaps = self.overfitting()
        for size in range(1, len(gaps) + 1):
            for chosen in itertools.combinations(range(len(gaps)), size):
                p = self.marginal[list(chosen)]
                yield p.sum(), (p * gaps[list(chosen)]).sum() / p.sum()


def random_mechanisms(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n, n_values, n_outputs = rng.integers(1, 4), rng.integers(2, 4), rng.integers(2, 5)
        scores = rng.normal(size=(n_values, n_outputs)) * rng.choice([0.1, 0.5, 1.5])
        law = rng.dirichlet(np.full(n_values, rng.choice([0.5, 5.0])))
        yield Mechanism(n, law, lambda d, s=scores: np.exp(s[d].sum(axis=0)))


def test_gap_of_functions_of_low_sensitivity_is_scaled_by_the_sum_of_sensitivities():
    """Random functions of the whole data set instead of means; each output picks the worst of a few."""
    rng = np.random.default_rng(1)
    for mechanism in random_mechanisms(40, seed=2):
        functions = rng.uniform(size=(6, len(mechanism.data))) ** rng.choice([0.3, 3.0])
        changes = np.zeros((6, mechanism.n))  # the most that a change of a record does to a function
        for a, b in mechanism.pairs:
            i = next(i for i in range(mechanism.n) if mechanism.data[a][i] != mechanism.data[b][i])
            changes[:, i] = np.maximum(changes[:, i], abs(functions[:, a] - functions[:, b]))
        gaps = functions @ (mechanism.joint / mechanism.marginal)
        gaps = (gaps - (functions @ mechanism.joint.sum(axis=1))[:, None]).max(axis=0)
        total, rho = changes.sum(axis=1).max(), mechanism.rho()
        for p, gap in zip(mechanism.marginal, gaps, strict=True):
            assert gap <= total * guarantees.zcdp_gap(rho, math.log(min(p, 1.0))) + 1e-12


def gaussian_mechanism(mu, share, threshold):
    """One record, 1 with probability ``share``; the output is whether N(mu * record, 1) passes."""
    return Mechanism(1, [1.0 - share, share], lambda d: ndtr(np.array([1, -1]) * (mu * d[0] - threshold)))


def test_gaps_hold_for_all_events_of_random_mechanisms():
    for mechanism in random_mechanisms(60, seed=0):
        rho, pure = mechanism.rho(), mechanism.pure_epsilon()
        deltas = {e: min(mechanism.delta(e), 1.0) for e in (0.0, 0.1, 0.3, 1.0)}
        for p, gap in mechanism.events():
            p = min(p, 1.0 - 1e-12)
            assert gap <= guarantees.zcdp_gap(rho, math.log(p)) + 1e-12
            assert gap <= math.tanh(pure / 4.0) + 1e-12
            assert all(gap <= guarantees.approximate_dp_gap(e, d, p) + 1e-12 for e, d in deltas.items())


def tightness(gap_of):
    """Largest ratio of the true overfitting to its bound over mechanisms with one record."""
    shares, thresholds = (0.35, 0.45, 0.5, 0.55, 0.65), (0.5, 1.0, 2.0, 3.0)
    worst = 0.0
    for mu, share, threshold in itertools.product((0.05, 0.2, 0.7), shares, thresholds):
        mechanism = gaussian_mechanism(mu, share, threshold)
        gap = gap_of(mechanism, mu, mechanism.marginal[0])
        worst = max(worst, mechanism.overfitting()[0] / gap)
    return worst


@pytest.mark.parametrize(
    ("gap_of", "least"),
    [
        (lambda mechanism, mu, p: guarantees.gaussian_dp_gap(mu, math.log(p)), 0.85),
        (lambda mechanism, mu, p: guarantees.zcdp_gap(mu**2 / 2.0, math.log(p)), 0.6),
        (lambda mechanism, mu, p: guarantees.approximate_dp_gap(mu, mechanism.delta(mu), p), 0.75),
        (lambda mechanism, mu, p: math.tanh(mechanism.pure_epsilon() / 4.0), 0.95),
    ],
    ids=["gaussian", "zcdp", "approximate", "pure"],
)
def test_gaps_are_tight_so_that_a_smaller_one_would_fail(gap_of, least):
    assert least <= tightness(gap_of) <= 1.0


@pytest.mark.parametrize("failure", [0.2, 0.5])
def test_direct_transfer_holds_for_a_mechanism_that_overfits_and_misses(failure):
    """One record, uniform on {0, 1}; randomised response r; question 1(x = r), answered 1: wrong at a flip.

    Answers are right on S except with that chance, and 1/2 away from the population.
    """
    epsilon, delta = 0.4, 0.0
    flip = 1.0 / (1.0 + math.exp(epsilon))
    assert guarantees.direct_transfer(0.0, flip, epsilon, delta, failure).half_width >= 0.5
    # without the share of the missing answers it would claim too much
    assert guarantees.approximate_dp_gap(epsilon, delta, 0.5) < 0.5


@pytest.mark.parametrize("epsilon", [0.02, 0.3, 1.0])
@pytest.mark.parametrize("p", [0.02, 0.3, 0.5, 0.9])
def test_pure_dp_theorem_against_the_law_of_the_worst_output(epsilon, p):
    """An output of likelihood proportional to e^(epsilon * count): given it, the records are independent."""
    n = 60
    tilted = p * math.exp(epsilon) / (1.0 - p + p * math.exp(epsilon))
    for ln_eta in (math.log(0.3), math.log(1e-3), -12.0):
        low_ends = [guarantees.pure_dp_interval(c / n, c / n, epsilon, n, ln_eta)[0] for c in range(n + 1)]
        miss = sum(binom.pmf(c, n, tilted) for c in range(n + 1) if low_ends[c] > p)
        assert miss <= math.exp(ln_eta) * (1.0 + 1e-9)
        # mirrored: the interval of 1 - q
        low, high = guarantees.pure_dp_interval(0.3, 0.6, epsilon, n, ln_eta)
        mirrored = guarantees.pure_dp_interval(0.4, 0.7, epsilon, n, ln_eta)
        assert (1.0 - high, 1.0 - low) == pytest.approx(mirrored, abs=1e-9)


def test_pure_dp_theorem_needs_its_factor():
    """With half the epsilon the interval misses more often than eta allows."""
    n, p, epsilon, eta = 2000, 0.5, 0.3, 0.01
    tilted = p * math.exp(epsilon) / (1.0 - p + p * math.exp(epsilon))

    def miss(claimed):  # low ends increase with the count, so the first that misses is found by bisection
        first = bisect.bisect(
            range(n + 1),
            p,
            key=lambda c: guarantees.pure_dp_interval(c / n, c / n, claimed, n, math.log(eta))[0],
        )
        return binom.sf(first - 1, n, tilted)

    assert miss(epsilon) <= eta
    assert miss(epsilon / 2.0) > 0.5


def test_the_value_on_the_holdout_itself_is_no_end_of_the_pure_dp_interval():
    """It is no part of the conversation, and one eta does not pay for both of its sides: three fair coins."""
    eta, law = 0.1251, {count / 3: math.comb(3, count) / 8 for count in range(4)}

    def misses(low_value, high_value):
        return is_missed(guarantees.pure_dp_interval(low_value, high_value, 0.0, 3, math.log(eta)), 0.5)

    by_value = sum(chance * misses(value, value) for value, chance in law.items())
    assert by_value == 0.25 > 1.9 * eta
    # Whatever a conversation without any privacy loss can have said: it holds nothing of the data.
    for ends in itertools.combinations_with_replacement(law, 2):
        wrong = sum(chance for value, chance in law.items() if is_missed(ends, value))
        assert misses(*ends) <= wrong + eta


def test_pure_dp_half_width_contains_the_interval():
    for answer, epsilon, n in itertools.product((0.01, 0.5, 0.97), (0.001, 0.1, 1.0), (50, 10_000)):
        low, high = guarantees.pure_dp_interval(answer, answer, epsilon, n, math.log(0.05))
        half_width = guarantees.pure_dp_half_width(0.0, epsilon, n, math.log(0.05))
        assert answer - half_width <= low + 1e-12
        assert high <= answer + half_width + 1e-12


@pytest.mark.parametrize("epsilon", [0.01, 0.2, 1.0])
def test_max_information_against_the_law_of_the_worst_output(epsilon):
    """The log-ratio is linear in the count of ones among records of which half are ones in the population."""
    n, counts, tilted = 400, np.arange(401), 0.5 * math.exp(epsilon) / (0.5 + 0.5 * math.exp(epsilon))
    ratio = counts * math.log(tilted / 0.5) + (n - counts) * math.log((1.0 - tilted) / 0.5)

    def exceeds(ln_b, factor=1.0):
        """Return whether the log-ratio exceeds the bound, times a factor, more often than it may."""
        bound = factor * guarantees.max_information(epsilon, n, ln_b)
        return binom.pmf(counts, n, tilted)[ratio > bound].sum() > math.exp(ln_b)

    for ln_b in (-1.0, -5.0, -14.0, -20.0):
        assert not exceeds(ln_b)
        assert guarantees.max_information(epsilon, n, ln_b) <= guarantees.dwork_2015_max_information(
            epsilon, n, ln_b
        )
    assert exceeds(-14.0, 0.8)
    if epsilon == 1.0:  # where the mean is most of it
        assert exceeds(-1.0, 0.65)


def test_joined_nats_is_the_corrected_sum():
    """The private part pays for the coded nats too; the published constants give an upper bound."""
    nats, epsilon, n, slack, weight = 40.0, 0.01, 10_000, 0.01, 0.2
    joined = guarantees.joined_nats(nats, epsilon, n, math.log(slack), weight)
    each_node = math.log(slack * weight) - nats  # what one node of the tree may fail with
    assert nats + guarantees.max_information(epsilon, n, each_node) <= joined * (1.0 + 1e-12)
    root = math.sqrt(n * (nats + math.log(2.0 / (slack * weight))) / 2.0)
    assert joined <= nats + epsilon**2 * n / 2.0 + epsilon * root
    assert guarantees.joined_nats(nats, 0.0, n, math.log(slack), weight) == nats


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.1), (0.3, 0.0), (0.3, 0.02), (1.5, 0.0)])
def test_lemma_a_1_for_the_worst_pair_and_random_ones(epsilon, delta):
    """|E[X] - E[Y]| <= (e^epsilon - 1) E|X - mu| + 2 delta Delta, of laws that epsilon and delta liken."""

    def alike(p, q):
        excess = [(a - math.exp(epsilon) * b).clip(min=0.0).sum() for a, b in ((p, q), (q, p))]
        return max(excess) <= delta + 1e-12

    def both(p, q, values):
        return abs(p @ values - q @ values), math.expm1(epsilon) * (p @ abs(values)) + 2.0 * delta

    rng, met = np.random.default_rng(0), 0
    for _ in range(2000):
        p = rng.dirichlet(np.ones(4))
        q = p * np.exp(rng.uniform(-1.0, 1.0, 4) * (epsilon + delta))
        q /= q.sum()
        if alike(p, q):
            met += 1
            distance, bound = both(p, q, rng.uniform(-1.0, 1.0, 4))
            assert distance <= bound + 1e-12
    assert met > 100
    # Most of the mass never differs; a little of it is e^epsilon times as likely, a delta is elsewhere.
    small, more = 1e-3, 1e-3 * math.exp(epsilon)
    p, q = np.array([[1.0 - small - delta, small, delta, 0.0], [1.0 - more - delta, more, 0.0, delta]])
    assert alike(p, q)
    distance, bound = both(p, q, np.array([0.0, -1.0, 1.0, -1.0]))
    assert 0.75 * bound < distance <= bound + 1e-12


def test_lemma_a_2_for_mechanisms_that_choose_one_of_two_samples():
    """The mean overfitting of the chosen sample is at most (e^epsilon - 1) E|phi|, without delta."""

    def overfitting(mechanism, functions, sample_of):
        data = np.array(mechanism.data)
        half = mechanism.n // 2
        own = [data[:, :half] if sample == 0 else data[:, half:] for sample in sample_of]
        centred = functions - (functions @ mechanism.law)[:, None]
        gaps = np.array([phi[part].mean(axis=1) for phi, part in zip(centred, own, strict=True)])
        return (mechanism.joint * gaps.T).sum(), mechanism.marginal @ (abs(centred) @ mechanism.law)

    rng = np.random.default_rng(4)
    for mechanism in random_mechanisms(80, seed=3):
        if mechanism.n == 2:
            functions = rng.uniform(size=(mechanism.outputs.shape[1], len(mechanism.law)))
            gap, spread = overfitting(mechanism, functions, rng.integers(0, 2, len(functions)))
            assert gap <= math.expm1(mechanism.pure_epsilon()) * spread + 1e-12
    # The second sample's one record is named by randomised response: a third of its epsilon is too little.
    for epsilon in (0.02, 0.2):
        named = Mechanism(2, [0.5, 0.5], lambda d, e=epsilon: np.exp(e * (np.arange(2) == d[1])))
        gap, spread = overfitting(named, np.eye(2), [1, 1])
        assert math.expm1(epsilon / 3.0) * spread < gap <= math.expm1(epsilon) * spread


def test_theorem_4_6_for_a_record_that_is_named():
    """One subsample, uniform on ten values; randomised response names two of them, the record more likely.

    phi is 1 on one of the two and -1 on the other, so that both are outside of the interval of any level
    above 1/10: both sides of the theorem are used.
    """
    level = 0.1 + 1e-9
    for epsilon in (0.0, 0.1, 0.5, 2.0):
        named = 2.0 * math.exp(epsilon) / (2.0 * math.exp(epsilon) + 8.0)
        assert named <= guarantees.feldman_steinke_2017_theorem_4_6(level, epsilon, 0.0)
        if epsilon > 0.0:  # with half of its epsilon it would be false
            assert named > guarantees.feldman_steinke_2017_theorem_4_6(level, epsilon / 2.0, 0.0)
    assert guarantees.feldman_steinke_2017_theorem_4_6(level, 0.0, 0.01) == pytest.approx(0.21)


def test_theorem_4_7_is_a_union_of_theorem_4_6():
    m, k, epsilon, delta, beta = 100, 10, 0.7, 1e-6, 0.05
    level = guarantees.feldman_steinke_2017_theorem_4_7(m, k, epsilon, delta, beta)
    failure = guarantees.feldman_steinke_2017_theorem_4_6(level, epsilon, delta)
    assert k * m * failure + beta / 2.0 == pytest.approx(beta)


def ranks(data, size):
    """Return how many of the records of each data set are below and above each point of a grid."""
    data, grid = np.array(data), np.arange(size)
    return (data[..., None] < grid).sum(axis=-2), (data[..., None] > grid).sum(axis=-2)


def median_mechanism(m, law, epsilon):
    """The exponential mechanism for the median of m values on the grid of all values."""
    return Mechanism(m, law, lambda d: np.exp(-epsilon * np.maximum(*ranks(d, len(law))) / 2.0))


def level_misses(mechanism, level):
    """Probability that an output is outside of the (level, 1 - level) quantile interval of the law."""
    at_most = np.cumsum(mechanism.law)
    at_least = 1.0 - at_most + mechanism.law
    return mechanism.marginal[(at_most < level) | (at_least < level)].sum()


def rank_errors(mechanism):
    farther = np.maximum(*ranks(mechanism.data, len(mechanism.law)))
    return np.maximum(farther / mechanism.n - 0.5, 0.0)


def worst_tail_mean(mechanism, p):
    """Exact mean of the rank error over its worst tail of probability p."""
    errors, weights = rank_errors(mechanism).ravel(), mechanism.joint.ravel()
    order = np.argsort(-errors)
    taken = np.diff(np.minimum(np.cumsum(weights[order]), p), prepend=0.0)
    return (taken * errors[order]).sum() / p


def test_median_level_holds_exactly_and_needs_the_privacy():
    caught = certified = 0
    laws = [0.5, 0.5], [0.3, 0.4, 0.3], [0.2, 0.7, 0.1], [0.05, 0.45, 0.45, 0.05]
    for law, epsilon, m in itertools.product(laws, (0.3, 1.0, 3.0), (3, 5)):
        mechanism = median_mechanism(m, law, epsilon)
        rho = mechanism.rho()
        for beta in (0.01, 0.05, 0.3):
            error = worst_tail_mean(mechanism, beta)
            level = guarantees.median_level_direct(error, rho, math.log(beta))
            certified += level > 0.0
            assert level_misses(mechanism, level * (1.0 - 1e-9)) <= beta
            caught += level_misses(mechanism, max(0.5 - error - 1e-9, 0.0)) > beta
    assert certified > 30
    assert caught > 0


def test_median_rank_error_holds_exactly():
    for law, epsilon, m in itertools.product(([0.5, 0.5], [0.2, 0.7, 0.1]), (0.3, 1.0, 3.0), (3, 6)):
        mechanism = median_mechanism(m, law, epsilon)
        errors = rank_errors(mechanism)
        for beta in (0.01, 0.05, 0.3):
            bound = guarantees.median_rank_error(m, 1, len(law), epsilon, math.log(beta))
            assert (mechanism.outputs * (errors >= bound)).sum(axis=1).max() <= beta
            mean = guarantees.median_rank_error(m, 1, len(law), epsilon, math.log(beta), mean=True)
            assert worst_tail_mean(mechanism, beta) <= mean


def test_bernoulli_divergence_is_what_the_interval_solves():
    for end in guarantees.pure_dp_interval(0.4, 0.4, 0.0, 500, math.log(0.01)):
        assert 500 * guarantees.bernoulli_kl(0.4, end) == pytest.approx(math.log(100.0), rel=1e-6)
