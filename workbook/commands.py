"""What do the commands of `workbook` do that have no module of their own?"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import typer

from workbook import targets
from workbook.progress import Progress

NEXT = """
What to do next
  1. Begin with chapter 00 in the browser window that opens. There the cells of a page can be run and changed.
     If none opens, open {door}
     (the file holds the key without which no page may run code; only you can read it)
  2. Work on sections as notebooks: in a second terminal, `make lab`.
  3. Write a piece of the library: {next} names the first exercise.
  4. See that everything holds: `make test`.
Ctrl-C stops the server. The built pages stay in {site}.
"""
MOVED = """Port {wanted} is in use, maybe by this book in another terminal; the book is at port {port} instead.
A browser keeps for each port: cells that you edited, answers that you typed and did not save, the place where you were.
Those of port {wanted} come back when the book is there again. Recorded predictions, saved answers and your progress are
files of this clone: they are the same at every port."""


class CommandError(Exception):
    """A command cannot do what was asked. The message says why, and what to do."""


def root() -> Path:
    """The clone to work on: the one that the command belongs to, or else the one that contains the current folder."""
    from workbook.book.errors import BookError
    from workbook.book.project import project_root

    try:
        return project_root()
    except BookError:
        try:
            return project_root(Path.cwd())
        except BookError as error:
            raise CommandError(str(error)) from error


def build(folder: Path) -> Path:
    """Build the book; returns the folder with its pages."""
    from workbook.book.build import build_site
    from workbook.book.errors import BookError

    try:
        with Progress("Building the book"):
            return build_site(folder)
    except BookError as error:
        raise CommandError(str(error)) from error


def need(extra: str, *packages: str) -> None:
    """Raise unless all these packages of an extra are installed."""
    for package in packages:
        if find_spec(package) is None:
            from workbook.exercises.say import installation

            remedy = f"run `make {'test' if extra == 'test' else 'study'}`, or: {installation(extra)}"
            raise CommandError(f"the package {package!r} is not installed\n  {remedy}")


def site() -> None:
    """Build the book and print where it is."""
    print(f"The book is in {build(root()) / 'index.html'}")


def read(port: int, *, serve: bool, browser: bool = True) -> None:
    """Build the book, serve it, open it in the browser, and print what to do next. Returns when Ctrl-C is pressed."""
    folder = root()
    need("book", "tornado", "jupyter_server")
    from workbook.exercises.say import command
    from workbook.live.opening import opened, show
    from workbook.serve import bind

    pages = build(folder)
    if not serve:
        print(f"The book is in {pages / 'index.html'}")
        return
    with bind(pages, port, folder) as server, opened(folder, server.address, server.key) as door:
        if port not in (0, server.port):
            print(MOVED.format(wanted=port, port=server.port))
        print(
            f"\nThe book is at {server.address}\n{NEXT.format(door=door.as_uri(), site=pages, next=command('next'))}",
            flush=True,
        )
        if browser:
            show(door)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("\nStopped. `make study` brings the book back.")


def bootstrap(*arguments: str) -> NoReturn:
    """Run the installer of this clone, then the command for which it installed."""
    finish([str(root() / "workbook" / "bootstrap.py"), *arguments])


def module(name: str, *arguments: str) -> NoReturn:
    """Run a module of the project as `python -m` does, in the clone's top folder, to which the printed paths refer."""
    finish(["-m", name, *arguments])


def finish(arguments: list[str], environment: Mapping[str, str] | None = None) -> NoReturn:
    """Run Python with these arguments in place of this process, and exit with its exit code."""
    raise typer.Exit(targets.hand_over([sys.executable, *arguments], environment or clean_environment()))


def clean_environment() -> dict[str, str]:
    """The environment of the processes that the command starts."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def bench(names: Sequence[str] = ()) -> None:
    """Run the benchmarks, or those of these names, show what they print, and put what was kept into README.md."""
    from workbook.readme_table import TableError, replace_in

    folder = root()

    def run(arguments: Sequence[str], *, show: bool = False) -> str:
        command = [sys.executable, "-m", "benchmarks", *arguments]
        options: dict[str, Any] = {"stdout": subprocess.PIPE, "text": True, "encoding": "utf-8"}
        done = subprocess.run(command, cwd=folder, env=clean_environment(), check=False, **options)
        if show:
            print(done.stdout, end="")
        if done.returncode != 0:
            raise CommandError(f"the benchmarks ended with exit code {done.returncode}; README.md is unchanged")
        return str(done.stdout)

    run(names, show=True)
    try:
        changed = replace_in(folder / "README.md", run(["kept"]))
    except TableError as error:
        raise CommandError(str(error)) from error
    if not changed:
        print("\nThe table in README.md is unchanged.\nRuns of everything, and of `book`, are kept; others are not.")
        return
    from workbook.exercises.say import command

    print("\nThe table in README.md was replaced.")
    print(f"Sections quote the measurement: run {command('notebooks')}, and read the differences.")
