"""
Early stopping
==============

A booster stops when its score on some rows gets no better, so these rows are training data.
``WithValidation`` cuts them from the training part of each fold and hands them over, as ``eval_set`` here.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import GridSearchCV

from sklearn_ada import ReusableHoldoutCV, WithValidation
from sklearn_ada.exceptions import HoldoutLeakError


class Booster(GradientBoostingClassifier):
    """Stands for LGBMClassifier, XGBClassifier and the like."""

    def fit(self, X, y, eval_set=()):
        super().fit(X, y)
        if eval_set:
            rows, labels = eval_set[0]
            right = [np.mean(p == labels) for p in self.staged_predict(rows)]
            self.set_params(n_estimators=int(np.argmax(right)) + 1)
            super().fit(X, y)
        return self


X, y = make_classification(3_000, 10, n_informative=4, flip_y=0.25, random_state=0)
folder = Path(tempfile.mkdtemp())  # take one that stays
booster = Booster(n_estimators=60, learning_rate=0.5)
ideas = {
    "60 trees": (booster, "max_depth"),
    "stopped": (WithValidation(booster, validation_fraction=0.2), "estimator__max_depth"),
}
answers = {}
for name, (model, depth) in ideas.items():
    grid = GridSearchCV(model, {depth: [2, 4]}, cv=3)
    search = ReusableHoldoutCV(grid, ledger=folder / "boosters.db").fit(X, y)
    answers[name] = (search.best_score_, *search.best_score_interval_)
    print("{}: cross-validation {:.3f}; the holdout says {:.3f} to {:.3f}".format(name, *answers[name]))
print(f"kept: {search.best_estimator_.estimator_.n_estimators} trees; {search.publish()}")

# %%
# Rows of the holdout would stop the booster at the best number of trees for the holdout. If they are
# passed, that is refused before the first fit:
try:
    search.fit(X, y, eval_set=[(X, y)])
except HoldoutLeakError as error:
    print(str(error).split(". ")[0])

# %%
figure, ax = plt.subplots(layout="constrained")
low, high = search.best_score_interval_
for place, (score, least, most) in enumerate(answers.values()):
    ax.hlines(place, least, most, color="C0", linewidth=3, label="while searching" if place else None)
    ax.plot(score, place, "wo", markeredgecolor="black", label="cross-validation" if place else None)
ax.hlines(len(answers), low, high, color="C1", linewidth=5, label="published")
ax.set(yticks=range(3), yticklabels=[*answers, "published"], xlabel="accuracy", ylim=(-0.6, 3.6))
_ = ax.legend(loc="upper left", fontsize="small", ncols=2)
