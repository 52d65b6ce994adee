"""A pooler of transactions before the tests' PostgreSQL server: PgBouncer, from the system."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from tests.support.ledger.postgresql_server import PASSWORD

SETTINGS = """
[databases]
* = host=127.0.0.1 port={server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
logfile = {folder}/log
auth_type = scram-sha-256
auth_file = {folder}/users
pool_mode = {mode}
default_pool_size = {size}
max_client_conn = 500
server_login_retry = 1
"""


class NoPoolerError(Exception):
    """This machine has no PgBouncer."""


class Pooler:
    """A pooler that can be stopped, started, paused and resumed.

    Parameters
    ----------
    server : Server
    size : int, default=3
        How many sessions of the server its clients share.
    mode : str, default="transaction"
        After what it gives a session to another client.
    """

    def __init__(self, server, size=3, mode="transaction"):
        self._program = shutil.which("pgbouncer", path=os.environ.get("PATH", "") + ":/usr/sbin")
        if self._program is None:
            raise NoPoolerError("no PgBouncer here: apt-get install pgbouncer")
        self._server = server
        self.folder = Path(tempfile.mkdtemp(prefix="pooler_"))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        settings = SETTINGS.format(
            server=server.port, port=self.port, folder=self.folder, size=size, mode=mode
        )
        (self.folder / "settings").write_text(settings)
        (self.folder / "users").write_text(f'"asker" "{PASSWORD}"\n')
        self._as_nobody = {}
        if os.getuid() == 0:  # as which it refuses to run
            nobody = pwd.getpwnam("nobody")
            self._as_nobody = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            for path in (self.folder, *self.folder.iterdir()):
                os.chown(path, nobody.pw_uid, nobody.pw_gid)
        self.start()

    def url(self, book=None, **query):
        """Return the address of a book behind it."""
        return self._server.url(book, port=self.port, **query)

    def start(self):
        """Start it and wait until it listens."""
        command = [self._program, "-q", self.folder / "settings"]
        self._process = subprocess.Popen(command, stderr=subprocess.DEVNULL, **self._as_nobody)
        until = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert self._process.poll() is None, (self.folder / "log").read_text()
                assert time.monotonic() < until, "the pooler did not start"
                time.sleep(0.02)

    def stop(self):
        """End it at once; its clients lose their connections."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(30)

    def pause(self):
        """Let connections stand and answer nothing, as an operator does before a switch of servers."""
        self._process.send_signal(signal.SIGUSR1)
        time.sleep(0.3)  # nothing says when that is so

    def resume(self):
        """Go on after `pause`."""
        self._process.send_signal(signal.SIGUSR2)

    def remove(self):
        """Stop it and delete all that it wrote."""
        if self._process.poll() is None:
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
