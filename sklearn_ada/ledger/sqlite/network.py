"""Whether a file lies on a network file system, where SQLite's locks cannot be relied upon."""

from __future__ import annotations

import os
import re

from sklearn_ada.exceptions import LedgerUnavailableError

__all__ = ["check_local"]

# Not 9p: sandboxes mount their own local root with it.
_NETWORK = {
    "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "fakeowner", "gfs2", "glusterfs", "gpfs", "lustre",
    "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "panfs", "prl_fs", "pvfs2", "smb3", "smbfs", "vboxsf",
    "virtiofs", "vmhgfs", "wekafs",
}  # fmt: skip
# Programs behind FUSE that lead to other machines, to a cloud or out of a virtual machine.
_NETWORK_FUSE = {
    "alluxio", "beegfs", "blobfuse", "blobfuse2", "ceph", "ceph-fuse", "curlftpfs", "davfs", "davfs2",
    "gcsfuse", "glusterfs", "goofys", "google-drive-ocamlfuse", "grpcfuse", "gvfsd-fuse", "juicefs",
    "mfs", "moosefs", "mount.davfs", "mountpoint-s3", "onedriver", "osxfs", "quobyte",
    "rclone", "s3fs", "s3ql", "seaweedfs", "smbnetfs", "sshfs", "vmhgfs-fuse",
}  # fmt: skip
# How FUSE mounts without a name of their own show that they lead to a machine: URL, host:path, //host/share.
_ELSEWHERE = re.compile(r"\w+://|[\w.@-]+:/|//")
_MOUNTS = "/proc/self/mounts"  # where there is none, nothing is known and nothing is refused


def check_local(path: str) -> None:
    """Refuse a path on a network file system: locks of two machines may not see each other there.

    Raises
    ------
    LedgerUnavailableError
        Naming the file system and the ledger that serves several machines.
    """
    kind = _file_system(os.path.realpath(path))
    if kind is not None:
        raise LedgerUnavailableError(
            f"The ledger {os.path.basename(path)!r} would lie on a network file system ({kind}), where two "
            "machines could charge it at once without seeing each other. Use a local path, or a database: "
            "ledger='postgresql://...' (pip install \"sklearn-ada[sql]\")."
        )


def _file_system(path: str) -> str | None:
    """Return the type of the network file system that ``path`` is or would be on, or None."""
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
            mounts = [line.split()[:3] for line in file]
    except OSError:
        return None
    best, kind = "", None
    for source, escaped, found in mounts:
        mount = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), escaped)
        inside = path == mount or path.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best):  # the innermost mount, the last of those on one place
            best, kind = mount, found if _is_network(source, found) else None
    return kind


def _is_network(source: str, kind: str) -> bool:
    family, _, program = kind.partition(".")
    if family not in ("fuse", "fuseblk"):
        return kind in _NETWORK
    return program in _NETWORK_FUSE or _ELSEWHERE.match(source) is not None
