"""A network between a ledger and its server that can be cut at any byte."""

import contextlib
import socket
import threading


class Network:
    """Forwards a local port to a server.

    Attributes
    ----------
    port : int
    before_sending, before_answering : callable or None
        Called with the bytes of each message; a true result cuts the connection instead of delivering it.
    silent : bool
        Deliver nothing, and say nothing either: packets are lost.
    down : bool
        Refuse new connections.
    """

    def __init__(self, server_port):
        self._server_port = server_port
        self.before_sending = self.before_answering = None
        self.silent = self.down = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.down:
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self._server_port))
            for source, target, name in (
                (client, server, "before_sending"),
                (server, client, "before_answering"),
            ):
                threading.Thread(target=self._forward, args=(source, target, name), daemon=True).start()

    def _forward(self, source, target, name):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                hook = getattr(self, name)
                if hook is not None and hook(data):
                    break
                if not self.silent:
                    target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        """Accept nothing more."""
        self._listener.close()
