"""
Regression
==========

The mean of an unbounded error has no interval without assumptions. By default errors count up to a range
that is taken from the training rows' y, and larger ones are clipped; the :term:`target` names the range.
Two searches on one file, then the model that is kept is published.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from sklearn_ada import ReusableHoldoutCV

X, y = load_diabetes(return_X_y=True)
file = Path(tempfile.mkdtemp()) / "diabetes.db"  # take a folder that stays
ideas = {
    "forest": (RandomForestRegressor(random_state=0), {"min_samples_leaf": [5, 20]}),
    "ridge": (Ridge(), {"alpha": [0.01, 0.1]}),
}
shown = {}
for name, (model, grid) in ideas.items():
    inner = GridSearchCV(model, grid, scoring="neg_mean_absolute_error")
    search = ReusableHoldoutCV(inner, ledger=file).fit(X, y)
    high, low = (-end for end in search.best_score_interval_)  # scikit-learn's score is minus the error
    shown[name] = -search.best_score_, low, high
    print("{}: cross-validation {:.1f}; the holdout says {:.0f} to {:.0f}".format(name, *shown[name]))

# %%
# The mean absolute error of the ridge regression, to report:
final = search.publish()
shown["published"] = -final.value, -final.interval[1], -final.interval[0]
print("published: {:.1f}, between {:.0f} and {:.0f}".format(*shown["published"]))
print(final.target)

# %%
# Intervals are wide, as the holdout has 111 rows. ``plan_holdout(n=111, searches=2,
# scoring="neg_mean_absolute_error", expected_value=-45)`` says it beforehand.
_, ax = plt.subplots(layout="constrained")
for place, (score, low, high) in enumerate(shown.values()):
    ax.hlines(place, low, high, color="C1" if place == 2 else "C0", linewidth=6)
    ax.plot(score, place, "wo", markeredgecolor="black")
ax.set(yticks=range(3), yticklabels=shown, ylim=(-0.7, 2.7), xlim=(0, None))
_ = ax.set(xlabel="mean absolute error")
