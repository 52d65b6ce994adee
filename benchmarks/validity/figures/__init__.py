"""Published figures, computed again, with the certificates of this package beside them.

    python -m benchmarks.validity.figures [--full] [--only NAME ...] [--out FOLDER]

Each module of `MODULES` is one figure. It has a ``TITLE``, a ``SEED`` and three functions: ``run(full)``
returns what was measured, ready for JSON; ``shown(result)`` makes of that what the results page says
(`Shown`); and ``draw(result, figure)`` the picture. So nothing on the page is typed by hand.
"""
