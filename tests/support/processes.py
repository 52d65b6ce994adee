"""Threads, forks and interpreters that tests start, and what comes back from them."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

__all__ = [
    *("ROOT", "SESSION", "in_a_fork", "in_processes", "interpreter", "killed", "own_session", "started"),
    "together",
]

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


def in_processes(method, size, task, *args, here=None):
    """Return what ``task(*args, number)`` returns in each of some processes, and ``here()`` in this one."""
    context = multiprocessing.get_context(method)
    start, results = context.Barrier(size + (here is not None)), context.Queue()
    workers = [
        context.Process(target=_report, args=(start, results, task, *args, who)) for who in range(size)
    ]
    for worker in workers:
        worker.start()
    returned = []
    if here is not None:
        start.wait()
        returned.append(here())
    returned += [results.get(timeout=600) for _ in workers]
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    return returned


def _report(start, results, task, *args):
    start.wait()
    results.put(task(*args))


def own_session(**variables):
    """Return the environment of an interpreter that begins a session of its own, unless one is given."""
    kept = {name: value for name, value in os.environ.items() if name != SESSION}
    path = os.pathsep.join(filter(None, [str(ROOT), kept.get("PYTHONPATH")]))
    given = {name: str(value) for name, value in variables.items() if value is not None}
    return {**kept, "PYTHONPATH": path, **given}


def started(script, *arguments, cwd=ROOT, **variables):
    """Start another interpreter; ``script`` is a text, a path, or ``-m`` and a module."""
    if isinstance(script, Path):
        how = [script]
    else:
        how = script.split() if script.startswith("-m ") else ["-c", textwrap.dedent(script)]
    command, pipe = [sys.executable, *map(str, how), *map(str, arguments)], subprocess.PIPE
    return subprocess.Popen(
        command, cwd=cwd, env=own_session(**variables), stdout=pipe, stderr=pipe, text=True
    )


def interpreter(script, *arguments, check=True, timeout=300, **variables):
    """Run a script in another interpreter (see `started`) and return what became of it."""
    with started(script, *arguments, **variables) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    assert not check or process.returncode == 0, err
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def killed(script, *arguments, lines=1, after=lambda: None):
    """Kill an interpreter once it has printed so many lines, and return all that it printed."""
    with started(script, *arguments) as process:
        printed = [process.stdout.readline() for _ in range(lines)]
        after()
        process.kill()
        return [*printed, *process.stdout.readlines()]
