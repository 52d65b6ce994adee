"""
The reusable holdout
====================

Dwork, Feldman, Hardt, Pitassi, Reingold and Roth (Science 2015): an analyst keeps the features that agree
with the label on training rows *and* on the holdout, and lets the first k of them vote. Labels are coins
here. The plain holdout reports what its own choice made of it. The certified one answers about every feature,
and then about every vote.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_ada import Holdout

n, counts = 2_000, (5, 10, 20, 40, 80)
rng = np.random.default_rng(2015)
(X, y), (X_hold, y_hold) = (
    (rng.standard_normal((n, n)), rng.choice([-1.0, 1.0], n)) for _ in range(2)
)


class Vote:
    """A classifier: the sign of a sum of signed features."""

    def __init__(self, features, signs):
        self.features, self.signs = features, signs

    def predict(self, X):
        return np.where(X[:, self.features] @ self.signs > 0.0, 1.0, -1.0)


def accuracy(model, X, y):
    return np.mean(model.predict(X) == y)


def votes(c_train, c_hold):
    """Return the votes of the k strongest features that agree."""
    agree = np.flatnonzero(
        (np.minimum(np.abs(c_train), np.abs(c_hold)) > 0.5 / np.sqrt(n))
        & (c_train * c_hold > 0)
    )
    ranked = agree[np.argsort(-np.abs(c_train[agree]))]
    return [Vote(ranked[:k], np.sign(c_train[ranked[:k]])) for k in counts]


# %%
# How often a feature has the label's sign, on the training rows and on the holdout. The plain analyst looks:
single = [Vote([j], np.ones(1)) for j in range(n)]
c_train, c_hold = (
    np.array([accuracy(m, *rows) for m in single]) - 0.5
    for rows in ((X, y), (X_hold, y_hold))
)
plain = [accuracy(model, X_hold, y_hold) for model in votes(c_train, c_hold)]

# %%
# The certified one asks, with the accuracy in training as the :term:`guess`. All features are one
# :term:`round`, and all votes another:
holdout = Holdout(
    X_hold, y_hold, ledger=":memory:", expected_questions=n + len(counts)
)
told = holdout.check_many(
    single, scoring="accuracy", guesses=list(c_train + 0.5)
)
models = votes(c_train, np.array([answer.value for answer in told]) - 0.5)
answers = holdout.check_many(
    models, scoring="accuracy", guesses=[0.5] * len(models)
)
print(
    sum(answer.verdict == "differs" for answer in told),
    f"of {n:,} features differ from their guess",
)

# %%
# The truth is one half for every vote:
figure, ax = plt.subplots(layout="constrained")
ax.plot(counts, plain, "s-", color="C3", label="plain holdout, as reported")
ax.errorbar(
    counts,
    [a.value for a in answers],
    [a.half_width for a in answers],
    fmt="o",
    capsize=4,
    label="certified",
)
ax.axhline(0.5, color="black", linestyle="--", label="truth")
ax.set(xlabel="features that vote", ylabel="accuracy")
_ = figure.legend(loc="outside upper center", ncols=3)
