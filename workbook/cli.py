"""Which commands does a reader have?

Everything a command needs is imported inside it: `workbook --help` has to answer at once.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from workbook import commands
from workbook.commands import CommandError

app = typer.Typer(
    name="workbook",
    help="Glass Torch: PyTorch, visible from the inside. Begin with: workbook read",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help starts faster and reads well in a narrow terminal
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Port = Annotated[
    int,
    typer.Option(help="Port to serve at; the next free one is taken where it is in use.", min=0, max=65535),
]
Serve = Annotated[bool, typer.Option("--serve/--no-serve", help="Serve the book when it is built.")]


def show_version(wanted: bool) -> None:
    """Print the version and end, if that was asked for."""
    if wanted:
        from importlib.metadata import version

        print(f"glasstorch {version('glasstorch')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Hold the options of `workbook` itself."""


@app.command()
def read(port: Port = 8000, serve: Serve = True) -> None:
    """Build the book and serve it on this machine."""
    commands.read(port, serve=serve)


@app.command()
def study(port: Port = 8000, serve: Serve = True) -> None:
    """Install what the book needs, then do what `read` does."""
    commands.bootstrap("study", "--port", str(port), "--serve" if serve else "--no-serve")


@app.command()
def site() -> None:
    """Build the book into site/."""
    commands.site()


@app.command()
def lab(
    path: Annotated[Path | None, typer.Argument(help="What to open first; chapter 00 if left out.")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser window.")] = True,
) -> None:
    """Open the chapters in JupyterLab, the text ones as notebooks."""
    from workbook.lab import open_lab

    open_lab(path, browser=browser)


@app.command("test")
def run_tests(
    everything: Annotated[bool, typer.Option("--all", help="With the tests that take long.")] = False,
) -> None:
    """Run what CI runs: style, types, generated code, tests."""
    from workbook.checks import run_checks

    commands.need("test", "pytest", "xdist", "nbval", "ruff", "mypy")
    raise typer.Exit(run_checks(commands.root(), everything=everything))


@app.command()
def bench() -> None:
    """Measure, print the table, and put it into README.md."""
    commands.bench()


@app.command()
def gen(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if something would change.")] = False,
) -> None:
    """Write the generated code again from the tables."""
    commands.need("test", "yaml")
    commands.module("glasstorch.operators.gen", *(["--check"] if check else []))


@app.command()
def notebooks(
    paths: Annotated[list[Path] | None, typer.Argument(help="Sections (.md) or folders; all if left out.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if a notebook would change.")] = False,
) -> None:
    """Execute the chapters and write their notebooks."""
    commands.need("book", "jupytext", "nbclient")
    commands.module("workbook.book.notebooks", *(["--check"] if check else []), *map(str, paths or []))


def main() -> int:
    """Run the command line. Returns the exit code."""
    try:
        app()
    except CommandError as error:
        print(f"workbook: {error}", file=sys.stderr)
        return 1
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
