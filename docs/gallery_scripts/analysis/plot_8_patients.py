"""
Patients
========

Four visits of each of 500 patients, and a disease that no feature tells: features only tell the patients
apart. Who splits by visits finds a nearest neighbour to be nearly perfect, as it recognises patients. With
``groups=`` whole patients are held out, and they, not visits, are what is independent.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier

from sklearn_ada import ReusableHoldoutCV

rng = np.random.default_rng(1)
patients = np.repeat(np.arange(500), 4)
y = rng.integers(0, 2, 500)[patients]  # the disease: a coin for each patient
X = rng.standard_normal((500, 5))[patients] + 0.1 * rng.standard_normal(
    (2_000, 5)
)
visits = KFold(5, shuffle=True, random_state=0)
model = KNeighborsClassifier(1)
naive = cross_val_score(model, X, y, cv=visits).mean()
print(f"folds of visits: accuracy {naive:.3f}, of a coin")

# %%
# By patient. Within the search, folds are of patients, too:
grid = {"n_neighbors": [1, 5]}
search = GridSearchCV(KNeighborsClassifier(), grid, cv=GroupKFold(5))
search = ReusableHoldoutCV(search, ledger="patients.db")
search.fit(X, y, groups=patients)
print(search.best_answer_.summary)

# %%
# "Published now: about +-0.064" supposes that the visits of a patient differ. Here they agree, so the
# interval of the published score is wider than foreseen:
final = search.publish()
print(final)

# %%
# The cross marks what folds of visits say, orange what is published by patient. The truth is one half. With a
# probability of 5 % an interval may miss it: this is one example, not a proof.
figure, ax = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
ax.plot(naive, 1, "X", color="C3", markersize=14)
ax.hlines(0, *final.interval, color="C1", linewidth=6)
ax.plot(final.value, 0, "s", color="C1")
ax.axvline(0.5, color="black", linestyle="--")
ax.annotate("truth", (0.5, 1.2), (6, 0), textcoords="offset points")
ax.set(
    yticks=[0, 1], yticklabels=["published,\nby patient", "folds of visits"]
)
ax.set(xlim=(0.3, 1.02), ylim=(-0.6, 1.6), xlabel="accuracy")
plt.show()
