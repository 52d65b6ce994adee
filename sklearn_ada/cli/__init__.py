"""The command line: ``python -m sklearn_ada demo | plan | ask | gate | ledger``."""

from sklearn_ada.cli.commands import main

__all__ = ["main"]
