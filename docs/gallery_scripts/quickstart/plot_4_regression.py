"""
Regression
==========

The mean of an unbounded error has no interval without assumptions. By default errors count up to a range
that is taken from the training rows' y, and larger ones are clipped; the :term:`target` names the range.
Two searches on one file, then the model that is kept is published.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from sklearn_ada import ReusableHoldoutCV

X, y = load_diabetes(return_X_y=True)
forest = RandomForestRegressor(random_state=0)
ideas = {
    "forest": (forest, {"min_samples_leaf": [5, 20]}),
    "ridge": (Ridge(), {"alpha": [0.01, 0.1]}),
}
shown = {}
for name, (model, grid) in ideas.items():
    search = GridSearchCV(model, grid, scoring="neg_mean_absolute_error")
    search = ReusableHoldoutCV(search, ledger="diabetes.db").fit(X, y)
    shown[name] = search.best_score_, search.best_score_interval_
    print(search)

# %%
# Scores are negative, as scikit-learn's are: minus the mean absolute error. That of the ridge regression,
# to report:
final = search.publish()
shown["published"] = final.value, final.interval
print(final)

# %%
# Errors, without the sign. Blue: the intervals while searching. Orange: the published one. Hollow: the error
# in cross-validation, and at last on the held-out rows. Intervals are wide, as these are 111 rows.
figure, ax = plt.subplots(figsize=(6.4, 3), layout="constrained")
for place, (score, (low, high)) in enumerate(shown.values()):
    ax.hlines(place, -high, -low, color="C1" if place == 2 else "C0", lw=6)
    ax.plot(-score, place, "wo", markeredgecolor="black")
ax.set(yticks=range(3), yticklabels=shown, ylim=(-0.7, 2.7), xlim=(0, None))
ax.set(xlabel="mean absolute error")
plt.show()
