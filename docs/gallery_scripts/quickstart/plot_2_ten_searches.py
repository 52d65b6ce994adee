"""
Ten searches
============

Each search is made in view of the last one, on one file. Intervals while searching are wide, and after twenty
searches a fifth wider than after the first. In the end the score of the model that is kept is published.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import ReusableHoldoutCV

X, y = make_classification(8_000, 10, n_informative=6, random_state=0)
grid = {"min_samples_leaf": [1, 9]}
scores, intervals = [], []
for depth in range(2, 12):
    tree = DecisionTreeClassifier(max_depth=depth, random_state=0)
    search = GridSearchCV(tree, grid, cv=3)
    search = ReusableHoldoutCV(search, ledger="trees.db").fit(X, y)
    scores.append(search.best_score_)
    intervals.append(search.best_score_interval_)
print(search)

# %%
# The last model is kept:
final = search.publish()
print(final)

# %%
# Blue: the interval of each search, around the score of cross-validation. They get a little narrower here, as
# later trees are better: near 1 the interval of an accuracy is narrower. Orange: the published score.
figure, ax = plt.subplots(layout="constrained")
numbers = range(1, 11)
ax.vlines(
    numbers,
    *zip(*intervals, strict=True),
    color="C0",
    lw=4,
    label="while searching",
)
ax.plot(numbers, scores, "wo", mec="black", label="cross-validation")
ax.vlines(11, *final.interval, color="C1", lw=6)
ax.plot(11, final.value, "s", color="C1", label="published")
ax.set(xticks=range(1, 12), xticklabels=[*numbers, "end"], xlabel="search")
ax.set(ylabel="accuracy")
ax.legend(loc="lower right")
plt.show()
