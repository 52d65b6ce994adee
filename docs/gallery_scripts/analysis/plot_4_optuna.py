"""
Optuna
======

A study optimises a cross-validated score, which asks nothing. The holdout is asked about its best model,
once. Rows that the model was not fitted on give the :term:`guess`: that serves every metric, such as
``"roc_auc"``, ``"neg_log_loss"`` or ``"r2"``, some of which need more of these rows than their score.
"""

import matplotlib.pyplot as plt
import optuna
from sklearn.datasets import make_classification
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout

optuna.logging.set_verbosity(optuna.logging.ERROR)
X, y = make_classification(5_000, 8, n_informative=5, random_state=0)
X_train, y_train = X[:2_500], y[:2_500]
X_val, y_val = X[2_500:3_000], y[2_500:3_000]
scoring = "accuracy"


def objective(trial):
    """Return the score of five folds of the training rows."""
    model = DecisionTreeClassifier(
        max_depth=trial.suggest_int("max_depth", 1, 12), random_state=0
    )
    return cross_val_score(model, X_train, y_train, scoring=scoring).mean()


study = optuna.create_study(
    direction="maximize", sampler=optuna.samplers.TPESampler(seed=0)
)
study.optimize(objective, n_trials=12)
best = DecisionTreeClassifier(**study.best_params, random_state=0).fit(
    X_train, y_train
)
answer = Holdout(X[3_000:], y[3_000:], ledger=":memory:").certify(
    best, scoring=scoring, guess_from=(X_val, y_val)
)
print(answer)

# %%
# The scores of the study, and the interval of its best model on the holdout:
figure, ax = plt.subplots(layout="constrained")
ax.plot(
    [trial.number for trial in study.trials],
    [trial.value for trial in study.trials],
    "o",
    color="black",
    markerfacecolor="none",
    label="cross-validated",
)
ax.axhspan(
    *answer.interval,
    color="C1",
    alpha=0.3,
    label="certified interval of the best",
)
ax.axhline(answer.value, color="C1", label="its score on the holdout")
ax.set(xlabel="trial", ylabel=scoring)
_ = ax.legend()
