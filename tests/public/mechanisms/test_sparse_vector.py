import math
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import integrate

from sklearn_ada.accounting import AboveThresholdEvent, PureDPEvent
from sklearn_ada.mechanisms import SparseVector, above_threshold, sparse_vector_error
from tests.support.laws import chi_square, fits_only_as_it_is, is_too_often


def transcript_law(values, epsilon, max_hits, redraw):
    """P of every transcript, as a dict, by integrating over the threshold noise of each run."""
    scale, law = 4.0 * (1 if redraw else max_hits) / epsilon, {}
    for answers in product((False, True), repeat=len(values)):
        if sum(answers) >= max_hits:  # the mechanism stops at its last hit
            answers = answers[: np.flatnonzero(answers)[max_hits - 1] + 1]
        asked = list(zip(values, answers, strict=False))
        runs = _runs(asked) if redraw else [asked]
        law[answers] = math.prod(_run_probability(run, epsilon, scale) for run in runs)
    return law


def _runs(asked):
    """Cut a conversation after each hit."""
    cuts = [0, *(i + 1 for i, (_, above) in enumerate(asked) if above), len(asked)]
    return [asked[a:b] for a, b in pairwise(cuts) if a < b]


def _run_probability(run, epsilon, scale):
    def density(z):
        factors = [_laplace_tail((z - v) if above else (v - z), scale) for v, above in run]
        return epsilon / 4 * math.exp(-abs(z) * epsilon / 2) * math.prod(factors)

    edges = [-80.0 / epsilon, *sorted({0.0, *(v for v, _ in run)}), 80.0 / epsilon]
    return sum(integrate.quad(density, a, b, epsabs=0.0, epsrel=1e-7)[0] for a, b in pairwise(edges))


def _laplace_tail(x, scale):
    tail = math.exp(-abs(x) / scale) / 2
    return tail if x > 0 else 1 - tail


def transcript(vector, values, rng):
    answers = []
    for value in values:
        answers.append(vector.ask(value, 0.0, rng).answer == "above")
        if vector.exhausted:
            break
    return tuple(answers)


CASES = [(1, False), (2, False), (2, True)]


@pytest.mark.parametrize(("max_hits", "redraw"), CASES)
def test_transcripts_agree_with_their_law(max_hits, redraw):
    values, epsilon, rng = (-6.0, 3.0, 8.0), 1.0, np.random.default_rng(0)
    seen = [transcript(SparseVector(epsilon, 1.0, max_hits, redraw), values, rng) for _ in range(40_000)]
    law = transcript_law(values, epsilon, max_hits, redraw)
    counts = [seen.count(t) for t in law]
    assert sum(counts) == len(seen)

    def p_value(factor):
        other = transcript_law(values, factor * epsilon, max_hits, redraw)
        return chi_square(counts, [other[t] for t in law])

    assert fits_only_as_it_is(p_value)


@pytest.mark.parametrize("max_hits", [1, 2])
def test_runs_of_the_sparse_vector_are_private(max_hits):
    # The hard pair: very many "below" close to the threshold push its noise up, then come the hits;
    # in the neighbour every number moves by the sensitivity, against its answer.
    def log_probability(epsilon, shift):
        asked = [(shift, False)] * 300 + [(-10 - shift, True)] * max_hits
        return math.log(_run_probability(asked, epsilon, 4 * max_hits / epsilon))

    def ratio(epsilon):
        return log_probability(epsilon, 1.0) - log_probability(epsilon, 0.0)

    assert -0.8 <= ratio(0.8) < -0.75
    assert ratio(1.1 * 0.8) < -0.8


def test_below_uses_no_hit_but_the_run_is_an_event():
    rng, vector = np.random.default_rng(0), SparseVector(1.0, 1e-3, max_hits=2)
    releases = [vector.ask(0.0, 1.0, rng) for _ in range(100_000)]
    assert {r.answer for r in releases} == {"below"}
    assert vector.hits == 0
    assert releases[0].event == PureDPEvent(1.0)
    assert {r.event for r in releases[1:]} == {None}


def test_each_run_is_an_event_of_its_own_when_redrawn():
    rng, vector = np.random.default_rng(0), SparseVector(1.0, 1e-3, max_hits=3, redraw=True)
    events = [vector.ask(value, 0.5, rng).event for value in (0, 1, 0, 0, 1, 0)]
    run = AboveThresholdEvent(1.0)
    assert events == [run, None, run, None, None, run]
    assert above_threshold(1.0, 1e-3).ask(0.0, 0.5, rng).event == run


@pytest.mark.parametrize(("max_hits", "redraw"), [(1, False), (3, False), (3, True)])
def test_error_bound_holds_with_its_probability(max_hits, redraw):
    k, beta, runs, rng = 20, 0.2, 2000, np.random.default_rng(0)
    bound = sparse_vector_error(1.0, n_questions=k, beta=beta, max_hits=max_hits, redraw=redraw)

    def is_wrong(distance):
        vector = SparseVector(1.0, max_hits=max_hits, redraw=redraw)
        values = rng.choice([-distance, distance], p=[0.9, 0.1], size=k)
        answers = transcript(vector, values, rng)
        return answers != tuple(values[: len(answers)] > 0)

    assert not is_too_often(sum(is_wrong(bound) for _ in range(runs)), runs, beta)
    assert is_too_often(sum(is_wrong(0.4 * bound) for _ in range(runs)), runs, beta)


@pytest.mark.parametrize(
    ("redraw", "by_hand"),
    [(True, 4 * math.log(60) + 8 * math.log(200)), (False, 4 * math.log(20) + 24 * math.log(200))],
)
def test_error_bound_by_hand(redraw, by_hand):
    """(1/0.5) (2 ln(2*3/0.1) + 4 ln(2*10/0.1)) and (1/0.5) (2 ln(2/0.1) + 12 ln(2*10/0.1))."""
    found = sparse_vector_error(0.5, n_questions=10, beta=0.1, max_hits=3, redraw=redraw)
    assert found == pytest.approx(by_hand)
