"""
The Ladder
==========

Blum and Hardt (ICML 2015): somebody submits random labels to a leaderboard, and lets those vote that scored
above one half. A leaderboard of exact scores then reports a vote that is much better than a coin; the Ladder,
which speaks of improvements only, gives less away; and certified answers have an interval that contains the
truth.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_ada import Holdout
from sklearn_ada.mechanisms import Ladder

n = 2_000
rng = np.random.default_rng(2015)


class Vote:
    """The vote of some submissions."""

    def __init__(self, kept):
        self.kept = kept

    def predict(self, X):
        return np.where(X[:, self.kept].sum(axis=1) > 0.0, 1.0, -1.0)


def accuracy(model, X, y):
    return np.mean(model.predict(X) == y)


# %%
# Every submission's score, and what three boards say of the vote of those that looked better than one half.
# :term:`Guesses <guess>` come from as many validation rows, on which labels are coins as well.
scores = {"exact scores": [], "Ladder": [], "certified": []}
counts = (25, 50, 100, 200, 400)
for k in counts:  # each time with rows of its own
    submitted, validation = rng.choice(
        [-1.0, 1.0], (2, n, k)
    )  # a column is a submission
    labels, other_labels = rng.choice([-1.0, 1.0], (2, n))
    singles = [Vote([j]) for j in range(k)]
    exact = np.array([accuracy(model, submitted, labels) for model in singles])
    scores["exact scores"].append(
        accuracy(Vote(np.flatnonzero(exact > 0.5)), submitted, labels)
    )

    board = Ladder(step=1 / np.sqrt(n))
    told = np.array([1.0 - board.ask(1.0 - score).answer for score in exact])
    vote = Vote(np.flatnonzero(told > 0.5))
    scores["Ladder"].append(
        1.0 - board.ask(1.0 - accuracy(vote, submitted, labels)).answer
    )

    holdout = Holdout(
        submitted, labels, ledger=f"ladder{k}.db", expected_questions=k + 1
    )
    guesses = [accuracy(model, validation, other_labels) for model in singles]
    told = np.array(
        [
            a.value
            for a in holdout.check_many(
                singles, scoring="accuracy", guesses=guesses
            )
        ]
    )
    vote = Vote(np.flatnonzero(told > 0.5))
    guess = accuracy(vote, validation, other_labels)
    scores["certified"].append(
        holdout.certify(vote, scoring="accuracy", guess=guess)
    )

# %%
# The truth is one half. Red is misled; blue has an interval that holds it.
figure, ax = plt.subplots(layout="constrained")
ax.plot(
    counts,
    scores["exact scores"],
    "s-",
    color="C3",
    label="board of exact scores",
)
ax.plot(counts, scores["Ladder"], "^-", color="C2", label="Ladder")
answers = scores["certified"]
ax.errorbar(
    counts,
    [a.value for a in answers],
    [a.half_width for a in answers],
    fmt="o",
    capsize=4,
    label="certified",
)
ax.axhline(0.5, color="black", linestyle="--", label="truth")
ax.set(xlabel="submissions", ylabel="reported accuracy of the vote")
_ = figure.legend(loc="outside upper center", ncols=4)
