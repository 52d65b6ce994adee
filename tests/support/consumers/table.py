"""Write the tables of the documentation: ``python -m tests.support.consumers.table``, on the newest
scikit-learn; with ``tests``, those of scikit-learn's own tests only.
"""

import csv
import re
import sys
import tempfile
from pathlib import Path

from tests.support.consumers import sklearn_own_tests as own
from tests.support.consumers.consumers import CONSUMERS, OBJECTS, SCORERS, outcome

DOCS = Path(__file__).parents[3] / "docs"
CELLS, REASONS = DOCS / "consumers.csv", DOCS / "consumer_reasons.csv"
COUNTS, DIFFERENCES = DOCS / "sklearn_tests.csv", DOCS / "sklearn_differences.csv"


def read(path):
    """Return the rows of a table of the documentation."""
    with path.open() as file:
        return list(csv.DictReader(file))


def differences():
    """Return what scikit-learn's tests want otherwise: each reason once, with the cases that it is for."""
    cases_of = {}
    for (run, case), reason in own.listed().items():
        cases_of.setdefault(reason, {}).setdefault(case, []).append(own.title(run))
    return [
        {
            "why": in_markup(reason),
            "cases": "; ".join(f"{in_markup(case)} ({', '.join(runs)})" for case, runs in cases.items()),
        }
        for reason, cases in cases_of.items()
    ]


def in_markup(text):
    """Return a text in which a name with an underscore at its end is code, and no link."""
    return re.sub(r"(?<![`\w])(\w*[a-z]_)(?![\w`])", r"``\1``", text)


def write(path, rows):
    """Write rows as a table of the documentation."""
    with path.open("w") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def reasons(outcomes):
    """Return what each refusal says, or why there is no use, with the objects that say so."""
    kinds_of = {}
    for kind, seen in outcomes.items():
        if seen.message:
            message = seen.message.replace(kind, "the scorer", 1) if kind in SCORERS else seen.message
            kinds_of.setdefault(message, []).append(kind)
    return {message: "; ".join(kinds) for message, kinds in kinds_of.items()}


def outcomes_of(consumer):
    """Return what comes of a consumer with each object, in ledgers of its own."""
    outcomes = {}
    for kind in OBJECTS:
        with tempfile.TemporaryDirectory() as folder:
            outcomes[kind] = outcome(consumer, kind, Path(folder))
    return outcomes


def main():
    """Run everything and write all files."""
    write(COUNTS, [own.counted(run, own.run(run)) for run in own.RUNS])
    write(DIFFERENCES, differences())
    if sys.argv[1:] != ["tests"]:
        found = {consumer: outcomes_of(consumer) for consumer in CONSUMERS}
        write(
            CELLS, [{"": each, **{kind: one.cell for kind, one in of.items()}} for each, of in found.items()]
        )
        rows = [(each, kinds, why) for each, of in found.items() for why, kinds in reasons(of).items()]
        write(REASONS, [dict(zip(("consumer", "object", "why"), row, strict=True)) for row in rows])


if __name__ == "__main__":
    main()
