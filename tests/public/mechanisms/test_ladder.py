import math
import statistics
from itertools import product

import numpy as np
import pytest

from sklearn_ada.accounting import CodedRelease, Symbol
from sklearn_ada.guarantees import ladder_transcripts
from sklearn_ada.mechanisms import Ladder, ParameterFreeLadder


def ladder_by_hand(losses, step):
    best, answers = math.inf, []
    for loss in losses:
        if loss < best - step - 1e-12:
            best = step * math.floor(loss / step + 0.5)
        answers.append(min(best, 1.0))
    return answers


@pytest.mark.parametrize("step", [0.1, 0.03, 0.5, 0.3, 0.037])
def test_ladder_agrees_with_the_paper_and_is_within_a_step_of_the_least_loss(step):
    losses = np.random.default_rng(0).uniform(size=500) * np.linspace(1, 0, 500)
    ladder = Ladder(step)
    answers = [ladder.ask(loss).answer for loss in losses]
    assert answers == pytest.approx(ladder_by_hand(losses, step))
    assert np.abs(answers - np.minimum.accumulate(losses)).max() <= step * (1 + 1e-9)


@pytest.mark.parametrize("step", [1.0, 0.5, 0.4, 0.3, 0.15])
def test_no_more_transcripts_are_possible_than_are_counted(step):
    k, m = 3, math.floor(1 / step) + 1
    transcripts, begun = set(), {()}
    for losses in product(np.linspace(0, 1, 21), repeat=k):
        ladder = Ladder(step)
        answers = tuple(ladder.ask(float(loss)).answer for loss in losses)
        transcripts.add(answers)
        begun |= {answers[:1], answers[:2]}
    assert len(transcripts) <= math.comb(k + m, m)
    assert len(begun) <= math.exp(ladder_transcripts(k, step)) * (1 + 1e-9)
    assert len(transcripts) > 1 or step == 1.0


def test_symbols_count_steps_and_those_of_the_parameter_free_ladder_count_records():
    step = Ladder(0.25)
    events = [step.ask(loss).event for loss in (0.8, 0.7, 0.1, 0.5)]
    assert events == [CodedRelease((Symbol("lattice", z),)) for z in (1, 0, 3, 0)]
    ladder, questions = ParameterFreeLadder(), [[1.0] * 5 + [0.0] * 5, [1.0] + [0.0] * 9]
    events = [ladder.ask(losses).event for losses in questions]
    assert events == [CodedRelease((Symbol("lattice", z),)) for z in (5, 4)]
    assert [each.exhausted for each in (step, ladder)] == [False, False]
    with pytest.raises(ValueError, match="'losses'"):  # records may not become more
        ladder.ask([0.0] * 11)


def parameter_free_by_hand(questions):
    best, best_losses, answers = math.inf, None, []
    for losses in questions:
        n, mean, error = len(losses), sum(losses) / len(losses), 0.0
        if best_losses is not None:
            difference = [a - b for a, b in zip(losses, best_losses, strict=True)]
            error = statistics.stdev(difference) / math.sqrt(n)
        if mean < best - error:
            best, best_losses = math.floor(mean * n + 0.5) / n, losses
        answers.append(best)
    return answers


def test_parameter_free_ladder_agrees_with_the_paper():
    rng = np.random.default_rng(0)
    questions = [(rng.random(200) < p).astype(float) for p in rng.uniform(0.1, 0.6, size=60)]
    ladder = ParameterFreeLadder()
    answers = [ladder.ask(losses).answer for losses in questions]
    assert answers == pytest.approx(parameter_free_by_hand([list(q) for q in questions]))
    assert len(set(answers)) > 2


@pytest.mark.parametrize(("losses", "answer"), [([0.0, 1.0], 1.0), ([0.0, 0.0, 0.0, 1.0], 0.25)])
def test_the_standard_error_divides_by_n_minus_1(losses, answer):
    """The difference to the best is -1 on one record of two, error 1/2, or on three of four, error 1/4."""
    ladder = ParameterFreeLadder()
    assert [ladder.ask(each).answer for each in ([1.0] * len(losses), losses)] == [1.0, answer]
