"""The command line: ``python -m sklearn_ada demo | plan | ask | ledger``."""

from sklearn_ada.cli.main import main

__all__ = ["main"]
