import pytest

from tests.support import rows


@pytest.fixture
def reference():
    """Return the rows of a table of reference numbers, as dicts of floats."""

    def read(name):
        return [{key: float(value) for key, value in row.items()} for row in rows.reference(name)]

    return read
