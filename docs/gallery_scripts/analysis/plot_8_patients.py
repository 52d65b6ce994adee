"""
Patients
========

Four visits of each of 500 patients, and a disease that no feature tells: features only tell the patients
apart. Who splits by visits finds a nearest neighbour to be nearly perfect, as it recognises patients. With
``groups=`` whole patients are held out, and they, not visits, are what is independent.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from sklearn_ada import ReusableHoldoutCV

rng = np.random.default_rng(1)
patients = np.repeat(np.arange(500), 4)
y = rng.integers(0, 2, 500)[patients]  # the disease: a coin for each patient
X = rng.standard_normal((500, 5))[patients] + 0.1 * rng.standard_normal((2_000, 5))
visits = KFold(5, shuffle=True, random_state=0)
naive = cross_val_score(KNeighborsClassifier(1), X, y, cv=visits).mean()
print(f"folds of visits: accuracy {naive:.3f}, of a coin")

# %%
# By patient:
ledger = Path(tempfile.mkdtemp()) / "patients.db"  # take a folder that stays
grid = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, cv=GroupKFold(5))
search = ReusableHoldoutCV(grid, ledger=ledger).fit(X, y, groups=patients)
final = search.publish()
print(f"folds of patients: {search.search_.best_score_:.3f}; {final}")
print(f"{search.holdout_.n_rows} visits of {search.holdout_.n_rows // 4} patients are held out")

# %%
figure, ax = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
ax.plot(naive, 1, "X", color="C3", markersize=14)
ax.hlines(0, *final.interval, color="C1", linewidth=6)
ax.axvline(0.5, color="black", linestyle="--", label="truth")
ax.set(yticks=[0, 1], yticklabels=["published,\nby patient", "folds of visits"], ylim=(-0.6, 1.6))
ax.set(xlim=(0.3, 1.02), xlabel="accuracy")
_ = ax.legend(loc="center right")
