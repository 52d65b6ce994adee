"""
One search
==========

A search of scikit-learn is wrapped and gets all rows. A quarter of them is taken out before it sees them, and
answers with an interval for the model that the search chose.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV

from sklearn_ada import CertifiedSearchDisplay, ReusableHoldoutCV

X, y = load_breast_cancer(return_X_y=True)
model = RandomForestClassifier(random_state=0)
grid = {"max_depth": [1, 2, 4]}
search = GridSearchCV(model, grid, cv=3)
search = ReusableHoldoutCV(search, ledger="cancer.db").fit(X, y)
print(search)

# %%
# What the interval is an interval for:
print(search.best_score_target_)

# %%
# How wide later intervals would be:
print(search.holdout_.report().headline)

# %%
# Points: the three candidates, as cross-validation scored them. The star was chosen. Band: the accuracy on
# new data lies in it, with a probability of 95 %.
_, ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
CertifiedSearchDisplay.from_estimator(search, ax=ax)
plt.show()
