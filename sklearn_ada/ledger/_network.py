"""Whether a file lies on a network file system, where SQLite's locks cannot be relied upon."""

from __future__ import annotations

import os
import re

from sklearn_ada.exceptions import LedgerUnavailableError

__all__ = ["check_local"]

# Not 9p: sandboxes mount their own local root with it.
_NETWORK = {
    "afs", "beegfs", "ceph", "cifs", "fuse.ceph", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs",
    "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "orangefs", "panfs", "smb3", "smbfs", "wekafs",
}  # fmt: skip
_MOUNTS = "/proc/self/mounts"  # where there is none, nothing is known and nothing is refused


def check_local(path: str) -> None:
    """Refuse a path on a network file system: locks of two machines may not see each other there.

    Raises
    ------
    LedgerUnavailableError
        Naming the file system and the ledger that serves several machines.
    """
    kind = _file_system(os.path.realpath(path))
    if kind in _NETWORK:
        raise LedgerUnavailableError(
            f"The ledger {os.path.basename(path)!r} would lie on a network file system ({kind}), where two "
            "machines could charge it at once without seeing each other. Use a local path, or a database: "
            "ledger='postgresql://...' (pip install \"sklearn-ada[sql]\")."
        )


def _file_system(path: str) -> str | None:
    """Return the type of the file system that ``path`` is or would be on, or None if nothing is known."""
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
            mounts = [line.split()[1:3] for line in file]
    except OSError:
        return None
    best, kind = "", None
    for escaped, found in mounts:
        mount = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), escaped)
        inside = path == mount or path.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best):  # the innermost mount, the last of those on one place
            best, kind = mount, found
    return kind
