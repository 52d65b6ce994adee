"""Threads, forks and interpreters that tests start, and what comes back from them."""

import os
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

__all__ = ["ROOT", "SESSION", "in_a_fork", "interpreter", "own_session", "together"]

ROOT = Path(__file__).parents[2]
SESSION = "SKLEARN_ADA_SESSION"


def together(*tasks):
    """Run tasks at once, each in a thread of its own; return what they returned, or raise what one raised."""
    with ThreadPoolExecutor(len(tasks)) as pool:
        return [each.result() for each in [pool.submit(task) for task in tasks]]


def in_a_fork(task):
    """Return as text what a task returned, or raised, in a forked child, which is killed if it hangs."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        try:
            text = str(task())
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(write, text.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return text


def own_session(**variables):
    """Return the environment of an interpreter that begins a session of its own, unless one is given."""
    kept = {name: value for name, value in os.environ.items() if name != SESSION}
    path = os.pathsep.join(filter(None, [str(ROOT), kept.get("PYTHONPATH")]))
    given = {name: str(value) for name, value in variables.items() if value is not None}
    return {**kept, "PYTHONPATH": path, **given}


def interpreter(script, *arguments, check=True, timeout=300, **variables):
    """Run a script in another interpreter and return what became of it; ``script`` is a text or a path."""
    how = [script] if isinstance(script, Path) else ["-c", textwrap.dedent(script)]
    command, env = [sys.executable, *map(str, how), *map(str, arguments)], own_session(**variables)
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=timeout)
    assert not check or done.returncode == 0, done.stderr
    return done
