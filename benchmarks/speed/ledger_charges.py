"""Charges per second beside bare commits of the same durability, and the replay of a long ledger."""

from __future__ import annotations

import multiprocessing
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed.bare_sqlite import BareLog
from benchmarks.speed.finding import Finding
from benchmarks.speed.many_checks import check
from benchmarks.speed.stored import labels, row_numbers, variants
from benchmarks.speed.timing import by_turns, timed
from sklearn_ada import Holdout
from sklearn_ada.accounting.events import event_from_dict
from sklearn_ada.holdout.records import EVERY, CheckpointRecord
from sklearn_ada.ledger import canonical_json
from sklearn_ada.ledger.hash_chain import StoredRecord, next_stored

N_ROWS = 1_000
N_PROCESSES = 8


def measure(folder: Path, seed: int, *, n_charges: int, n_records: int) -> list[Finding]:
    """Return the rate of charging, and the time to open and to verify a ledger of so many records."""
    charging = [*_charging(folder, seed, n_charges), _charging_together(folder, seed, n_charges)]
    return [*charging, *_replay(folder, seed, n_records)]


def _charging(folder: Path, seed: int, n_charges: int) -> list[Finding]:
    holdout, body = _holdout(folder / "charges.db", seed)
    log, text = BareLog(folder / "charges bare.db"), canonical_json(body)
    numbers = iter(range(n_charges + 1))

    def charge() -> None:
        holdout.ledger.charge(f"{next(numbers):064d}", _again(body))

    written = iter(range(n_charges + 1))
    seconds = by_turns(
        {"charge": charge, "bare": lambda: log.commit(f"{next(written):064d}", text)}, n_charges
    )
    each, bare = (float(np.median(seconds[name])) for name in ("charge", "bare"))
    what = f"ledger charges, one process ({len(text):,} bytes each)"
    return [
        Finding(
            f"{what}, time over a bare durable insert",
            each / bare,
            f"{each / bare:.2f} ({1e3 * each:.2f} ms over {1e3 * bare:.2f} ms)",
            at_most=1.6,
            detail={"charge": each, "bare": bare},
        ),
        Finding(f"{what}, a second", 1 / each, f"{1 / each:,.0f} (bare: {1 / bare:,.0f})", at_least=1000),
    ]


def _charging_together(folder: Path, seed: int, n_charges: int) -> Finding:
    """Return the rate of several processes on one ledger: each also has to read what the others wrote."""
    each = n_charges // N_PROCESSES
    holdout, body = _holdout(folder / "together.db", seed)
    bare, text = folder / "together bare.db", canonical_json(body)
    BareLog(bare)

    def charge(who: int) -> None:
        for number in range(each):
            holdout.ledger.charge(f"{who} {number:062d}", _again(body))

    def commit(who: int) -> None:
        log = BareLog(bare)
        for number in range(each):
            log.commit(f"{who} {number:062d}", text)

    rates = {
        name: N_PROCESSES * each / _at_once(task) for name, task in (("ledger", charge), ("bare", commit))
    }
    return Finding(
        f"ledger charges, {N_PROCESSES} processes together, a second",
        rates["ledger"],
        f"{rates['ledger']:,.0f} (bare: {rates['bare']:,.0f})",
        at_least=200,
        detail=rates,
    )


def _at_once(task: Callable[[int], None]) -> float:
    """Return the seconds until all processes have done the task."""
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=task, args=(who,)) for who in range(N_PROCESSES)]
    began = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    return time.perf_counter() - began


def long_ledger(path: Path, seed: int, n_records: int) -> Path:
    """Write a ledger of so many records, in one transaction: writing it is not what is measured."""
    holdout, body = _holdout(path, seed)
    event = event_from_dict(body["event"])
    connection = holdout.ledger._connection()
    connection.catch_up()
    (seq, digest), state = connection.reached, connection.state

    def rows() -> Iterator[StoredRecord]:
        nonlocal seq, digest
        for number in range(n_records - seq):
            charged = {**body, "price": state.account.price(event), "subject": f"{number:064x}"}
            row = next_stored(seq, digest, f"{number:064d}", charged)
            state.advance(charged)
            seq, digest = row.seq, row.hash
            yield row
            if seq % EVERY == 0:
                checkpoint = CheckpointRecord.of(state).to_dict()
                row = next_stored(seq, digest, f"checkpoint {seq}", checkpoint)
                state.advance(checkpoint)
                seq, digest = row.seq, row.hash
                yield row

    with closing(sqlite3.connect(path)) as db, db:
        db.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?)", rows())
        db.execute("UPDATE head SET count = ?, hash = ?", (seq + 1, digest))
    connection.forget()
    return path


def _replay(folder: Path, seed: int, n_records: int) -> list[Finding]:
    path, copy = long_ledger(folder / "long.db", seed, n_records), folder / "long copy.db"
    shutil.copyfile(path, copy)  # under another name, so that this process has read nothing of it
    opening, (opened, _) = timed(_holdout_at, copy, seed)
    verifying, count = timed(lambda: sum(1 for _ in opened.ledger.records()) - 1)
    assert count == n_records
    what = f"a ledger of {n_records:,} records ({path.stat().st_size / 1e6:.0f} MB)"
    target = 2e-5 * n_records  # 100,000 records in 2 s
    return [
        Finding(
            f"{what}: {doing}, in seconds",
            seconds,
            f"{seconds:.2f} ({1e6 * seconds / n_records:.0f} µs a record)",
            at_most=target,
        )
        for doing, seconds in (("open and replay", opening), ("verify and read", verifying))
    ]


def _holdout(path: Path, seed: int) -> tuple[Holdout, dict[str, Any]]:
    """Return a holdout that was asked once, and the record of that question."""
    holdout, (y, rng) = _holdout_at(path, seed)
    check(holdout, next(variants(y, rng)), 0)
    return holdout, list(holdout.ledger.records())[-1].body


def _holdout_at(path: Path, seed: int) -> tuple[Holdout, tuple[np.ndarray, np.random.Generator]]:
    rng = np.random.default_rng(seed)
    y = labels(N_ROWS, rng)
    return Holdout(row_numbers(N_ROWS), y, ledger=path, random_state=seed), (y, rng)


def _again(body: dict[str, Any]) -> Any:
    """Return a decision to record the same event once more, at the price that it has by then."""
    event = event_from_dict(body["event"])
    return lambda state: {**body, "price": state.account.price(event)}
