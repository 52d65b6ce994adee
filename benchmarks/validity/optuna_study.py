"""An Optuna study of several processes on one ledger, of which some are killed; then everything is compared.

    python -m benchmarks.validity.optuna_study [--repetitions 5] [--trials 400] [--processes 4] [--kills 1]

Study and ledger are in one PostgreSQL database, by default in a server that is started for the purpose, with
``--url`` in one that there is; with ``--sqlite`` in two files. Each process calls ``study.optimize`` with an
objective that grows a tree and asks the holdout about it. At random moments one of them is killed (SIGKILL),
every other time when it has an answer and has not yet told it, and begun again. What it was at stays behind
in Optuna as running, maybe with an answer that is charged; such trials are failed and put into the queue
again, as Optuna does by heartbeats.

In the end each finished trial must hold what the ledger holds; each record must be of a trial, and no
question charged twice; prices must sum up to the report's; a model that is fitted and asked again must cost a
repetition only; and the winner that is published must stand in the certificate as it was told.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import multiprocessing
import os
import random
import signal
import tempfile
import time
import uuid
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Answer, Holdout
from sklearn_ada.cli import main as command

__all__ = ["Found", "Place", "audit", "killed_study", "trained"]

ROWS, HELD, KNOWN = 4000, 2000, 1000
STUDY = "trees"
_PATIENCE = 600.0  # seconds


@dataclass(frozen=True)
class Place:
    """Where study and ledger are.

    Attributes
    ----------
    storage : str
        URL of Optuna's database.
    ledger : str
        Path or URL of the ledger.
    """

    storage: str
    ledger: str

    @classmethod
    def in_files(cls, folder: Path) -> Place:
        """Return a place in two SQLite files."""
        return cls(f"sqlite:///{folder / 'study.db'}", str(folder / "ledger.db"))

    @classmethod
    def in_database(cls, url: str) -> Place:
        """Return a place in a PostgreSQL database, which may be that of other studies and ledgers."""
        url = url.partition("?")[0]
        driver = url.replace("postgresql://", "postgresql+psycopg://", 1)
        return cls(driver, f"{url}?book={uuid.uuid4().hex}")

    def study(self, *, create: bool = False) -> Any:
        """Return the study, which is called as the ledger is, as a database may hold several."""
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        waits = {"connect_args": {"timeout": 60}} if self.storage.startswith("sqlite") else {}
        storage = optuna.storages.RDBStorage(self.storage, engine_kwargs=waits)
        name = f"{STUDY} {self.ledger.rpartition('=')[2]}"
        if create:
            return optuna.create_study(study_name=name, storage=storage, direction="maximize")
        sampler = optuna.samplers.TPESampler(constant_liar=True)
        return optuna.load_study(study_name=name, storage=storage, sampler=sampler)

    def holdout(self, who: str | None = None) -> Holdout:
        """Return the holdout on its ledger, and nothing else of the rows."""
        X, y = _rows()
        return Holdout(X[:HELD], y[:HELD], ledger=self.ledger, answers="coarse", who=who)


@dataclass(frozen=True)
class Found:
    """What was found in the end.

    Attributes
    ----------
    trials, complete, repeated : int
        Trials, how many of them are finished, and how many had a model that another one had asked about.
    records : int
        Answers in the ledger when the study was over.
    lost : int
        Finished trials that hold something else than the ledger, or that the ledger does not know when
        their model is fitted and asked again.
    strangers : int
        Answers in the ledger that belong to no trial.
    double : int
        Models that were charged twice.
    nats, nats_of_repeating : float
        What the study cost, and what it cost to ask about all its models once more.
    unlike : float
        By how much the prices of the records, as a sum, differ from the report.
    verified : bool
        Whether the command ``ledger verify`` finds nothing wrong, with the certificate and without it.
    certified : bool
        Whether the certificate holds each finished trial's interval and the published winner's as told.
    kills, left, asked_by_the_killed : int
        Processes killed, trials that they left running, and answers that were charged and not yet told to
        Optuna when their process was killed.
    seconds : float
    """

    trials: int
    complete: int
    repeated: int
    records: int
    lost: int
    strangers: int
    double: int
    nats: float
    nats_of_repeating: float
    unlike: float
    verified: bool
    certified: bool
    kills: int = 0
    left: int = 0
    asked_by_the_killed: int = 0
    seconds: float = 0.0

    @property
    def is_clean(self) -> bool:
        """Whether nothing is lost, strange or doubled, and all agree."""
        wrong = self.lost + self.strangers + self.double
        return wrong == 0 and self.unlike < 1e-9 and self.verified and self.certified


def killed_study(
    place: Place, *, n_trials: int, n_processes: int = 4, n_kills: int = 1, seed: int = 0
) -> Found:
    """Run a study in several processes, kill some of them, and return what the audit found.

    Parameters
    ----------
    place : Place
        Without a study and without a ledger.
    n_trials : int
        How many trials are to be finished.
    n_processes : int, default=4
    n_kills : int, default=1
    seed : int, default=0
        Of who is killed when.
    """
    began = time.monotonic()
    study, chance = place.study(create=True), random.Random(seed)
    context = multiprocessing.get_context("spawn")

    trying: dict[int, Any] = {}  # whether a process is beyond its start
    falling: dict[int, Any] = {}  # whether it is to fall after its next answer
    charged = {who: context.Value("q", 0) for who in range(n_processes)}  # the record with which it fell
    untold: set[int] = set()

    def begin(who: int) -> Any:
        trying[who], falling[who] = context.Event(), context.Event()
        shared = trying[who], falling[who], charged[who]
        process = context.Process(target=_optimize, args=(place, who, n_trials, *shared))
        process.start()
        return process

    workers = {who: begin(who) for who in range(n_processes)}
    moments = sorted(chance.sample(range(n_trials // 10, max(n_trials * 9 // 10, n_kills + 1)), n_kills))
    kills = 0
    while any(worker.is_alive() for worker in workers.values()):
        time.sleep(chance.uniform(0.01, 0.05))
        if time.monotonic() > began + _PATIENCE:
            _kill_all(workers)
            raise RuntimeError(f"the study did not end in {_PATIENCE:g} seconds")
        running = [who for who, worker in workers.items() if worker.is_alive() and trying[who].is_set()]
        if moments and running and _finished(study) >= moments[0]:
            moments.pop(0)
            who = chance.choice(running)
            if (len(moments) + seed) % 2:
                falling[who].set()
            else:
                time.sleep(chance.uniform(0.0, 0.1))  # in whatever it does
                os.kill(workers[who].pid, signal.SIGKILL)
            workers[who].join(_PATIENCE)
            kills += workers[who].exitcode == -signal.SIGKILL
            untold.add(charged[who].value)
            workers[who] = begin(who)
        if any(worker.exitcode not in {None, 0} for worker in workers.values()):
            _kill_all(workers)
            raise RuntimeError("a process of the study failed; its error is printed above")
    untold = (untold - {0}) | _untold(study, place)
    left = _put_again(study)
    if left:
        _optimize(place, n_processes, _finished(study) + left)
    left_behind = {"left": left, "asked_by_the_killed": len(untold)}
    return audit(place, **left_behind, kills=kills, seconds=time.monotonic() - began)


def trained(params: dict[str, Any]) -> tuple[Any, tuple[Any, Any]]:
    """Return the tree of a trial, and the rows on which its guess is computed."""
    X, y = _rows()
    train, known = slice(HELD + KNOWN, None), slice(HELD, HELD + KNOWN)
    model = DecisionTreeClassifier(**params, random_state=0).fit(X[train], y[train])
    return model, (X[known], y[known])


def _rows() -> tuple[Any, Any]:
    X, y = make_classification(ROWS, 20, n_informative=6, flip_y=0.15, random_state=0)
    return X, y


def _states(*names: str) -> tuple[Any, ...]:
    import optuna

    return tuple(optuna.trial.TrialState[name] for name in names)


def _finished(study: Any) -> int:
    return len(study.get_trials(deepcopy=False, states=_states("COMPLETE")))


def _best(study: Any) -> Any:
    """Return the best trial, for which Optuna before 4.5 asks PostgreSQL in a way that psycopg 3 refuses."""
    return max(study.get_trials(states=_states("COMPLETE")), key=lambda trial: trial.value)


def _kill_all(workers: dict[int, Any]) -> None:
    for worker in workers.values():
        worker.kill()


def _ask(holdout: Holdout, params: dict[str, Any]) -> Answer:
    model, known = trained(params)
    return holdout.check(model, scoring="accuracy", guess_from=known)


def _optimize(
    place: Place, who: int, n_trials: int, trying: Any = None, falling: Any = None, charged: Any = None
) -> None:
    """Try until so many trials are finished, by whomever, or until it falls between answer and telling."""
    import optuna

    holdout = place.holdout(f"process {who}")

    def objective(trial: Any) -> float:
        if trying is not None:
            trying.set()
        params = {
            "max_leaf_nodes": trial.suggest_int("max_leaf_nodes", 2, 60),
            "min_samples_leaf": trial.suggest_int("min_samples_leaf", 1, 40),
        }
        answer = _ask(holdout, params)
        if falling is not None and falling.is_set() and not answer.repeated:
            charged.value = answer.index
            os.kill(os.getpid(), signal.SIGKILL)
        trial.set_user_attr("answer", _told(answer))
        return answer.value

    enough = optuna.study.MaxTrialsCallback(n_trials, states=_states("COMPLETE"))
    place.study().optimize(objective, callbacks=[enough])


def _told(answer: Answer) -> dict[str, Any]:
    """Return what a trial keeps of its answer."""
    return {"record": answer.index, "value": answer.value, "interval": list(answer.interval)}


def _answers(holdout: Holdout) -> dict[int, dict[str, Any]]:
    """Return the records of answers by their numbers."""
    records = holdout.ledger.records()
    return {record.seq: record.body for record in records if record.body.get("kind") == "answer"}


def _untold(study: Any, place: Place) -> set[int]:
    """Return the answers that were charged and that no finished trial holds."""
    told = {trial.user_attrs["answer"]["record"] for trial in study.get_trials(states=_states("COMPLETE"))}
    return set(_answers(place.holdout())) - told


def _put_again(study: Any) -> int:
    """Fail the trials that nobody runs any more, put their parameters into the queue, and count them."""
    left = study.get_trials(states=_states("RUNNING"))
    for trial in left:
        study.tell(trial.number, state=_states("FAIL")[0])
        study.enqueue_trial(trial.params, user_attrs={"again": trial.number})
    return len(left)


def audit(place: Place, **before: float) -> Found:
    """Compare the study with the ledger, ask about all its models again, publish the winner, and compare.

    Parameters
    ----------
    place : Place
    **before : float
        What was counted before: `Found.left`, `Found.asked_by_the_killed`, `Found.kills`, `Found.seconds`.
    """
    study, holdout = place.study(), place.holdout("audit")
    best = _best(study)
    verified = _verifies(place)
    trials = study.get_trials()
    complete = [trial for trial in trials if trial.state.name == "COMPLETE"]
    answers = _answers(holdout)
    prices = [record.body["price"] for record in holdout.ledger.records() if "price" in record.body]
    spent = holdout.report().nats

    lost = {trial.number for trial in complete if not _is_recorded(trial, answers)}
    of_trials: dict[int, int] = {}  # the record of each trial
    for trial in trials:
        if len(trial.params) == len(best.params):  # else it was killed before it had a model
            answer = _ask(holdout, trial.params)
            if answer.index in answers:
                of_trials[trial.number] = answer.index
            if trial.state.name == "COMPLETE" and not (
                answer.repeated and _told(answer) == trial.user_attrs.get("answer")
            ):
                lost.add(trial.number)
    again = holdout.report().nats - spent

    model, known = trained(best.params)
    final = holdout.publish(model, scoring="accuracy", guess_from=known)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        holdout.export(path)
        certificate = json.loads(path.read_text())
        verified &= _verifies(place, "--certificate", str(path))
    written = {each["index"]: (each["value"], each["interval"]) for each in certificate["answers"]}
    certified = written[final.index] == (final.value, list(final.interval)) and all(
        written.get(told["record"]) == (told["value"], told["interval"])
        for told in (trial.user_attrs["answer"] for trial in complete if trial.number not in lost)
    )
    asked = Counter(body["subject"] for body in answers.values())
    finished = {of_trials[trial.number] for trial in complete if trial.number in of_trials}
    return Found(
        trials=len(trials),
        complete=len(complete),
        repeated=len(complete) - len(finished),
        records=len(answers),
        lost=len(lost),
        strangers=len(set(answers) - set(of_trials.values())),
        double=sum(count > 1 for count in asked.values()),
        nats=spent,
        nats_of_repeating=again,
        unlike=abs(math.fsum(prices) - spent),
        verified=verified,
        certified=certified,
        **before,
    )


def _is_recorded(trial: Any, answers: dict[int, dict[str, Any]]) -> bool:
    """Return whether a finished trial holds what the ledger holds."""
    told = trial.user_attrs.get("answer", {})
    body = answers.get(told.get("record"))
    if body is None:
        return False
    outcome = body["outcome"]
    return (told["value"], told["interval"]) == (outcome["value"], list(outcome["interval"])) and (
        trial.value == outcome["value"]
    )


def _verifies(place: Place, *more: str) -> bool:
    with contextlib.redirect_stdout(io.StringIO()):
        return command(["ledger", "verify", place.ledger, *more]) == 0


def main() -> None:
    """Run it as a command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--kills", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="of the first repetition")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--url", help="of a PostgreSQL database")
    where.add_argument("--sqlite", action="store_true", help="two files instead of a database")
    options = parser.parse_args()
    size = {"n_trials": options.trials, "n_processes": options.processes, "n_kills": options.kills}
    found = []
    with contextlib.ExitStack() as stack:
        url = options.url
        if url is None and not options.sqlite:
            from tests.support.ledger.postgresql_server import Server

            server = Server()
            stack.callback(server.remove)
            url = server.url()
        for seed in range(options.seed, options.seed + options.repetitions):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            place = Place.in_database(url) if url else Place.in_files(folder)
            found.append(killed_study(place, **size, seed=seed))
            print(seed, json.dumps(asdict(found[-1])), flush=True)
    clean = sum(each.is_clean for each in found)
    print(f"{clean} of {len(found)} repetitions are clean; {sum(each.complete for each in found)} trials")
    if clean < len(found):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
