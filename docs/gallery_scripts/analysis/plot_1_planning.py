"""
Planning
========

How wide will intervals be, and which method is best? Decide before the first question.
"""

import matplotlib.pyplot as plt

from sklearn_ada import plan_holdout

plan = plan_holdout(n=5_000, n_questions=100)
print(plan.recommendation)

# %%
# How many rows are needed for 100 :term:`checks <check>` within .03:
print(f"{plan_holdout(n_questions=100, width=0.03)['coded checks'].n:,}")

# %%
# Bars: half-widths, so shorter is better. The star is what is recommended.
plan.plot()
plt.show()

# %%
# Searches in a row, on 2,000 rows. Grey: new rows for each search. Blue: intervals while searching. Orange:
# the published one:
searches = (1, 2, 5, 10, 20, 50)
# sphinx_gallery_thumbnail_number = 2
plans = [plan_holdout(n=2_000, searches=count) for count in searches]
_, ax = plt.subplots(layout="constrained")
for method, label, colour in (
    ("sample splitting", "new rows for each search", "C7"),
    ("cells, while searching", "while searching", "C0"),
    ("cells, published", "published", "C1"),
):
    ax.plot(
        searches,
        [plan[method].width for plan in plans],
        "o-",
        color=colour,
        label=label,
    )
ax.set(
    xscale="log",
    xticks=searches,
    xticklabels=searches,
    xlabel="searches",
    ylabel="half-width",
    ylim=(0, None),
)
_ = ax.legend()
