"""
Guess-and-Check
===============

Rogers, Roth, Smith, Srebro, Thakkar and Woodworth (AISTATS 2020): a :term:`guess` that passes reveals nothing
but that it passed. Their width is one, fixed in advance; each failed guess costs. Here both mechanisms get
the same conversation: how many questions do they answer to within .1?
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from sklearn_ada import Holdout
from sklearn_ada.guarantees import chernoff_kl

n, most, tau = 4_000, 300, 0.1
rng = np.random.default_rng(2020)
(X, y), (X_hold, y_hold) = (
    (rng.choice([-1.0, 1.0], (n, most)), rng.choice([-1.0, 1.0], n))
    for _ in range(2)
)


class GuessAndCheck:
    """Answers a guess that surely holds, else the value, rounded."""

    def __init__(self):
        self.asked = self.failures = 0
        self.ln_rounding = 0.0

    def ask(self, guess, value):
        i, f, ln_c = self.asked, self.failures, math.log(6 / math.pi**2)
        ln_beta = (
            math.log(0.05)
            + 2 * ln_c
            - 2 * math.log(i + 1)
            - 2 * math.log(f + 1)
            - self.ln_rounding
        )
        low, high = chernoff_kl(
            value, value, n, ln_beta - math.log(math.comb(i, f))
        )
        self.asked += 1
        if guess - tau <= low and high <= guess + tau:
            return guess
        gamma = tau - max(value - low, high - value)
        if gamma <= 0:
            return None  # tau can be held no longer
        self.failures += 1
        cells = math.ceil(1 / gamma)
        self.ln_rounding += math.log(cells)
        return (min(math.floor(value * cells), cells - 1) + 0.5) / cells


class Vote:
    """The sign of a weighted sum of features."""

    def __init__(self, weights):
        self.weights = np.asarray(weights)

    def predict(self, X):
        return np.where(
            X[:, : len(self.weights)] @ self.weights > 0.0, 1.0, -1.0
        )


def accuracy(model, X, y):
    return float(np.mean(model.predict(X) == y))


# %%
# The analyst asks how often each feature has the label's sign. Whenever the number of the question is a
# square, it asks about the vote of all features weighted by the answers so far, which is overfitted in
# training: a bad guess.
def converse(ask):
    """Return the half-widths of the answers, until one is refused."""
    told, widths = [], []
    for number in range(1, most):
        square = number > 1 and math.isqrt(number) ** 2 == number
        edges = np.clip(2 * np.array(told) - 1, -0.99, 0.99)
        model = (
            Vote(np.arctanh(edges))
            if square
            else Vote(np.eye(len(told) + 1)[-1])
        )
        value, width = ask(model, accuracy(model, X, y))
        if value is None:
            break
        widths.append(width)
        if not square:
            told.append(min(max(value, 0.0), 1.0))
    return widths


mechanism = GuessAndCheck()
holdout = Holdout(
    X_hold, y_hold, ledger=":memory:", tolerance=tau, expected_questions=most
)


def certified(model, guess):
    answer = holdout.check(
        model, scoring="accuracy", guess=guess, settings="fill"
    )  # cells as wide as tau admits
    return (
        (None, None)
        if answer.verdict == "refused"
        else (answer.value, answer.half_width)
    )


theirs = converse(
    lambda model, guess: (
        mechanism.ask(guess, accuracy(model, X_hold, y_hold)),
        tau,
    )
)
ours = converse(certified)
print(
    f"Guess-and-Check answers {len(theirs)} questions, the holdout {len(ours)}"
)

# %%
# Each point is an answer. The mechanism of the paper (grey) ends when its width can be held no longer.
figure, ax = plt.subplots(layout="constrained")
ax.plot(theirs, "s", color="C7", markersize=3, label="Guess-and-Check")
ax.plot(ours, "o", color="C0", markersize=3, label="Holdout.check")
ax.set(xlabel="question", ylabel="half-width", ylim=(0.08, 0.11))
_ = ax.legend(loc="lower right")
