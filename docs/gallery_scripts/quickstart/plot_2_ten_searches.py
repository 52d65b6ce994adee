"""
Ten searches
============

Each search is made in view of the last one, on one holdout. With ``answers="coarse"`` a search tells in which
:term:`cell` its winner's score lies, and after twenty searches intervals of one score are a fifth wider than
after the first. In the end the exact value of the model that is kept is published.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import ReusableHoldoutCV

X, y = make_classification(8_000, 10, n_informative=6, random_state=0)
widths = []
for depth in range(2, 12):
    grid = GridSearchCV(
        DecisionTreeClassifier(max_depth=depth, random_state=0), {"min_samples_leaf": [1, 9]}, cv=3
    )
    search = ReusableHoldoutCV(grid, ask="winner", ledger=":memory:", answers="coarse").fit(X, y)
    low, high = search.best_score_interval_
    widths.append((high - low) / 2)

final = search.publish()
# %%
# Half-widths fall here, as later trees are better: near 1 the interval of an accuracy is narrower.
figure, ax = plt.subplots(layout="constrained")
ax.plot(range(1, 11), widths, "o", label="while searching")
ax.plot(10, final.half_width, "s", color="C1", label="published")
ax.set(xlabel="search", ylabel="half-width", ylim=(0, None))
_ = ax.legend()
