"""Is the built book shown on this machine, also where the port is in use?"""

from __future__ import annotations

import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from workbook.serve import HOST, bind, in_background


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    (tmp_path / "index.html").write_text("<h1>Home</h1>")
    (tmp_path / "404.html").write_text("<h1>No such page</h1>")
    (tmp_path / "script.js").write_text("1")
    (tmp_path / "chapter").mkdir()
    (tmp_path / "chapter" / "index.html").write_text("<h1>Chapter</h1>")
    return tmp_path


@contextmanager
def served(folder: Path) -> Iterator[str]:
    with in_background(bind(folder, 0)) as address:
        yield address.rstrip("/")


def get(address: str) -> tuple[int, str, dict[str, str]]:
    try:
        with urllib.request.urlopen(address, timeout=300) as answer:
            return answer.status, answer.read().decode(), dict(answer.headers)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), dict(error.headers)


def test_pages_are_served_quietly(pages: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with served(pages) as address:
        assert get(f"{address}/")[:2] == (200, "<h1>Home</h1>")
        assert get(f"{address}/chapter/")[:2] == (200, "<h1>Chapter</h1>")
        assert get(f"{address}/script.js")[2]["Content-Type"] == "text/javascript"
        assert get(f"{address}/")[2]["Cache-Control"] == "no-cache"
    assert capfd.readouterr() == ("", "")


def test_a_page_that_is_not_there_gets_the_books_answer(pages: Path) -> None:
    with served(pages) as address:
        assert get(f"{address}/missing/")[:2] == (404, "<h1>No such page</h1>")
        (pages / "404.html").unlink()
        assert get(f"{address}/missing/")[0] == 404


def test_nothing_outside_the_folder_is_served(pages: Path) -> None:
    with served(pages / "chapter") as address:
        assert get(f"{address}/../404.html")[0] == 404
        assert get(f"{address}/%2e%2e/404.html")[0] == 404


@contextmanager
def in_use(count: int) -> Iterator[int]:
    """The first of `count` neighbouring ports that are all in use."""
    while True:
        holders: list[socket.socket] = []
        try:
            for offset in range(count):
                holder = socket.socket()
                holders.append(holder)
                holder.bind((HOST, holders[0].getsockname()[1] + offset if offset else 0))
                holder.listen()
        except (OSError, OverflowError):
            continue
        else:
            yield holders[0].getsockname()[1]
            return
        finally:
            for holder in holders:
                holder.close()


@pytest.mark.parametrize("count", [1, 3])
def test_a_port_in_use_gives_the_next_free_one(pages: Path, count: int) -> None:
    with in_use(count) as port, bind(pages, port) as server:
        assert port + count <= server.port < port + count + 10


def test_the_last_port_in_use_gives_any_other(pages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    create = socket.create_server

    def refusing(address: tuple[str, int]) -> socket.socket:
        asked.append(address[1])
        if address[1] != 0:
            raise OSError(98, "Address already in use")
        return create(address)

    monkeypatch.setattr(socket, "create_server", refusing)
    monkeypatch.setattr("errno.EADDRINUSE", 98)
    with bind(pages, 65535) as server:
        assert server.port > 0
    assert asked == [65535, 0]


def test_a_rebuilt_page_is_seen_at_once_and_an_old_one_is_not_sent_again(pages: Path) -> None:
    with served(pages) as address:
        tag = get(f"{address}/")[2]["Etag"]
        again = urllib.request.Request(f"{address}/", headers={"If-None-Match": tag})
        with pytest.raises(urllib.error.HTTPError, match="304"):
            urllib.request.urlopen(again, timeout=300)
        (pages / "index.html").write_text("<h1>New!</h1>")
        assert get(f"{address}/")[1] == "<h1>New!</h1>"
        with urllib.request.urlopen(again, timeout=300) as answer:
            assert answer.read() == b"<h1>New!</h1>"


def test_only_this_machine_is_answered(pages: Path) -> None:
    with bind(pages, 0) as server:
        assert server.listening.getsockname()[0] == "127.0.0.1"
