"""Write the tables of the documentation: ``python -m tests.support.consumers.table`` with the newest
scikit-learn.

``python -m tests.support.consumers.table tests`` writes those of scikit-learn's own tests only.
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
    told = {}
    for (run, case), reason in own.listed().items():
        cases = told.setdefault(reason, {})
        cases.setdefault(case, []).append(own.title(run))
    return [
        {
            "why": in_markup(reason),
            "cases": "; ".join(f"{in_markup(case)} ({', '.join(runs)})" for case, runs in cases.items()),
        }
        for reason, cases in told.items()
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


def write_tests():
    """Run scikit-learn's own tests and write what came of them."""
    write(COUNTS, [own.counted(run, own.run(run)) for run in own.RUNS])
    write(DIFFERENCES, differences())


def reasons(outcomes):
    """Return what each refusal says, or why there is no use, with the objects that say so."""
    told = {}
    for kind, seen in outcomes.items():
        if seen.message:
            message = seen.message.replace(kind, "the scorer", 1) if kind in SCORERS else seen.message
            told.setdefault(message, []).append(kind)
    return {message: "; ".join(kinds) for message, kinds in told.items()}


def main():
    """Run everything and write all files."""
    write_tests()
    if sys.argv[1:] == ["tests"]:
        return
    with CELLS.open("w") as cells, REASONS.open("w") as texts:
        table, told = csv.writer(cells, lineterminator="\n"), csv.writer(texts, lineterminator="\n")
        table.writerow(["", *OBJECTS])
        told.writerow(["consumer", "object", "why"])
        for consumer in CONSUMERS:
            with tempfile.TemporaryDirectory() as folder:
                seen = {}
                for number, kind in enumerate(OBJECTS):
                    own = Path(folder) / str(number)
                    own.mkdir()
                    seen[kind] = outcome(consumer, kind, own)
            table.writerow([consumer, *(seen[kind].cell for kind in OBJECTS)])
            told.writerows([consumer, kinds, message] for message, kinds in reasons(seen).items())


if __name__ == "__main__":
    main()
