"""Package indexes of one's own: a folder, or a folder that is served."""
# SPDX-License-Identifier: MIT

import os
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


def use_index(folder, monkeypatch):
    """Make pip take packages from a folder only."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@contextmanager
def served_index(folder, monkeypatch):
    """Serve the packages in `folder`/simple/NAME/ as an index, and make pip ask this one only."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        settings = {"INDEX_URL": f"http://127.0.0.1:{server.server_port}/simple", "CONFIG_FILE": os.devnull}
        for name, value in settings.items():
            monkeypatch.setenv(f"PIP_{name}", value)
        for name in ("NO_INDEX", "FIND_LINKS", "EXTRA_INDEX_URL"):
            monkeypatch.delenv(f"PIP_{name}", raising=False)
        try:
            yield
        finally:
            server.shutdown()
