"""How is the key handed to the page and kept from everyone else?

As Jupyter does it: in a file that only this user can read, which sends the browser to the book. The key stands behind
the `#` of that address, which no browser sends to a server; the page puts it into the storage of its tab. So it is in
no file that is served, in no cookie, in no list of processes and in no log.
"""

from __future__ import annotations

import html
import os
import secrets
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(".cache") / "live"
PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>Glass Torch</title>
<meta http-equiv="refresh" content="0; url={address}">
<p><a href="{address}">Open the book.</a></p>
"""


def new_key() -> str:
    """A key that cannot be guessed."""
    return secrets.token_urlsafe(32)


@contextmanager
def opened(root: Path, address: str, key: str) -> Iterator[Path]:
    """A file that leads to the book at `address` with the key, readable by this user only, while the server runs."""
    folder = root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"open-{os.getpid()}.html"
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(PAGE.format(address=html.escape(f"{address}/index.html#key={key}")))
        yield path
    finally:
        path.unlink(missing_ok=True)


def show(page: Path) -> None:
    """Open a file in a browser window, where this user has one: no browser that would take the terminal."""
    if sys.platform in ("win32", "darwin") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")):
        threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
