"""What does somebody get who attacks the server of the book: a page of the web, or another user of this machine?"""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.ioloop import IOLoop
from tornado.websocket import websocket_connect

from workbook.live.gate import PREFIX, QUOTES
from workbook.live.opening import opened
from workbook.serve import Server, bind, in_background

pytestmark = pytest.mark.ci
ROOT = Path(__file__).resolve().parents[3]
KERNELS = f"{PREFIX}/api/kernels"
SERVING = """
import sys, threading
from pathlib import Path
from workbook.live.opening import opened
from workbook.serve import bind

root = Path(sys.argv[1])
with bind(root, 0) as server, opened(root, server.address, server.key):
    threading.Thread(target=lambda: (server.begun.wait(), print("begun", flush=True))).start()
    server.serve_forever()
"""


class Answer(NamedTuple):
    status: int
    headers: str
    body: str


class Served(NamedTuple):
    server: Server
    root: Path
    door: Path

    def ask(self, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> Answer:
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        request = urllib.request.Request(self.server.address + path, body, named, method=method)
        try:
            with urllib.request.urlopen(request, timeout=300) as answer:
                return Answer(answer.status, str(answer.headers), answer.read().decode())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, str(error.headers), error.read().decode())

    @property
    def with_key(self) -> dict[str, str]:
        return {"Authorization": f"token {self.server.key}", "Origin": self.server.address}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A small book, served with its kernels."""
    root = tmp_path_factory.mktemp("clone")
    for place in ("chapters/00-start", "exercises", "site"):
        (root / place).mkdir(parents=True)
    for page in ("index.html", "404.html", "a.js"):
        (root / "site" / page).write_text(page)
    server = bind(root / "site", 0, root)
    with in_background(server), opened(root, server.address, server.key) as door:
        yield Served(server, root, door)


@pytest.fixture(scope="module")
def kernel(served: Served) -> str:
    """A kernel that the reader's page has started."""
    answer = served.ask(KERNELS, "POST", b'{"path": "00-start"}', **served.with_key)
    assert answer.status == 201, answer
    return str(json.loads(answer.body)["id"])


def handshake(served: Served, kernel: str, key: str, **headers: str) -> int:
    """The status with which a WebSocket to a kernel is answered."""
    address = f"{served.server.address.replace('http', 'ws')}{KERNELS}/{kernel}/channels"
    request = HTTPRequest(address, headers={name.replace("_", "-"): text for name, text in headers.items()})

    async def connect() -> int:
        try:
            connection = await websocket_connect(request, subprotocols=["page", f"key.{key}"])
        except HTTPClientError as error:
            return error.code
        connection.close()
        return 101

    return int(IOLoop(make_current=False).run_sync(connect))


def test_a_page_of_the_web_that_has_the_key_starts_nothing(served: Served) -> None:
    before = len(served.server.routes.started().manager.list_kernel_ids())
    for origin in ("http://evil.example", "null", served.server.address.replace("127.0.0.1", "127.0.0.2")):
        answer = served.ask(KERNELS, "POST", b"{}", **served.with_key | {"Origin": origin})
        assert (answer.status, "Access-Control-Allow-Origin" in answer.headers) == (403, False)
    assert len(served.server.routes.started().manager.list_kernel_ids()) == before


def test_a_web_socket_of_another_page_is_refused_with_the_key_and_ours_without(served: Served, kernel: str) -> None:
    key, ours = served.server.key, served.server.address
    assert handshake(served, kernel, key, Origin=ours) == 101
    assert handshake(served, kernel, key, Origin="http://evil.example") == 403
    assert handshake(served, kernel, key, Origin=ours, Host="evil.example") == 403
    assert handshake(served, kernel, "x" * len(key), Origin=ours) == 403


def test_a_name_that_was_bound_to_this_machine_is_refused(served: Served) -> None:
    host = f"evil.example:{served.server.port}"
    answer = served.ask(KERNELS, "POST", b"{}", **served.with_key | {"Host": host, "Origin": f"http://{host}"})
    assert answer.status == 403


