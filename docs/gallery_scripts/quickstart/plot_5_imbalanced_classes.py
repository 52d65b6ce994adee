"""
Imbalanced classes
==================

With one positive in twenty, accuracy says little. The AUC has an interval of its own, and its width goes by
the number of rows of the smaller class.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from sklearn_ada import CertifiedSearchDisplay, ReusableHoldoutCV

X, y = make_classification(8_000, 8, weights=[0.95], random_state=0)
figure, axes = plt.subplots(2, 1, figsize=(8, 9), layout="constrained")
for ax, scoring in zip(axes, ("roc_auc", "balanced_accuracy"), strict=True):
    grid = GridSearchCV(LogisticRegression(class_weight="balanced"), {"C": [0.01, 1.0]}, scoring=scoring)
    search = ReusableHoldoutCV(grid, ask="winner", ledger=":memory:").fit(X, y)
    low, high = search.best_score_interval_
    print(f"{scoring}: between {low:.3f} and {high:.3f}, certified: {search.best_score_target_}")
    CertifiedSearchDisplay.from_estimator(search, ax=ax)
