"""
Three days, one file, one certificate
=====================================

Three searches on three days, each made in view of the one before, on one file: the :term:`ledger`. In the end
the model that is kept is published. That is the number to report, and its interval allows for all that was
asked before.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from sklearn_ada import AnswersDisplay, ReusableHoldoutCV

X, y = load_digits(return_X_y=True)
X = X / 16
file = Path(tempfile.mkdtemp()) / "digits.db"  # take a folder that stays
days = {
    "Monday": GridSearchCV(LogisticRegression(max_iter=1000), {"C": [0.01, 0.1]}, cv=3),
    "Tuesday": GridSearchCV(RandomForestClassifier(random_state=0), {"max_depth": [5, None]}, cv=3),
    "Wednesday": GridSearchCV(SVC(), {"C": [1.0, 10.0]}, cv=3),
}
for day, ideas in days.items():
    search = ReusableHoldoutCV(ideas, ledger=file, who="Ada").fit(X, y)
    low, high = search.best_score_interval_
    print(f"{day}: cross-validation {search.best_score_:.3f}; the holdout says {low:.3f} to {high:.3f}")

# %%
# Choose by cross-validation, as always. The news of each day is the interval, which the holdout certifies.
# Wednesday's model is kept:
final = search.publish()
print(f"published: {final.value:.3f}, between {final.interval[0]:.3f} and {final.interval[1]:.3f}")

# %%
# Three wide intervals and a narrow one. All four hold together, with a probability of 95 %:
_, ax = plt.subplots(layout="constrained")
_ = AnswersDisplay.from_holdout(search.holdout_, ax=ax)

# %%
# The :term:`certificate` to hand over: a page for people (``.html``), or a file for programs, which
# ``python -m sklearn_ada ledger verify digits.db --certificate digits.json`` compares with the ledger.
certificate = file.with_name("digits.json")
search.holdout_.export(certificate)
print(f"{certificate.name}: {certificate.stat().st_size // 1000} kB")
