"""
A team's ledger
===============

Two people, one holdout, one file. Each pays for what both have learned.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import AnswersDisplay, Holdout

X, y = make_classification(5_000, 6, random_state=0)
with tempfile.TemporaryDirectory() as folder:
    ledger = Path(folder) / "team.db"
    for who, model in {"Ada": LogisticRegression(), "Ben": DecisionTreeClassifier(max_depth=4)}.items():
        holdout = Holdout(X[3_000:], y[3_000:], ledger=ledger, who=who)
        model.fit(X[:2_000], y[:2_000])
        guess = model.score(X[2_000:3_000], y[2_000:3_000])
        print(who, holdout.certify(model, scoring="accuracy", guess=guess))
    print(holdout.report().asked_by)
    _, ax = plt.subplots(layout="constrained")
    _ = AnswersDisplay.from_holdout(holdout, ax=ax)
