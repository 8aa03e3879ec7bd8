"""Does a page get a kernel that works like that of the notebooks, and not more than there should be?"""

from __future__ import annotations

import asyncio
import json
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jupyter_client.connect
import pytest
import zmq
from tornado.httpclient import HTTPRequest
from tornado.ioloop import IOLoop
from tornado.websocket import websocket_connect

from tests.workbook.live.test_attacks import KERNELS, Served
from workbook.live.kernels import FULL, IDLE, MOST, folder_of_sockets
from workbook.live.opening import opened
from workbook.serve import bind, in_background

pytestmark = pytest.mark.ci
ROOT = Path(__file__).parents[3]


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A small book, on a machine whose reader has settings for Jupyter and a kernel of the same name."""
    settings = tmp_path / "jupyter"
    (settings / "kernels" / "python3").mkdir(parents=True)
    (settings / "kernels" / "python3" / "kernel.json").write_text('{"argv": ["false"], "display_name": "x"}')
    (settings / "jupyter_server_config.py").write_text("raise SystemExit('settings were read')")
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_PATH"):
        monkeypatch.setenv(name, str(settings))
    root = tmp_path / "clone"
    for place in ("chapters/00-start", "site"):
        (root / place).mkdir(parents=True)
    server = bind(root / "site", 0, root)
    with in_background(server), opened(root, server.address, server.key) as door:
        yield Served(server, root, door)


def started(served: Served) -> str:
    answer = served.ask(KERNELS, "POST", b'{"name": "python3", "path": "00-start"}', **served.with_key)
    assert answer.status == 201, answer.body
    return str(json.loads(answer.body)["id"])


def printed(served: Served, kernel: str, code: str, *, until_it_ends: bool = True) -> str:
    """What code prints in a kernel, over the WebSocket of a page."""
    address = f"{served.server.address.replace('http', 'ws')}{KERNELS}/{kernel}/channels"
    header = {"msg_id": "1", "msg_type": "execute_request", "session": "s", "username": "", "version": "5.4"}
    content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
    message = {"channel": "shell", "header": header, "parent_header": {}, "metadata": {}, "content": content}

    async def talk() -> str:
        request = HTTPRequest(address, headers={"Origin": served.server.address})
        connection = await websocket_connect(request, subprotocols=["page", f"key.{served.server.key}"])
        assert connection.selected_subprotocol == "page"
        await connection.write_message(json.dumps(message))
        text, missing = "", {"execute_reply", "idle"}
        while missing:
            received: Any = json.loads(await connection.read_message() or "{}")
            if received["parent_header"].get("msg_id") != "1":
                continue
            text += received["content"].get("text", "")
            if text and not until_it_ends:
                break
            missing -= {received["msg_type"], received["content"].get("execution_state")}
        connection.close()
        return text

    return str(IOLoop(make_current=False).run_sync(talk))


def begin(served: Served, kernel: str, code: str) -> None:
    """Run code in a kernel, and close its page once it has printed something."""
    printed(served, kernel, code, until_it_ends=False)


def test_a_kernel_works_beside_the_readers_copies_with_our_packages(served: Served) -> None:
    kernel = started(served)
    code = "import os, sys, glasstorch; print(os.path.basename(os.getcwd()), sys.flags.dont_write_bytecode)"
    assert printed(served, kernel, code) == "00-start 0\n"
    assert (served.root / "notebooks" / "00-start").is_dir()


def test_the_fifth_kernel_takes_the_place_of_one_that_no_page_uses(served: Served) -> None:
    first, *others = [started(served) for _ in range(MOST)]
    kernels = served.server.routes.started()
    for one in (first, *others):  # all have begun, and `first` was used before the others
        printed(served, one, "1")
    while any(each["connections"] for each in kernels.manager.list_kernels()):
        time.sleep(0.02)
    fifth = started(served)
    while first in kernels.manager.list_kernel_ids():
        time.sleep(0.05)
    assert set(kernels.manager.list_kernel_ids()) == {*others, fifth}


def test_of_six_that_are_asked_for_at_once_four_start(served: Served) -> None:
    def status() -> tuple[int, str]:
        answer = served.ask(KERNELS, "POST", b'{"name": "python3", "path": "00-start"}', **served.with_key)
        return answer.status, json.loads(answer.body).get("message", "")

    with ThreadPoolExecutor() as pool:
        asked = [pool.submit(status) for _ in range(MOST + 2)]
    assert sorted(each.result() for each in asked) == [(201, "")] * MOST + [(503, FULL)] * 2
    assert len(served.server.routes.started().manager.list_kernel_ids()) == MOST


def test_what_the_first_cell_waits_for_holds_no_parser_of_addresses() -> None:
    program = "from workbook import serve; serve.load_kernels(); import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "jsonschema._format" in loaded
    assert "rfc3987_syntax.syntax_helpers" not in loaded


@contextmanager
def about_to_answer(served: Served, monkeypatch: pytest.MonkeyPatch) -> Iterator[Future[str]]:
    """A kernel that is known, while the page that asked for it has no answer yet."""
    manager = served.server.routes.started().manager
    begun, go_on = threading.Event(), threading.Event()
    finish = manager._finish_kernel_start

    async def later(kernel_id: str) -> None:
        monkeypatch.undo()
        begun.set()
        while not go_on.is_set():
            await asyncio.sleep(0.01)
        await finish(kernel_id)

    monkeypatch.setattr(manager, "_finish_kernel_start", later)
    with ThreadPoolExecutor() as pool:
        kernel = pool.submit(started, served)
        try:
            assert begun.wait(timeout=300)
            yield kernel
        finally:
            go_on.set()


def test_a_kernel_that_is_about_to_answer_takes_one_place(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    manager = served.server.routes.started().manager
    for _ in range(MOST - 2):
        started(served)
    with about_to_answer(served, monkeypatch) as third:
        last = started(served)
    assert {third.result(), last} < set(manager.list_kernel_ids())
    assert len(manager.list_kernel_ids()) == MOST  # none was ended for the last one


def test_a_kernel_that_is_about_to_answer_is_not_ended_for_another(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager = served.server.routes.started().manager
    for _ in range(MOST - 1):
        manager.notify_connect(started(served))
    with about_to_answer(served, monkeypatch) as fourth:
        answer = served.ask(KERNELS, "POST", b"{}", **served.with_key)
    assert (answer.status, json.loads(answer.body)["message"]) == (503, FULL)
    assert fourth.result() in manager.list_kernel_ids()


def test_one_place_is_given_away_once_and_none_that_a_page_uses(served: Served) -> None:
    manager = served.server.routes.started().manager
    for _ in range(MOST - 1):
        manager.notify_connect(started(served))
    left = started(served)
    with ThreadPoolExecutor() as pool:  # both ask for the place of the one that is left
        asked = [pool.submit(served.ask, KERNELS, "POST", b"{}", **served.with_key) for _ in range(2)]
    assert sorted(each.result().status for each in asked) == [201, 503]
    assert len(manager.list_kernel_ids()) == MOST
    assert left not in manager.list_kernel_ids()
    (new,) = [each["id"] for each in manager.list_kernels() if not each["connections"]]
    manager.notify_connect(new)
    answer = served.ask(KERNELS, "POST", b'{"name": "python3", "path": "00-start"}', **served.with_key)
    assert (answer.status, json.loads(answer.body)["message"]) == (503, FULL)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such sockets")
def test_no_other_user_of_this_machine_reaches_a_kernel(tmp_path: Path) -> None:
    root = tmp_path / ("deep" * 40) / "a clone"  # longer than the path of a socket may be
    (root / "site").mkdir(parents=True)
    server = bind(root / "site", 0, root)
    with in_background(server):
        served = Served(server, root, root)
        kernel = started(served)
        assert printed(served, kernel, "print('reached')") == "reached\n"
        (facts,) = (json.loads(path.read_text()) for path in (root / ".cache" / "live").glob("kernel-*.json"))
        folder = Path(facts["ip"]).parent
        assert (facts["transport"], stat.S_IMODE(folder.stat().st_mode)) == ("ipc", 0o700)
        assert len(list(folder.iterdir())) == 5
        assert all(stat.S_ISSOCK(path.stat().st_mode) for path in folder.iterdir())
    assert not folder.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such sockets")
def test_where_no_short_path_is_left_a_kernel_is_reached_through_ports(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ("deep" * 40)).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / ("deep" * 40)))
    folder = folder_of_sockets()
    assert folder is not None
    assert Path(folder.name).parent == Path("/tmp")
    folder.cleanup()
    monkeypatch.setattr(zmq, "IPC_PATH_MAX_LEN", 8)
    assert folder_of_sockets() is None
    assert list(Path(tempfile.tempdir).iterdir()) == []
    assert printed(served, started(served), "print('reached')") == "reached\n"
    assert served.server.routes.started().manager.sockets is None


def test_a_kernel_that_nobody_uses_is_ended(served: Served) -> None:
    manager = served.server.routes.started().manager
    assert (manager.cull_idle_timeout, manager.cull_connected) == (IDLE, True)


def test_a_cell_whose_page_was_closed_is_interrupted_and_a_deaf_one_is_ended(served: Served) -> None:
    manager = served.server.routes.started().manager
    loop = served.server.loop
    assert loop is not None

    def look() -> None:
        asyncio.run_coroutine_threadsafe(manager.cull_kernels(), loop).result()

    def states() -> dict[str, str]:
        return {each["id"]: each["execution_state"] for each in manager.list_kernels()}

    def until(kernel: str, state: str | None) -> None:
        while states().get(kernel) != state:
            time.sleep(0.02)

    left, deaf = started(served), started(served)
    # It does not print without a pause: then messages are dropped, and the one that it is idle may be among them.
    steadily = "while True:\n    print('and on')\n    time.sleep(0.05)"
    begin(served, left, f"import time\nkept = 1\nprint('begun')\n{steadily}")
    begin(served, deaf, "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('begun')\nwhile True: pass")
    until(left, "busy")
    until(deaf, "busy")
    while any(each["connections"] for each in manager.list_kernels()):  # a closed page is noticed a moment later
        time.sleep(0.02)
    look()
    assert set(states()) == {left, deaf}
    look()
    until(left, "idle")
    look()
    until(deaf, None)
    assert printed(served, left, "print(kept)") == "1\n"  # what it held is there for a page that comes back


def test_a_full_disk_is_told_and_the_other_kernels_still_end(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    manager = served.server.routes.started().manager
    other = started(served)
    process = manager.get_kernel(other).provisioner.process
    with monkeypatch.context() as patched:
        patched.setattr(jupyter_client.connect, "write_connection_file", full)
        answer = served.ask(KERNELS, "POST", b'{"name": "python3", "path": "00-start"}', **served.with_key)
    assert answer.status == 507
    assert json.loads(answer.body)["message"].startswith("No kernel could be started: No space left on device.")
    assert manager.list_kernel_ids() == [other]
    served.server.shutdown()
    assert process.wait(timeout=300) is not None


def test_a_machine_on_which_no_kernel_can_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "notebooks").write_text("in the way")
    server = bind(tmp_path / "site", 0, tmp_path)
    with in_background(server):
        served = Served(server, tmp_path, tmp_path)
        answer = served.ask(KERNELS, "POST", b"{}", **served.with_key)
    assert answer.status == 500
    assert "No kernel can be started on this machine: " in json.loads(answer.body)["error"]


def test_all_kernels_end_with_the_server(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    server = bind(tmp_path / "site", 0, tmp_path)
    with in_background(server):
        started(Served(server, tmp_path, tmp_path))
        manager = server.routes.started().manager
        (provisioner,) = [manager.get_kernel(each).provisioner for each in manager.list_kernel_ids()]
        process = provisioner.process
    assert process.wait(timeout=300) is not None
