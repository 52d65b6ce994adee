"""
Regression
==========

The mean of an unbounded error has no interval without assumptions. Say in which range errors count; those
outside of it are clipped, and the :term:`certificate` speaks of the clipped error.
"""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from sklearn_ada import CertifiedSearchDisplay, Metric, ReusableHoldoutCV

X, y = load_diabetes(return_X_y=True)
metric = Metric("neg_mean_absolute_error", range=(-200, 0))
grid = GridSearchCV(Ridge(), {"alpha": [0.01, 0.1, 1.0]}, scoring="neg_mean_absolute_error")
search = ReusableHoldoutCV(grid, ask="winner", scoring=metric, ledger=":memory:").fit(X, y)
low, high = search.best_score_interval_
print(f"mean absolute error between {-high:.0f} and {-low:.0f}")
print(search.best_score_target_)

# %%
# The interval is wide: 111 rows, and errors of up to 200. A plan says it beforehand.
print(f"{search.holdout_.n_rows} rows")

# %%
_ = CertifiedSearchDisplay.from_estimator(search)
