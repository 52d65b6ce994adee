"""Kinds of arguments: what is wrong with one is said, with status 2, before anything is computed."""

from __future__ import annotations

import argparse
import os

from sklearn_ada.ledger import parse_head

__all__ = ["count", "head", "picture"]


def count(text: str) -> int:
    """Return a number of at least one."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value


def head(text: str) -> str:
    """Return the head of a ledger, as ``ledger head`` prints it."""
    try:
        parse_head(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def picture(text: str) -> str:
    """Return the name of a file that a picture can be saved as; without matplotlib any ending will do."""
    folder = os.path.dirname(text) or os.curdir
    if not os.path.isdir(folder):
        raise argparse.ArgumentTypeError(
            f"must be in a folder that exists, got {text!r}; make {folder!r} first"
        )
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return text
    endings = sorted(Figure().canvas.get_supported_filetypes())
    if os.path.splitext(text)[1][1:].lower() not in endings:
        raise argparse.ArgumentTypeError(f"must end in one of .{', .'.join(endings)}, got {text!r}")
    return text
