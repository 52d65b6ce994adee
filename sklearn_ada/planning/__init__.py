"""Plans before a holdout is used: which method certifies what, for how many questions and rows.

A method is a half-width as a function of the rows and the questions; its formula lives in
`sklearn_ada.guarantees`. Solving for either of the other two is the same search for all of them.
"""

from sklearn_ada.planning.display import PlanDisplay
from sklearn_ada.planning.methods import MethodPlan
from sklearn_ada.planning.plan import HoldoutPlan, plan_holdout

__all__ = ["HoldoutPlan", "MethodPlan", "PlanDisplay", "plan_holdout"]
