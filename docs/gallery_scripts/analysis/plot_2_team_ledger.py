"""
A team's ledger
===============

Two people, one holdout, one file: the :term:`ledger`. Each interval allows for what both were answered.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import AnswersDisplay, Holdout

X, y = make_classification(5_000, 6, random_state=0)
X_train, y_train = X[:2_000], y[:2_000]
X_val, y_val = X[2_000:3_000], y[2_000:3_000]
models = {
    "Ada": LogisticRegression(),
    "Ben": DecisionTreeClassifier(max_depth=4),
}
for who, model in models.items():
    model.fit(X_train, y_train)
    holdout = Holdout(
        X[3_000:], y[3_000:], ledger="team.db", answers="coarse", who=who
    )
    print(
        who,
        holdout.certify(model, scoring="accuracy", guess_from=(X_val, y_val)),
    )

# %%
# Who asked how often:
print(holdout.report().asked_by)

# %%
# Ben's model is kept, and its score is published:
print(holdout.publish(models["Ben"], scoring="accuracy"))

# %%
# Blue: the intervals while searching. A light bar: about how narrow the interval would have been if the score
# had been published then. Orange: the published score. Hollow: the score on validation rows, the
# :term:`guess`.
_, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
AnswersDisplay.from_holdout(holdout, ax=ax)
plt.show()
