"""
What an attack does
===================

Labels are coins. The best of so many candidates is chosen on the holdout, and two intervals are computed
for the same score: a plain one, and the certified one, which is told of the choice.
"""

import matplotlib.pyplot as plt

from sklearn_ada.cli.commands import TRUTH, contrasts

counts = (1, 10, 60)
figure, axes = plt.subplots(1, 2, sharey=True, layout="constrained")
for ax, kind in zip(axes, ("naive", "certified"), strict=True):
    for place, count in enumerate(counts):
        for run in list(contrasts(count, 10)):
            low, high = getattr(run, f"{kind}_interval")
            ax.plot([place, place], [low, high], color="C0", alpha=0.3)
    ax.axhline(TRUTH, color="black", linestyle="--")
    ax.set(title=f"{kind} interval", xticks=range(3), xticklabels=counts, xlabel="candidates")
_ = axes[0].set_ylabel("accuracy")
