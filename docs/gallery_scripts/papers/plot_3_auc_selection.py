"""
Selection by AUC on a small test set
====================================

Gossmann, Pezeshk, Wang and Sahiner (SIMODS 2021) ask what happens if a classifier of medical images is
improved again and again on one test set of a hundred patients, and its AUC is reported. Here features are
added one by one; a feature is kept if the AUC on the holdout rises.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_ada import Holdout

rng = np.random.default_rng(2021)
n_features = rounds = 60
X = rng.standard_normal((4_300, n_features))
y = (rng.random(len(X)) < 1 / (1 + np.exp(-X[:, :3].sum(axis=1) / 2))).astype(
    int
)  # three features matter
(X_train, X_hold, X_fresh), (y_train, y_hold, y_fresh) = (
    np.split(rows, [100, 200]) for rows in (X, y)
)


def model_of(features):
    """Return a model of some features."""
    model = make_pipeline(
        FunctionTransformer(lambda X: X[:, features]), LogisticRegression()
    )
    return model.fit(X_train, y_train)


def guess_of(model):
    """Return the AUC of cross-validation."""
    return roc_auc_score(
        y_train,
        cross_val_predict(model, X_train, y_train, method="decision_function"),
    )


def auc(model, X, y):
    return roc_auc_score(y, model.decision_function(X))


# %%
# The naive analyst looks at the AUC of every attempt. The certified one asks, with the AUC of cross-
# validation as the :term:`guess`, and keeps a feature if the answer rises.
holdout = Holdout(X_hold, y_hold, ledger=":memory:", expected_questions=rounds)
asks = {
    "naive": lambda model: auc(model, X_hold, y_hold),
    "certified": lambda model: (
        holdout.check(model, scoring="roc_auc", guess=guess_of(model)).value
    ),
}
kept, path = {}, {}
for name, ask in asks.items():
    features, best, path[name] = [0], 0.0, []
    for feature in range(rounds):
        model = model_of([*features, feature] if feature else features)
        score = ask(model)
        if score > best:
            features, best, kept[name] = (
                list(dict.fromkeys([*features, feature])),
                score,
                model,
            )
        path[name].append((best, auc(kept[name], X_fresh, y_fresh)))

# %%
# The model that the certified analyst keeps is certified in the end:
answer = holdout.certify(
    kept["certified"], scoring="roc_auc", guess=guess_of(kept["certified"])
)
print(answer)

# %%
# What the analyst goes by (full line), and the AUC on 4,000 fresh rows (dashed). The naive one goes by the
# holdout and reports that. The certified one goes by guesses that the holdout confirms, and reports the
# published value. A hundred rows are few: the interval says so.
figure, axes = plt.subplots(
    1, 2, figsize=(10, 4.5), sharey=True, layout="constrained"
)
for ax, name in zip(axes, asks, strict=True):
    reported, fresh = zip(*path[name], strict=True)
    ax.plot(
        reported,
        color="C3" if name == "naive" else "C0",
        label="reported" if name == "naive" else "confirmed guess",
    )
    ax.plot(fresh, "k--", label="on fresh rows")
    ax.set(
        title=name,
        xlabel="feature tried",
        ylabel="AUC" if name == "naive" else None,
    )
axes[1].errorbar(
    rounds,
    answer.value,
    answer.half_width,
    fmt="C1o",
    capsize=4,
    label="published, with its interval",
)
for ax in axes:
    ax.legend(loc="lower left")
    ax.set_ylim(0.4, 0.95)
