"""
Any metric
==========

A metric of which nothing is known but its values, such as a function of your own, is certified as a median
over small random subsamples. That is another quantity than the metric on all rows, and the :term:`target`
says so.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer

from sklearn_ada import AnswersDisplay, Holdout, MedianSettings, Metric


def profit(y, predicted):
    """Return the share earned: 5 for what is found, -1 for an alarm."""
    found, alarms = (
        np.sum((y == 1) & (predicted == 1)),
        np.sum((y == 0) & (predicted == 1)),
    )
    return max(5 * found - alarms, 0) / max(5 * np.sum(y == 1), 1)


X, y = make_classification(24_000, 8, random_state=0)
X_train, y_train = X[:2_000], y[:2_000]
X_val, y_val = X[2_000:4_000], y[2_000:4_000]
metric = Metric(make_scorer(profit), range=(0, 1))
holdout = Holdout(X[4_000:], y[4_000:], ledger=":memory:")
for C in (0.001, 0.01, 1.0):
    model = LogisticRegression(C=C).fit(X_train, y_train)
    guess = profit(y_val, model.predict(X_val))
    answer = holdout.certify(
        model, scoring=metric, guess=guess, settings=MedianSettings()
    )
    print(f"C = {C:g}", answer, sep="\n")

# %%
# Each line is an answer: hollow the :term:`guess`, full what the holdout said, with its interval.
# Each interval is wider than the last one, as every such answer reveals much.
_, ax = plt.subplots(layout="constrained")
_ = AnswersDisplay.from_holdout(holdout, ax=ax)
