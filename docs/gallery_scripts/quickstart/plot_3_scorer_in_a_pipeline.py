"""
A scorer in a search of a pipeline
==================================

``scorer.cv`` fits on one part of the rows and takes its :term:`guesses <guess>` from the rest.
``scorer.select_best`` refuses to choose a winner if any candidate was refused.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from sklearn_ada import AnswersDisplay, Holdout, ThresholdoutScorer

X, y = make_classification(6_000, 12, n_informative=6, random_state=0)
holdout = Holdout(X[4_000:], y[4_000:], ledger=":memory:")
scorer = ThresholdoutScorer("accuracy", holdout)
pipe = make_pipeline(PCA(), LogisticRegression())
search = GridSearchCV(
    pipe,
    {"pca__n_components": [2, 4, 8]},
    scoring=scorer,
    cv=scorer.cv,
    refit=scorer.select_best,
).fit(X[:4_000], y[:4_000])
print(search.best_params_)
print(holdout.report())

# %%
# Hollow: what was guessed. Full: what the holdout said. A :term:`check` that agrees says its guess.
_, ax = plt.subplots(layout="constrained")
_ = AnswersDisplay.from_holdout(holdout, ax=ax)
