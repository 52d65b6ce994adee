"""
What an attack does
===================

Labels are coins, so no model is better than one half. Somebody asks about 400 models of a single random
feature each, lets those that look better than one half vote, and reports the vote. On a plain holdout that
works: the vote has learned the holdout's labels from its scores.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import binomtest

from sklearn_ada import Holdout

n, counts = 1_000, (10, 40, 100, 200, 400)


class Vote:
    """The sign of a sum of features."""

    def __init__(self, features):
        self.features = features

    def predict(self, X):
        return np.where(X[:, self.features].sum(axis=1) > 0.0, 1.0, -1.0)


def coins(seed):
    """Return features and labels that know nothing of each other."""
    rng = np.random.default_rng(seed)
    return rng.choice([-1.0, 1.0], (n, max(counts))), rng.choice(
        [-1.0, 1.0], n
    )


def attack(ask, report):
    """Ask about each feature; report the vote of the good ones at times."""
    good, reported = [], []
    for feature in range(max(counts)):
        if ask(Vote([feature])) > 0.5:
            good.append(feature)
        if feature + 1 in counts:
            reported.append(report(Vote(good)))
    return reported


X, y = coins(0)


def accuracy(model):
    return float(np.mean(model.predict(X) == y))


def plain_interval(model):
    return binomtest(round(n * accuracy(model)), n).proportion_ci(
        method="exact"
    )


intervals = {"plain holdout": attack(accuracy, plain_interval)}
print(
    "plain holdout: {:.3f} to {:.3f}, truth .500".format(
        *intervals["plain holdout"][-1]
    )
)

# %%
# The same attack through a :term:`ledger`. If it releases every value, the vote learns as much, but what
# was learned is charged: its interval is as wide as that allows. Coarse answers leave hardly anything to
# learn. They are the default of ``ReusableHoldoutCV`` with a file; for ``Holdout`` write
# ``answers="coarse"``.
for seed, answers in enumerate(("exact", "coarse"), start=1):
    holdout = Holdout(*coins(seed), ledger=":memory:", answers=answers)

    def certified(model, holdout=holdout):
        """Return the answer about a model of coins."""
        return holdout.certify(model, scoring="accuracy", guess=0.5)

    found = attack(lambda model: certified(model).value, certified)
    intervals[f"ledger, {answers}"] = [answer.interval for answer in found]
    print(
        "{}: {:.3f} to {:.3f}; revealed".format(answers, *found[-1].interval),
        end=" ",
    )
    print(f"{holdout.report().nats:,.1f} nats")

# %%
# The intervals of the vote, after more and more models. The plain one (red) leaves the truth, one half; the
# two with a ledger (blue) hold it: one is wide, one has little to allow for.
figure, axes = plt.subplots(
    1, 3, sharey=True, figsize=(8, 4.6), layout="constrained"
)
places = np.arange(len(counts))
for ax, (name, ends), colour in zip(
    axes, intervals.items(), ("C3", "C0", "C0"), strict=True
):
    ax.vlines(
        places, *np.transpose(ends), color=colour, linewidth=8, alpha=0.7
    )
    ax.axhline(0.5, color="black", linestyle="--")
    ax.set(title=name, xticks=places, xticklabels=counts, ylim=(0, 1))
axes[1].set_xlabel("models asked about before the vote")
_ = axes[0].set_ylabel("accuracy of the vote")
