"""Data, estimators that remember the rows they were fitted on, and a look into the ledger."""

from tests.support.fixtures_of_model_selection import *  # noqa: F403