@pytest.mark.parametrize(
    "path",
    [
        "/api/kernels", "/api/contents", "/tree", "/lab", "/login?next=/", "/terminals/1", "/files/index.md",
        f"{PREFIX}/", f"{PREFIX}/tree", f"{PREFIX}/login", f"{PREFIX}/api/contents/index.md", f"{PREFIX}/api/terminals",
        f"{PREFIX}/api/sessions", f"{PREFIX}/api/config/x", f"{PREFIX}/api/status", f"{PREFIX}/api/shutdown",
        f"{PREFIX}/files/README.md", f"{PREFIX}/static/x.js", "/../README.md", "/%2e%2e/exercises/", "/.cache/live/",
    ],
)  # fmt: skip
def test_a_guessed_path_gives_nothing(served: Served, path: str) -> None:
    for method, body in (("GET", None), ("POST", b"{}")):
        assert served.ask(path, method, body, **served.with_key).status in (403, 404, 405)
        assert served.ask(path, method, body).status in (403, 404, 405)


def test_what_exercises_ask_for_is_told_to_nobody_without_the_key(served: Served) -> None:
    place = f"{QUOTES}/nn/modules/calling.py"
    assert served.ask(place, **served.with_key).status == 200
    wrong = {"Authorization": f"token {'x' * len(served.server.key)}"}
    for headers in ({}, wrong, served.with_key | {"Origin": "http://evil.example"}, served.with_key | {"Host": "evil"}):
        answer = served.ask(place, **headers)
        assert answer.status == 403
        assert "glasstorch" not in answer.body
    for path in ("../pyproject.toml", "%2e%2e/serve.py", "core/nothing.py", "core/keys.py/../../x.py", "etc/passwd"):
        assert served.ask(f"{QUOTES}/{path}", **served.with_key).status == 404


def test_a_form_of_another_site_starts_nothing(served: Served) -> None:
    before = served.server.routes.started().manager.list_kernel_ids()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        headers = {"Content-Type": kind, "Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}
        assert served.ask(KERNELS, "POST", b"{}", **headers).status in (400, 403)
    assert served.server.routes.started().manager.list_kernel_ids() == before


def test_no_page_is_shown_inside_one_of_another_site_where_a_click_would_run_it(served: Served) -> None:
    for path in ("/", "/index.html"):
        assert "X-Frame-Options: SAMEORIGIN" in served.ask(path).headers


def test_another_user_of_this_machine_finds_the_key_nowhere(
    served: Served, kernel: str, capfd: pytest.CaptureFixture[str]
) -> None:
    key = served.server.key
    served.ask(KERNELS, "POST", b"not json", **served.with_key)
    for path in ("/", "/a.js", "/404.html", "/missing", "/workbook/predictions", KERNELS, f"{KERNELS}/{kernel}"):
        answer = served.ask(path)
        assert key not in answer.headers + answer.body
        assert "Set-Cookie" not in answer.headers
    assert "Set-Cookie" not in served.ask(f"{KERNELS}/{kernel}", **served.with_key).headers
    assert capfd.readouterr() == ("", "")
    if sys.platform == "linux":  # what others may read of each process
        commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
        assert not any(key.encode() in command for command in commands)
    holders = [path for path in served.root.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
    assert holders == [served.door]
    if sys.platform != "win32":
        assert stat.S_IMODE(served.door.stat().st_mode) == 0o600


def test_the_door_is_closed_when_the_server_ends(tmp_path: Path) -> None:
    with opened(tmp_path, "http://127.0.0.1:1", "secret") as door:
        assert "http://127.0.0.1:1/index.html#key=secret" in door.read_text()
    assert not door.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_the_door_is_closed_when_the_terminal_is(tmp_path: Path, name: str) -> None:
    command = [sys.executable, "-c", SERVING, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        assert len(list((tmp_path / ".cache" / "live").iterdir())) == 1
        process.send_signal(getattr(signal, name))
        assert process.wait() == 0
    assert list((tmp_path / ".cache" / "live").iterdir()) == []
