"""A fork while another thread opens a holdout leaves the child no lock that nobody frees."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os, signal, threading, time
import numpy as np
from sklearn_ada import Holdout
from sklearn_ada.terms import holdout_data as data
from sklearn_ada.ledger import locations

first = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
slow, make, begun = data.labels_digest, locations._make, threading.Event()

def digest(y):
    begun.set()
    time.sleep(1.0)
    return slow(y)

def folder(path):
    begun.set()
    time.sleep(1.0)
    make(path)

if {place!r} == "digest":
    data.labels_digest = digest
else:
    locations._make = folder
thread = threading.Thread(target=lambda: Holdout(*first))
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    signal.alarm(30)
    data.labels_digest, locations._make = slow, make
    Holdout(first[0], 1 - first[1])
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
thread.join()
"""


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("place", ["digest", "folder"])
def test_a_child_that_is_forked_while_a_holdout_is_opened_opens_its_own(place):
    command = [sys.executable, "-c", SCRIPT.format(place=place)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
