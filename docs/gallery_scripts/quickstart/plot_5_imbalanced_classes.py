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
model, grid = LogisticRegression(class_weight="balanced"), {"C": [0.01, 1.0]}
shown = {}
for scoring in ("roc_auc", "balanced_accuracy"):
    search = GridSearchCV(model, grid, scoring=scoring)
    search = ReusableHoldoutCV(search, ledger="rare.db").fit(X, y)
    shown[scoring] = search.best_score_, search.best_score_interval_
    print(scoring, search, sep="\n")

# %%
# What the last interval is an interval for:
print(search.best_score_target_)

# %%
# Bars: the intervals. Hollow: the scores of cross-validation, which the held-out rows do not contradict.
figure, ax = plt.subplots(figsize=(6.4, 2.8), layout="constrained")
for place, (score, interval) in enumerate(shown.values()):
    ax.hlines(place, *interval, color="C0", linewidth=6)
    ax.plot(score, place, "wo", markeredgecolor="black")
ax.set(yticks=[0, 1], yticklabels=["ROC AUC", "balanced\naccuracy"])
ax.set(ylim=(-0.7, 1.7), xlabel="score on new data")
plt.show()
