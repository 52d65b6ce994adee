"""
Any metric
==========

A metric without an interval of its own is certified as a median over small random subsamples. That is
another quantity than the metric on all rows, and the :term:`target` says so.
"""

from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from sklearn_ada import AnswersDisplay, Holdout, StableHoldoutScorer

X, y = make_classification(24_000, 8, random_state=0)
holdout = Holdout(X[4_000:], y[4_000:], ledger=":memory:")
scorer = StableHoldoutScorer("matthews_corrcoef", holdout)
search = GridSearchCV(
    LogisticRegression(), {"C": [0.01, 1.0]}, scoring=scorer, cv=scorer.cv, refit=scorer.select_best
).fit(X[:4_000], y[:4_000])
print(search.cv_results_["mean_test_score"])
print(holdout.report())

# %%
_ = AnswersDisplay.from_holdout(holdout)
