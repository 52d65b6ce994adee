"""
Three days, one file, one certificate
=====================================

Three searches on three days, each made in view of the one before, on one file: the :term:`ledger`. In the end
the model that is kept is published. That is the number to report, and its interval allows for all that was
asked before. A few people wrote these digits: what is said of the models is said for digits by these writers.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from sklearn_ada import AnswersDisplay, ReusableHoldoutCV

X, y = load_digits(return_X_y=True)
X = X / 16
days = {
    "Monday": (LogisticRegression(max_iter=1000), {"C": [0.01, 0.1]}),
    "Tuesday": (RandomForestClassifier(random_state=0), {"max_depth": [5, 9]}),
    "Wednesday": (SVC(), {"C": [1.0, 10.0]}),
}
for day, (model, grid) in days.items():
    ideas = GridSearchCV(model, grid, cv=3)
    search = ReusableHoldoutCV(ideas, ledger="digits.db", who="Ada").fit(X, y)
    print(day, search, sep="\n")

# %%
# Choose by cross-validation, as always: **CV** is its score, of the best of each day's ideas. The news of
# each day is the interval, with which the held-out rows answer. Wednesday's model is kept:
print(search.publish())

# %%
# A line for each day, and one for the published score. Blue: the interval of each search. A light bar: about
# how narrow the interval would have been if the score had been published that day. Orange: the published
# score. Hollow: the score of cross-validation. All four intervals hold together, with a probability of 95 %.
_, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
AnswersDisplay.from_holdout(search.holdout_, ax=ax)
ax.set_yticks(range(4), [*days, "published"], fontsize="medium")
plt.show()

# %%
# The :term:`certificate` to hand over: a page for people (``.html``), or a file for programs, which
# ``python -m sklearn_ada ledger verify digits.db --certificate digits.json`` compares with the ledger.
search.holdout_.export("digits.html")
_ = search.holdout_.export("digits.json")
