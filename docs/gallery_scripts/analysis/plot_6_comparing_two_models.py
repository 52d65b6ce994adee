"""
Comparing two models
====================

Is the new model better than the one in use? Two intervals mostly overlap, though the models agree on nearly
all rows. ``Holdout.compare`` asks about the rows on which they differ.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from sklearn_ada import Holdout

X, y = make_classification(
    16_000, 20, n_informative=6, flip_y=0.1, random_state=3
)
in_use = LogisticRegression(C=0.003).fit(X[:400], y[:400])
new = LogisticRegression().fit(X[:4_000], y[:4_000])
rows = X[4_000:8_000], y[4_000:8_000]
compared, apart = (
    Holdout(X[begin:end], y[begin:end], ledger=":memory:")
    for begin, end in ((8_000, 12_000), (12_000, 16_000))
)
difference = compared.compare(in_use, new, scoring="accuracy", guess_from=rows)
print(difference)

# %%
# The validation rows say how often the two differ, which makes the interval narrower. Above 0 the new model
# is better: in the population, not on these rows alone. Each model by itself, of as many other rows, as an
# interval is wider after other answers:
alone = [
    apart.certify(model, scoring="accuracy", guess_from=rows)
    for model in (in_use, new)
]
for name, answer in zip(("in use", "new"), alone, strict=True):
    print(name, answer)

# %%
# The difference of the two intervals (dotted), beside the interval of the difference:
ends = (
    alone[1].interval[0] - alone[0].interval[1],
    alone[1].interval[1] - alone[0].interval[0],
)
fig, ax = plt.subplots(figsize=(7, 2), layout="constrained")
for height, (low, high) in enumerate((ends, difference.interval)):
    ax.hlines(
        height, low, high, "C1", "solid" if height else "dotted", linewidth=4
    )
ax.axvline(0.0, color="grey", linewidth=1)
ax.set(
    yticks=[0, 1],
    yticklabels=["two intervals", "compare"],
    ylim=(-0.5, 1.5),
    xlabel="accuracy of new minus in use",
)
plt.show()
