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

from sklearn_ada import ReusableHoldoutCV

X, y = make_classification(8_000, 8, weights=[0.95], random_state=0)
_, ax = plt.subplots(layout="constrained")
for place, scoring in enumerate(("roc_auc", "balanced_accuracy")):
    grid = GridSearchCV(LogisticRegression(class_weight="balanced"), {"C": [0.01, 1.0]}, scoring=scoring)
    search = ReusableHoldoutCV(grid, ledger=":memory:").fit(X, y)
    low, high = search.best_score_interval_
    print(f"{scoring}: between {low:.3f} and {high:.3f}, of the {search.best_score_target_}")
    ax.hlines(place, low, high, linewidth=6)
    ax.plot(search.search_.best_score_, place, "wo", markeredgecolor="black")
ax.set(yticks=[0, 1], yticklabels=["ROC AUC", "balanced\naccuracy"], ylim=(-0.7, 1.7))
_ = ax.set(xlabel="interval, and the score of cross-validation")
