"""The command line: ``python -m sklearn_ada demo | plan | ask | ledger``."""

from sklearn_ada.cli.commands import main

__all__ = ["main"]
