"""Write the table of the documentation: ``python -m tests.consumers.table`` with the newest scikit-learn."""

import csv
import tempfile
from pathlib import Path

from tests.consumers.consumers import CONSUMERS, OBJECTS, SCORERS, outcome

DOCS = Path(__file__).parents[2] / "docs"
CELLS, REASONS = DOCS / "consumers.csv", DOCS / "consumer_reasons.csv"


def reasons(outcomes):
    """Return what each refusal says, or why there is no use, with the objects that say so."""
    told = {}
    for kind, seen in outcomes.items():
        if seen.message:
            message = seen.message.replace(kind, "the scorer", 1) if kind in SCORERS else seen.message
            told.setdefault(message, []).append(kind)
    return {message: "; ".join(kinds) for message, kinds in told.items()}


def main():
    """Run everything and write both files."""
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
