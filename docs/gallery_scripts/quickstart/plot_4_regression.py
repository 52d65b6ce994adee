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

from sklearn_ada import AnswersDisplay, ReusableHoldoutCV

X, y = load_diabetes(return_X_y=True)
file = Path(tempfile.mkdtemp()) / "diabetes.db"  # take a folder that stays
ideas = {
    "forest": (RandomForestRegressor(random_state=0), {"min_samples_leaf": [5, 20]}),
    "ridge": (Ridge(), {"alpha": [0.01, 0.1]}),
}
for name, (model, grid) in ideas.items():
    inner = GridSearchCV(model, grid, scoring="neg_mean_absolute_error")
    search = ReusableHoldoutCV(inner, ledger=file).fit(X, y)
    low, high = search.best_score_interval_
    print(f"{name}: cross-validation {-search.best_score_:.1f}; the holdout says {-high:.0f} to {-low:.0f}")

# %%
# The mean absolute error of the ridge regression, to report:
final = search.publish()
print(f"published: {-final.value:.1f}, between {-final.interval[1]:.0f} and {-final.interval[0]:.0f}")
print(final.target)

# %%
# scikit-learn's score is negative, so that more is better. Intervals are wide, as the holdout has 111 rows:
# ``plan_holdout(n=111, searches=2, scoring="neg_mean_absolute_error", expected_value=-45)`` says it
# beforehand.
_, ax = plt.subplots(layout="constrained")
_ = AnswersDisplay.from_holdout(search.holdout_, ax=ax)
