"""The first bytes of a SQLite file, read past SQLite, whose own view stands still during a transaction."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Header", "HeaderFile"]

_FIRST, _LENGTH = 18, 26  # from the version of the format to the number of the schema
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class Header(NamedTuple):
    """What the header says.

    Attributes
    ----------
    is_wal : bool
        Some program has turned the write-ahead log on.
    changes : int
        Counts the transactions that changed the file, whoever made them.
    schema : int
        Counts the changes of tables, indexes and triggers.
    """

    is_wal: bool
    changes: int
    schema: int


class HeaderFile:
    """A ledger file, kept open to read its header: to close it would cancel SQLite's locks.

    Parameters
    ----------
    path : str
    """

    _descriptor: int | None = None

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, _FLAGS)

    def read(self) -> Header:
        """Return the header as it is in the file now."""
        assert self._descriptor is not None
        if hasattr(os, "pread"):
            data = os.pread(self._descriptor, _LENGTH, _FIRST)
        else:  # Windows
            os.lseek(self._descriptor, _FIRST, os.SEEK_SET)
            data = os.read(self._descriptor, _LENGTH)
        data = data.ljust(_LENGTH, b"\0")  # where the file was cut off, SQLite says so
        return Header(
            is_wal=2 in data[:2],
            changes=int.from_bytes(data[6:10], "big"),
            schema=int.from_bytes(data[22:26], "big"),
        )

    def close(self, close: Callable[[int], None] = os.close) -> None:
        """Close the file, when nothing is locked."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            close(descriptor)

    def __del__(self) -> None:
        self.close()
