"""What scorers do with a holdout, for tests that need more than its users call."""

import json

from sklearn_ada.holdout.asking import answer_to, put_question
from sklearn_ada.holdout.framing import Ask, Framed, plan_question
from sklearn_ada.holdout.holdout import session_of
from sklearn_ada.holdout.rounds import open_round as open_round_of_session
from sklearn_ada.holdout.state import State
from sklearn_ada.metrics import as_metric
from sklearn_ada.terms.models import Subject

__all__ = ["ask", "ask_by_value", "asked", "open_round", "plan", "put", "restored", "state_after"]


def asked(holdout, estimator, *, scoring, purpose, guess=None, settings=None, round_name=None):
    """Return what is asked of a model."""
    session = session_of(holdout)
    subject = Subject.of(estimator, session.data, session.policy, f"Holdout.{purpose}")
    return Ask(subject, as_metric(scoring), purpose, guess, settings=settings, round_name=round_name)


def ask(holdout, estimator, **what):
    """Return the answer to a question, which may belong to a round."""
    return holdout._ask(asked(holdout, estimator, **what))


def plan(holdout, estimator, **what):
    """Return a question that is not put."""
    return plan_question(session_of(holdout), asked(holdout, estimator, **what))


def ask_by_value(holdout, estimator, **what):
    """Return the answer to a question as releases put it that had no intervals of all rows."""
    session, what = session_of(holdout), asked(holdout, estimator, **what)
    return answer_to(session, Framed.of(session, what, plan_question(session, what)))


def put(holdout, question, estimator, *, model, recorded_as=None, **how):
    """Put a question that was made by `plan`, about a model that has this digest."""
    session = session_of(holdout)
    what = Ask(Subject(estimator, model, "", "a test"), question.metric, question.purpose, **how)
    if recorded_as is None:
        return put_question(session, what, question)
    return answer_to(session, Framed.of(session, what, question, recorded_as))


def open_round(holdout, size, **what):
    """Open a round of questions."""
    return open_round_of_session(session_of(holdout), size, **what)


def state_after(bodies):
    """Return the state of a ledger after records of these bodies, the first of which is the genesis."""
    genesis, *others = bodies
    state = State(genesis)
    for body in others:
        state.advance(body)
    return state


def restored(state, genesis):
    """Return a state that is made of a checkpoint of another one."""
    again = State(genesis)
    again.restore(json.loads(json.dumps(state.to_dict(), allow_nan=False)))
    return again
