"""Compute all figures, or some, and write the results page."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.validity.figures.page import write_page
from benchmarks.validity.figures.results import FOLDER, MODULES, draw, load, module_of, run_and_save


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--full", action="store_true", help="as many repetitions as the results page shows")
    parser.add_argument(
        "--only", nargs="+", choices=MODULES, default=MODULES, metavar="NAME", help=", ".join(MODULES)
    )
    parser.add_argument(
        "--page", action="store_true", help="compute nothing; write the page from the JSON files"
    )
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder of JSON files and pictures")
    options = parser.parse_args()
    for name in () if options.page else options.only:
        written = run_and_save(name, full=options.full, folder=options.out)
        shown = module_of(name).shown(written["result"])
        print(f"{name} ({written['form']}, {written['seconds']} s): {shown.sentence}")
        for claim in shown.claims:
            print(f"  {'met' if claim.met else 'NOT MET'}: {claim.expected}; found {claim.found}", flush=True)
    for name in options.only if options.page else ():
        written = load(name, options.out)
        if written is not None:
            draw(name, written, options.out)
    write_page(options.out)


if __name__ == "__main__":
    main()
