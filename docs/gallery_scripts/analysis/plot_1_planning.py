"""
Planning
========

How wide will intervals be, and which method is best? Decide before the first question.
"""

from sklearn_ada import plan_holdout

plan = plan_holdout(n=5_000, n_questions=100)
print(plan.recommendation)

# %%
# How many rows are needed for 100 :term:`checks <check>` within .03:
print(f"{plan_holdout(n_questions=100, width=0.03)['coded checks'].n:,}")

# %%
_ = plan.plot()
