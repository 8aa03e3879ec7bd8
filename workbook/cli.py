"""Which commands does a reader have?

Everything a command needs is imported inside it: `workbook --help` has to answer at once.
"""

from __future__ import annotations

import os
import signal
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from workbook import commands
from workbook.commands import CommandError
from workbook.exercises.catalogue import ExerciseError, UnknownExercise
from workbook.exercises.say import program
from workbook.stopped import STOPPED, say_stopped

app = typer.Typer(
    name="workbook",
    help="Glass Torch: PyTorch, visible from the inside. Begin with: workbook read; then: workbook next",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help starts faster and reads well in a narrow terminal
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
dev = typer.Typer(help="Commands for authors of exercises.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(dev, name="dev")
GONE = "this folder no longer exists\n  cd to your clone, and run the command there"

Port = Annotated[
    int,
    typer.Option(help="Port to serve on; if it is in use, the next free one is taken.", min=0, max=65535),
]
Serve = Annotated[bool, typer.Option("--serve/--no-serve", help="Serve the book when it is built.")]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser window.")]
Name = Annotated[
    str | None,
    typer.Argument(metavar="EXERCISE", help="Its number (02.1), name or path; by default the one you are working on."),
]
CODES = """Exit codes: 0 passed; 1 not passed, or it could not be done; 2 the command line was not understood;
3 not started; 130 Ctrl-C. The answer runs for a limited time, in a copy of its folder, where it may not delete or
write elsewhere: a guard rail, not a jail. Check only answers whose author you trust."""


def show_version(wanted: bool) -> None:
    """Print the version and exit, if that was asked for."""
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
    """Hold the options of `workbook` itself; fails if the current folder no longer exists."""
    os.getcwd()


@app.command()
def read(port: Port = 8000, serve: Serve = True, browser: Browser = True) -> None:
    """Build the book, serve it on this machine and open it."""
    commands.read(port, serve=serve, browser=browser)


@app.command()
def study(port: Port = 8000, serve: Serve = True, browser: Browser = True) -> None:
    """Install what the book needs, then do what `read` does."""
    options = ("--serve" if serve else "--no-serve", "--browser" if browser else "--no-browser")
    commands.bootstrap("study", "--port", str(port), *options)


@app.command()
def site() -> None:
    """Build the book into site/."""
    commands.site()


@app.command()
def lab(
    path: Annotated[
        str | None, typer.Argument(help="A chapter, a notebook, or an exercise; by default chapter 00.")
    ] = None,
    answer: Annotated[bool, typer.Option("--answer", help="Open answer.py itself as a notebook.")] = False,
    browser: Browser = True,
) -> None:
    """Open chapters and lab sheets in JupyterLab, as notebooks."""
    from workbook.lab import open_lab

    open_lab(path, answer=answer, browser=browser)


# --- the exercises ---


@app.command()
def doctor() -> None:
    """Report what is missing here, and what that costs you."""
    from workbook.exercises.doctor import doctor

    raise typer.Exit(doctor(commands.root()))


@app.command("next")
def next_exercise() -> None:
    """Show which exercise comes next, and what to read for it."""
    from workbook.exercises import desk

    raise typer.Exit(desk.next_exercise(commands.root()))


@app.command()
def start(
    name: Annotated[
        str | None, typer.Argument(metavar="EXERCISE", help="Its number (02.1) or name; by default the next one.")
    ] = None,
) -> None:
    """Start an exercise: create your answer.py and lab sheet."""
    from workbook.exercises import desk

    raise typer.Exit(desk.start(commands.root(), name))


@app.command()
def predict(
    name: Annotated[
        str | None, typer.Argument(metavar="TOPIC", help="A chapter (04), topic (views) or section; by default all.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Ask those that were answered, too; their first answers stay on record.")
    ] = False,
) -> None:
    """Predict what cells of the book print, before you look."""
    from workbook.predictions import terminal

    raise typer.Exit(terminal.predict(commands.root(), name, again=again))


@app.command(epilog=CODES)
def check(
    name: Name = None,
    everything: Annotated[bool, typer.Option("--all", help="Check every exercise that you started or passed.")] = False,
    answer: Annotated[
        Path | None, typer.Option("--answer", help="Check this file instead of yours; nothing is recorded.")
    ] = None,
    limit: Annotated[float, typer.Option("--limit", min=0.1, help="Seconds that each rung may take.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON, for scripts.")] = False,
) -> None:
    """Check your answer: its tests, the lab sheet, the library."""
    from workbook.exercises import checking

    if everything and (name or answer or as_json):
        raise typer.BadParameter("--all takes no exercise, no --answer and no --json")
    if answer is not None and name is None:
        raise typer.BadParameter("--answer needs the exercise that the file answers")
    root = commands.root()
    commands.need("book", "pytest", "nbval", "ipykernel")
    if everything:
        raise typer.Exit(checking.check_all(root, limit))
    raise typer.Exit(checking.check(root, name, answer=answer, limit=limit, as_json=as_json))


@app.command()
def faulty(
    name: Name = None,
    program: Annotated[
        Path | None, typer.Argument(help="A program of yours; by default the exercise's symptom.py.")
    ] = None,
    mended: Annotated[bool, typer.Option("--mended", help="Run it with the function of your answer.py.")] = False,
) -> None:
    """Run a program on the library with the fault, in a repair."""
    from workbook.exercises import desk

    raise typer.Exit(desk.faulty(commands.root(), name, program, mended=mended))


@app.command()
def watch(name: Name = None) -> None:
    """Check your answer each time you save it."""
    from workbook.exercises.watch import watch

    root = commands.root()
    commands.need("book", "pytest", "nbval", "ipykernel")
    raise typer.Exit(watch(root, name))


@app.command()
def hint(
    name: Name = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Show all hints, from a nudge to nearly the answer.")
    ] = False,
    number: Annotated[
        int | None, typer.Option("--number", "-n", help="Show this hint, again or ahead of its turn.")
    ] = None,
) -> None:
    """Show the next hint."""
    from workbook.exercises import desk

    raise typer.Exit(desk.hint(commands.root(), name, number, everything=everything))


@app.command()
def solution(
    name: Name = None,
    anyway: Annotated[bool, typer.Option("--anyway", help="Show it even before you have passed.")] = False,
) -> None:
    """Show our solution, once you have passed."""
    from workbook.exercises import desk

    raise typer.Exit(desk.solution(commands.root(), name, anyway=anyway))


@app.command()
def source(
    name: Annotated[str, typer.Argument(help="view_strides, torch.add, aten::add.Tensor, or a file of the library.")],
    entry: Annotated[str | None, typer.Argument(help="What a table or a CUDA file says under this name.")] = None,
    anyway: Annotated[bool, typer.Option("--anyway", help="Show it even if an exercise asks for it.")] = False,
    paged: Annotated[bool, typer.Option("--open", help="Page through it with $PAGER.")] = False,
) -> None:
    """Show the source of a name: ours and PyTorch's."""
    from workbook.source import show_source

    raise typer.Exit(show_source(commands.root(), name, entry, anyway=anyway, paged=paged))


@app.command()
def reset(
    name: Name = None,
    sheet: Annotated[bool, typer.Option("--lab", help="Reset your lab sheet instead of your answer.")] = False,
) -> None:
    """Start over; a copy of what you wrote is kept."""
    from workbook.exercises import desk

    raise typer.Exit(desk.reset(commands.root(), name, sheet=sheet))


@app.command()
def progress(
    name: Annotated[
        str | None,
        typer.Argument(metavar="TOPIC", help="Show only this chapter (02), topic (views) or section."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON, for scripts.")] = False,
    imported: Annotated[
        Path | None, typer.Option("--import", metavar="FILE", help="Add the predictions that a page exported.")
    ] = None,
) -> None:
    """Show the exercises that you have passed, and your predictions."""
    if imported is not None:
        from workbook.predictions.importing import import_record

        raise typer.Exit(import_record(commands.root(), imported))
    from workbook.exercises.overview import progress

    raise typer.Exit(progress(commands.root(), name, as_json=as_json))


app.command("list", hidden=True)(progress)


@app.command()
def review(
    name: Annotated[
        str | None,
        typer.Argument(metavar="TOPIC", help="Ask only about this chapter (04), topic (views) or section."),
    ] = None,
    minutes: Annotated[int, typer.Option("--minutes", min=1, help="How long the sitting takes.")] = 10,
    most: Annotated[int | None, typer.Option("--count", min=1, help="Ask at most so many questions.")] = None,
    ahead: Annotated[bool, typer.Option("--ahead", help="Ask also what is not due yet.")] = False,
) -> None:
    """Answer from memory what you have learnt, when it is due."""
    root = commands.root()
    commands.need("book", "fsrs")
    from workbook.review.sitting import review

    raise typer.Exit(review(root, name, minutes=minutes, most=most, ahead=ahead))


# --- those who make the workbook ---


@dev.command("check")
def dev_check(
    names: Annotated[list[str] | None, typer.Argument(help="Exercises; by default all.")] = None,
) -> None:
    """Check the exercises themselves: stubs, solutions, wrong answers, files."""
    from workbook.exercises import dev

    raise typer.Exit(dev.check(names or []))


@dev.command("wrong")
def dev_wrong(
    exercise: Annotated[str, typer.Argument(help="The exercise, for example 02.1.")],
    answer: Annotated[str | None, typer.Argument(help="A wrong answer to edit, for example size_zero.")] = None,
) -> None:
    """Store wrong answers as differences from the solution, or write one out to be edited."""
    from workbook.exercises import dev

    raise typer.Exit(dev.wrong_answers(exercise, answer))


new = typer.Typer(help="Begin a section or an exercise, in its form.", no_args_is_help=True, rich_markup_mode=None)
dev.add_typer(new, name="new")


@new.command("section")
def dev_new_section(
    place: Annotated[str, typer.Argument(metavar="CHAPTER/NAME", help="For example 04-autograd/hooks.")],
    title: Annotated[str, typer.Argument(help="For example 'Hooks'.")],
) -> None:
    """Make the text of a section."""
    from workbook.new import new_section

    raise typer.Exit(new_section(commands.root(), place, title))


@new.command("exercise")
def dev_new_exercise(
    place: Annotated[str, typer.Argument(metavar="CHAPTER/NAME", help="For example 04-autograd/hooks.")],
    title: Annotated[str, typer.Argument(help="For example 'A hook that returns'.")],
    form: Annotated[str, typer.Option(help="write, repair, hunt, count or explain.")] = "write",
    section: Annotated[str | None, typer.Option(help="The section that leads to it.")] = None,
) -> None:
    """Make the files of an exercise."""
    from workbook.new import new_exercise

    raise typer.Exit(new_exercise(commands.root(), place, title, form, section))


@dev.command("manifest")
def dev_manifest(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if it would change.")] = False,
) -> None:
    """Rewrite the hashes of the shipped files."""
    from workbook.exercises import dev

    raise typer.Exit(dev.manifest(check=check))


@app.command("test")
def run_tests(
    everything: Annotated[bool, typer.Option("--all", help="Include what is left to CI and what takes long.")] = False,
) -> None:
    """Check style, types and generated code, and run the tests."""
    from workbook.checks import run_checks

    commands.need("test", "pytest", "xdist", "nbval", "ruff", "mypy")
    raise typer.Exit(run_checks(commands.root(), everything=everything))


@app.command()
def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Measure only these; of them, `book` is kept. Without names, everything is."),
    ] = None,
) -> None:
    """Run the benchmarks, and put the numbers that were kept into README.md."""
    commands.bench(names or [])


@app.command()
def gen(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if something would change.")] = False,
) -> None:
    """Regenerate the generated code from the tables."""
    commands.need("test", "yaml")
    commands.module("glasstorch.operators.gen", *(["--check"] if check else []))


@app.command()
def notebooks(
    paths: Annotated[list[Path] | None, typer.Argument(help="Sections (.md) or folders; by default all.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if a notebook would change.")] = False,
) -> None:
    """Execute the chapters and write their notebooks."""
    commands.need("book", "jupytext", "nbclient")
    commands.module("workbook.book.notebooks", *(["--check"] if check else []), *map(str, paths or []))


def main() -> int:
    """Run the command line. Returns the exit code."""
    prepare()
    if is_nowhere():  # first: without a current folder, some packages fail to load, each in its own way
        return fail(GONE, 1)
    try:
        app()
    except CommandError as error:
        return fail(error, 1)
    except UnknownExercise as error:
        return fail(error, 2)
    except ExerciseError as error:
        return fail(error, 1)
    except OSError as error:
        if is_nowhere():
            return fail(GONE, 1)
        return fail(f"the system refused: {error}\n  what is missing here: {program()} doctor", 1)
    except SystemExit as end:
        if end.code == STOPPED:
            return say_stopped()
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def is_nowhere() -> bool:
    """Whether the current folder was deleted, so that no relative path can be resolved."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def fail(error: Exception | str, code: int) -> int:
    """Print what went wrong. Returns the exit code."""
    print(f"workbook: {error}", file=sys.stderr)
    return code


def prepare() -> None:
    """Replace characters that the terminal cannot show, and see to it that an interrupt ends the command.

    What a shell without job control starts in the background ignores interrupts, and so does what that starts: the
    checks of a page whose server runs there. Windows has Ctrl-Break for a process in a group of its own.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.platform == "win32":
        signal.signal(signal.SIGBREAK, signal.default_int_handler)
