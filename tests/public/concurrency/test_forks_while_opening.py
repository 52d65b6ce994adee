"""A fork while another thread opens a holdout leaves the child no lock that nobody frees."""

import os

import pytest

from tests.support.processes import interpreter

SCRIPT = """
    import os, signal, sys, threading, time
    import numpy as np
    from sklearn_ada import Holdout
    from sklearn_ada.ledger import locations
    from sklearn_ada.terms import holdout_data

    place, name = (holdout_data, "labels_digest") if sys.argv[1] == "digest" else (locations, "_check_folder")
    real, begun = getattr(place, name), threading.Event()

    def slow(what):
        begun.set()
        time.sleep(1.0)
        return real(what)

    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    setattr(place, name, slow)
    thread = threading.Thread(target=lambda: Holdout(X, y))
    thread.start()
    begun.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        setattr(place, name, real)
        Holdout(X, 1 - y)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    thread.join()
"""


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("place", ["digest", "folder"])
def test_a_child_that_is_forked_while_a_holdout_is_opened_opens_its_own(place):
    interpreter(SCRIPT, place)
