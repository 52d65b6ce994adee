"""
Early stopping
==============

A booster stops when its score on some rows gets no better, so these rows are training data.
``WithValidation`` cuts them from the training part of each fold, and hands them to the booster's ``fit``.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV

from sklearn_ada import ReusableHoldoutCV, WithValidation
from sklearn_ada.exceptions import HoldoutLeakError

X, y = make_classification(
    3_000, 10, n_informative=4, flip_y=0.25, random_state=0
)
how = {"max_iter": 200, "learning_rate": 0.3, "random_state": 0}
booster = HistGradientBoostingClassifier(early_stopping=False, **how)
stopping = HistGradientBoostingClassifier(early_stopping=True, **how)
stopped = WithValidation(stopping, validation_fraction=0.2)
ideas = {
    "200 trees": (booster, {"max_depth": [2, 4]}),
    "stopped": (stopped, {"estimator__max_depth": [2, 4]}),
}
shown = {}
for name, (model, grid) in ideas.items():
    search = GridSearchCV(model, grid, cv=3)
    search = ReusableHoldoutCV(search, ledger="boosters.db").fit(X, y)
    shown[name] = search.best_score_, search.best_score_interval_
    print(f"{name}: CV {search.best_score_:.3f}")

# %%
# Stopping helps. The booster that stopped is kept:
print(search.best_estimator_.estimator_.n_iter_, "trees")
final = search.publish()
print(final)

# %%
# Rows of the holdout would stop the booster where the holdout likes it best. If they are passed, that is
# refused before the first fit:
try:
    search.fit(X, y, X_val=X[:1_000], y_val=y[:1_000])
except HoldoutLeakError as error:
    print(str(error).split(". ")[0])

# %%
# Hollow: cross-validation. Blue: the intervals while searching. Orange: the published score.
figure, ax = plt.subplots(figsize=(6.4, 3), layout="constrained")
for place, (score, interval) in enumerate(shown.values()):
    ax.hlines(place, *interval, color="C0", linewidth=6)
    ax.plot(score, place, "wo", markeredgecolor="black")
ax.hlines(2, *final.interval, color="C1", linewidth=6)
ax.plot(final.value, 2, "s", color="C1")
ax.set(yticks=range(3), yticklabels=[*shown, "published"], xlabel="accuracy")
ax.set(ylim=(-0.6, 2.6))
plt.show()
