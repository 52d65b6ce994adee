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
from sklearn.model_selection import GridSearchCV

from sklearn_ada import (
    AnswersDisplay,
    Holdout,
    MedianSettings,
    Metric,
    StableHoldoutScorer,
)


def profit(y, predicted):
    """Return the share earned: 5 for what is found, -1 for an alarm."""
    found, alarms = (
        np.sum((y == 1) & (predicted == 1)),
        np.sum((y == 0) & (predicted == 1)),
    )
    return max(5 * found - alarms, 0) / max(5 * np.sum(y == 1), 1)


X, y = make_classification(24_000, 8, random_state=0)
metric = Metric(make_scorer(profit), range=(0, 1))
holdout = Holdout(X[4_000:], y[4_000:], ledger=":memory:")
scorer = StableHoldoutScorer(metric, holdout)
search = GridSearchCV(
    LogisticRegression(),
    {"C": [0.01, 1.0]},
    scoring=scorer,
    cv=scorer.cv,
    refit=scorer.select_best,
).fit(X[:4_000], y[:4_000])
print(search.cv_results_["mean_test_score"])
print(holdout.report())

# %%
# A :term:`check` compares medians that are rounded to wide steps: it says in which quantile
# :term:`levels <level>` the :term:`guess` lies, and nothing of the value. To :term:`certify` the winner costs
# more, and has an interval:
answer = holdout.certify(
    search.best_estimator_,
    scoring=metric,
    guess=search.cv_results_["mean_test_score"].max(),
    settings=MedianSettings(),
)
print(answer)

# %%
# Each line is an answer: hollow the guess, full what the holdout said, with its interval.
_, ax = plt.subplots(layout="constrained")
_ = AnswersDisplay.from_holdout(holdout, ax=ax)
