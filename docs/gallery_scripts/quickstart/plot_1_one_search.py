"""
One search
==========

The holdout is taken out before the search sees it, and its winner is certified.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ada import CertifiedSearchDisplay, ReusableHoldoutCV

X, y = load_breast_cancer(return_X_y=True)
model = make_pipeline(StandardScaler(), LogisticRegression())
grid = GridSearchCV(model, {"logisticregression__C": [0.0001, 0.001, 0.01]}, cv=3)
search = ReusableHoldoutCV(grid, ask="winner", ledger=":memory:").fit(X, y)
low, high = search.best_score_interval_
print(f"{search.best_params_}: between {low:.3f} and {high:.3f}")
print(search.best_score_target_)

# %%
# What was asked, and what can still be asked:
print(search.holdout_.report())

# %%
# The candidates in order, the best of them by cross-validation, and the certified band:
_, ax = plt.subplots(layout="constrained")
_ = CertifiedSearchDisplay.from_estimator(search, ax=ax)
