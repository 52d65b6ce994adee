"""Processes that charge one ledger while they are killed and the file is read, or the server breaks them off.

``python -m benchmarks.validity.chaos 100000`` charges a SQLite file from eight processes. In each of them a
thread opens and closes the file all the time, as a backup does, another program reads it with SQLite, as a
browser does, and about once a second one of the processes is killed (SIGKILL) and begun again. With the URL
of a PostgreSQL database it does so on a book there, where sessions are broken off (``pg_terminate_backend``)
as well; that takes a superuser. ``python -m benchmarks.validity.chaos 20000 --pooler`` starts a server and
PgBouncer of its own, which shares six sessions among them; in each fifth round the server crashes, or
one of the two is begun again.

An answer is written down as delivered before the next question is asked. In the end nothing delivered may be
missing or other than recorded, no question charged twice, and no number given twice.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import random
import signal
import sqlite3
import tempfile
import threading
import time
import traceback
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn_ada.exceptions import LedgerUnavailableError
from sklearn_ada.ledger import Ledger, open_existing_ledger, open_ledger

__all__ = ["Found", "chaos", "with_pooler"]

N_PROCESSES = 8
_PATIENCE = 180.0  # seconds


class Count:
    """The number of records so far."""

    def __init__(self, genesis: dict[str, Any]) -> None:
        self.number = 0

    def advance(self, body: dict[str, Any]) -> None:
        """Count one record."""
        self.number += 1


@dataclass(frozen=True)
class Found:
    """What was found in the end.

    Attributes
    ----------
    delivered, kills, terminated, restarts : int
        Answers that were delivered (some twice, by processes that were begun again), processes killed,
        sessions broken off, and crashes and restarts of the server and what is before it.
    lost : int
        Delivered answers that are not in the ledger as they were delivered.
    double : int
        Questions with more than one record.
    twice : int
        Numbers that were given to more than one question.
    unasked : int
        Questions without a record.
    seconds : float
    """

    delivered: int
    kills: int
    terminated: int
    restarts: int
    lost: int
    double: int
    twice: int
    unasked: int
    seconds: float

    @property
    def is_clean(self) -> bool:
        """Whether nothing was lost, doubled, given twice or left out."""
        return self.lost == self.double == self.twice == self.unasked == 0


def chaos(
    address: str,
    folder: Path,
    n_charges: int,
    *,
    seed: int = 0,
    pause: float = 1.0,
    read: bool = True,
    server: str | None = None,
    restarts: Sequence[Callable[[], None]] = (),
) -> Found:
    """Charge, kill and count.

    Parameters
    ----------
    address : str
        A path, or the URL of a book; there must be no ledger yet.
    folder : path
        Where deliveries are written down.
    n_charges : int
    seed : int, default=0
        Of what is done when.
    pause : float, default=1.0
        Seconds between two kills, on average.
    read : bool, default=True
        Whether a thread of each process opens and closes the file all the time, and another program reads it.
    server : str or None, default=None
        The URL of the server itself, where the address leads to a pooler before it.
    restarts : sequence of callables, default=()
        What is done to the server, or to the pooler, in each fifth round.
    """
    began = time.monotonic()
    chance = random.Random(seed)
    is_file = "://" not in address
    context = multiprocessing.get_context("fork")
    kills = terminated = restarted = rounds = 0

    begun_at: dict[int, int] = {}

    def begin(who: int) -> Any:
        begun_at[who] = _size(folder / f"told {who}")
        process = context.Process(target=_ask_all, args=(address, folder, who, n_charges, is_file and read))
        process.start()
        return process

    workers = {who: begin(who) for who in range(N_PROCESSES)}
    browser = context.Process(target=_browse, args=(address,), daemon=True)
    if is_file and read:
        browser.start()
    while workers:
        time.sleep(chance.uniform(0.2, 1.8) * pause)
        for who in [who for who, worker in workers.items() if not worker.is_alive()]:
            worker = workers.pop(who)
            if worker.exitcode != 0:
                for other in workers.values():
                    other.kill()
                raise RuntimeError((folder / f"error {who}").read_text())
        # One that has not delivered anything since it began is spared: it may still read a long ledger.
        ready = [who for who in sorted(workers) if _size(folder / f"told {who}") > begun_at[who] + 1]
        if ready:
            who = chance.choice(ready)
            if workers[who].is_alive():
                os.kill(workers[who].pid, signal.SIGKILL)
                workers[who].join()
                kills += workers[who].exitcode == -signal.SIGKILL
                workers[who] = begin(who)
        if not is_file:
            terminated += _terminate(server or address, chance)
        rounds += 1
        if restarts and rounds % 5 == 0:
            chance.choice(restarts)()
            restarted += 1
    if browser.is_alive():
        browser.kill()
    found = _audit(address, folder, n_charges)
    done = {"kills": kills, "terminated": terminated, "restarts": restarted}
    return Found(**found, **done, seconds=time.monotonic() - began)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _open(address: str) -> Ledger[Count]:
    return open_ledger(address, lambda secret: {"schema": 1, "fingerprint": "c" * 64}, Count)


def _ask_all(address: str, folder: Path, who: int, n_charges: int, read: bool) -> None:
    """Ask one question after the other, from the last one on that was delivered."""
    try:
        if read:
            threading.Thread(target=_read_all_the_time, args=(address,), daemon=True).start()
        told = folder / f"told {who}"
        last = max((number for _, number, _, _ in _delivered(told)), default=-1)
        ledger = _patiently(lambda: _open(address))
        with open(told, "ab", buffering=0) as file:
            file.write(b"\n")  # ends what was written down in part
            # To ask the last one again must change nothing.
            for number in range(max(last, 0), -(-(n_charges - who) // N_PROCESSES)):
                key = f"{who} {number}"
                record = _patiently(lambda key=key: ledger.charge(key, _decided))
                file.write(f"{key} {record.seq} {record.body['before']}\n".encode())
    except BaseException:
        (folder / f"error {who}").write_text(traceback.format_exc())
        raise


def _delivered(told: Path) -> list[tuple[int, int, int, int]]:
    """Return process, number, place in the ledger and answer of what was written down in full."""
    if not told.exists():
        return []
    lines = (line.split() for line in told.read_text().splitlines())
    return [(int(a), int(b), int(c), int(d)) for a, b, c, d in (line for line in lines if len(line) == 4)]


def _decided(state: Count) -> dict[str, Any]:
    return {"before": state.number}


def _patiently(task: Any) -> Any:
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return task()
        except LedgerUnavailableError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def _read_all_the_time(path: str) -> None:
    while True:
        if os.path.exists(path):
            with open(path, "rb") as file:
                file.read(4096)
        time.sleep(0.002)


def _browse(path: str) -> None:
    """Read the file with SQLite itself, in transactions that keep a writer waiting."""
    while True:
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)) as db,
        ):
            for _ in range(10):
                db.execute("BEGIN")
                db.execute("SELECT count(*) FROM records WHERE seq < 100").fetchall()
                time.sleep(0.01)
                db.execute("COMMIT")
                time.sleep(0.02)
        time.sleep(0.01)


def _terminate(address: str, chance: random.Random) -> int:
    """Break one session off, in whatever it does."""
    import sqlalchemy

    url = sqlalchemy.make_url(address).set(drivername="postgresql+psycopg", query={})
    engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool)
    others = "SELECT pid FROM pg_stat_activity WHERE pid != pg_backend_pid() AND usename = current_user"
    with engine.connect() as db:
        found = [pid for (pid,) in db.exec_driver_sql(others)]
        if not found:
            return 0
        return int(db.exec_driver_sql(f"SELECT pg_terminate_backend({chance.choice(found)})").scalar())


def _audit(address: str, folder: Path, n_charges: int) -> dict[str, int]:
    ledger = open_existing_ledger(address, Count, replay=False)
    ledger.verify()
    records = {record.seq: (record.key, record.body) for record in ledger.records() if record.seq}
    keys = Counter(key for key, _ in records.values())
    lost = delivered = 0
    given: dict[int, set[str]] = {}
    for who in range(N_PROCESSES):
        for process, number, seq, before in _delivered(folder / f"told {who}"):
            key = f"{process} {number}"
            delivered += 1
            lost += records.get(seq) != (key, {"before": before}) or before != seq - 1
            given.setdefault(seq, set()).add(key)
    return {
        "delivered": delivered,
        "lost": lost,
        "double": sum(count > 1 for count in keys.values()),
        "twice": sum(len(of) > 1 for of in given.values()),
        "unasked": n_charges - len(keys),
    }


@contextlib.contextmanager
def with_pooler() -> Iterator[dict[str, Any]]:
    """Start a server and a pooler before it; yields what `chaos` takes of them, and the address."""
    from tests.support.ledger.pooler import Pooler
    from tests.support.ledger.postgresql_server import Server

    server = Server()
    pooler = Pooler(server, size=6)

    def crash() -> None:
        server.stop(signal.SIGQUIT)
        server.start()

    def restart() -> None:
        server.stop()
        server.start()

    def restart_pooler() -> None:
        pooler.stop()
        pooler.start()

    try:
        yield {
            "address": pooler.url(uuid.uuid4().hex),
            "server": server.url(),
            "restarts": (crash, restart, restart_pooler),
        }
    finally:
        pooler.remove()
        server.remove()


def main() -> None:
    """Run it as a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("charges", type=int)
    parser.add_argument("url", nargs="?", help="of a PostgreSQL database; by default a file is charged")
    parser.add_argument("--pooler", action="store_true", help="of a server and a pooler that it starts")
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between two kills")
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        how: dict[str, Any] = {"address": str(Path(folder) / "ledger.db")}
        if arguments.url:
            how = {"address": f"{arguments.url.partition('?')[0]}?book={uuid.uuid4().hex}"}
        if arguments.pooler:
            how = stack.enter_context(with_pooler())
        found = chaos(**how, folder=Path(folder), n_charges=arguments.charges, pause=arguments.pause)
    print(found)
    if not found.is_clean:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
