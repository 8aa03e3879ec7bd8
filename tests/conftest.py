"""What holds for every test: which are left out, in which order files run, and that no tool is missing in CI.

Where torch is not installed, the tests that compare with it are left out and counted. A test whose tool is missing
(chromium, node, the network) skips with a reason: a reader need not have it. With `CI=true` nothing is left out for a
missing tool, and a skip is a failure, decided here once, whichever way the test skipped. A test that needs what no
installation can give (a GPU) is marked instead, and not selected; so is what `make test` leaves to CI.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import inspect
import os
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

IN_CI = os.environ.get("CI", "").lower() == "true"
COMPILERS = ("g++", "clang++")  # one of them is enough to simulate a CUDA device
JUDGING = ("tests/exercises/", "tests/workbook/exercises/")  # the tests of exercises, and of what judges them
FAILED_STEPS = "GLASSTORCH_FAILED_STEPS"  # written by workbook/checks.py


@pytest.fixture(scope="session")
def require() -> Callable[[str], Any]:
    """Gives a module (`require("torch")`) or a program's path; skips the test where it is missing."""
    return _required


@pytest.fixture(params=["glasstorch", "torch"])
def torch(request: pytest.FixtureRequest, require: Callable[[str], Any]) -> Any:
    """The library under test: ours and, where it is installed, PyTorch.

    A test that passes on both states a fact about PyTorch that glasstorch has too. What is true of ours alone asks for
    no `torch` and imports glasstorch by name.
    """
    return require(request.param)


def _required(name: str) -> Any:
    if path := shutil.which(name):
        return path
    try:
        return importlib.import_module(name)
    except ImportError:
        pytest.skip(f"{name} is not installed")


@pytest.fixture(autouse=True, scope="module")
def _each_file_by_itself() -> Iterator[None]:
    """The tests of a file draw the same random numbers in each run: unseeded, the library draws others in each.

    Afterwards the library's pool keeps nothing: half a gigabyte in each of several workers is much for small machines.
    And the limit of recursion is as it was: with a high one, what should end with RecursionError takes all memory.
    """
    limit = sys.getrecursionlimit()
    distribution = _distribution_of_torch()
    checked = None if distribution is None else distribution._validate_args
    if (glasstorch := sys.modules.get("glasstorch")) is not None:
        glasstorch.manual_seed(67280421310721)
    yield
    if (allocator := sys.modules.get("glasstorch.core.allocator")) is not None:
        allocator.cpu_allocator.empty_cache()
    sys.setrecursionlimit(limit)
    if (distribution := _distribution_of_torch()) is not None:  # torch.compile ends its checks for the whole process
        distribution._validate_args = __debug__ if checked is None else checked


def _distribution_of_torch() -> Any:
    torch = sys.modules.get("torch")
    return getattr(getattr(torch, "distributions", None), "Distribution", None)


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., Path]:
    """Writes a program, given its text, and returns its path."""

    def write(text: str, name: str = "program.py") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write


# Which tests run, and in which order ----------------------------------------------------------------------------------

COMPARE = "tests compare with torch and were left out; CI runs them"
WHAT_CI_RUNS = (
    "browsers, the wheel, notebooks built again, installations, exercises judged, derived gradients, "
    "programs of all operators, the plain kernels"
)
LEFT_TO_CI = f"tests were left to CI ({WHAT_CI_RUNS}); `make test-all` runs them too"
# The files that take the longest, one a line. A worker that is given one of them last works on alone.
HERE = Path(__file__).parent
HEAVIEST_FIRST = HERE / "heaviest_first.txt"
left_out = pytest.StashKey[Counter[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Begin to count what is left out, unless only the book is installed; let Ctrl-C through to what tests start."""
    settings = config.inipath is not None and config.inipath.name == "pyproject.toml"  # with a limit of time
    # It has another name where checks.py loads it.
    if settings and not any(map(config.pluginmanager.hasplugin, ("timeout", "pytest_timeout"))):
        python = os.path.relpath(sys.executable)
        raise pytest.UsageError(
            "the tests need pytest-timeout, which is not installed (`make study` installs what the book needs)\n"
            f'  run `make test` once, or: "{python}" -m pip install -e ".[test]"'
        )
    config.stash[left_out] = Counter()
    if (
        signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    ):  # as a script's `&` leaves it; every child would ignore it, too
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what compares with torch where it is not installed; order the files for workers; mark what no compiler
    can simulate."""
    if not IN_CI and not _is_installed("torch"):
        compare = [item for item in items if _asks_for_torch(item)]
        left = set(compare)
        items[:] = [item for item in items if item not in left]
        config.stash[left_out][COMPARE] = len(compare)
        config.hook.pytest_deselected(items=compare)
    if hasattr(config, "workerinput"):
        items[:] = in_order(items, config.rootpath)
    if not any(shutil.which(name) for name in COMPILERS):
        for item in items:
            if item.path.suffix == ".ipynb" and _simulates(item.path):
                item.add_marker(pytest.mark.skip(reason=f"{COMPILERS[0]} is not installed"))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Spare the main process most of what a worker has to say."""
    if hasattr(session.config, "workerinput"):
        from workbook.sharing import say_less

        say_less(session.config.pluginmanager.get_plugins())


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Iterator[object]:
    """Collect without rounds of Python's garbage collector, which would look again and again at tests that all stay:
    it takes a quarter less time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Leave what was imported and collected out of the rounds of Python's garbage collector, and start it less often:
    otherwise the tests of jit spend a tenth to a fifth of their time in it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out files in time that grows with the number of tests, not with its square."""
    from workbook.sharing import FileByFile

    return FileByFile(config, log) if config.getvalue("dist") == "loadfile" else None


def in_order(items: list[pytest.Item], root: Path) -> list[pytest.Item]:
    """The tests of the heaviest files first, the others as they were."""
    files = HEAVIEST_FIRST.read_text(encoding="utf-8").split() if HEAVIEST_FIRST.exists() else []
    rank = {root / file: place for place, file in enumerate(files)}
    return sorted(items, key=lambda item: rank.get(item.path, len(rank)))


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Count what a reader's run leaves to CI, which `-m` has taken out."""
    for item in items:
        if item.get_closest_marker("ci"):
            item.config.stash[left_out][LEFT_TO_CI] += 1


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:  # an exercise is checked, and somebody refuses to look for it
        return False


def _asks_for_torch(item: pytest.Item) -> bool:
    """Whether a test compares with torch: it is the one of a pair that runs it, or it or a fixture asks for it."""
    call = getattr(item, "callspec", None)
    if call is not None and isinstance(asked := call.params.get("torch"), str) and asked == "torch":
        return True
    test = getattr(item, "function", None)
    test = getattr(getattr(test, "hypothesis", None), "inner_test", test)  # what @given was written over
    fixtures = getattr(item, "_fixtureinfo", None)  # pytest has no other way to the functions of an item's fixtures
    defined = [] if fixtures is None else [found[-1].func for found in fixtures.name2fixturedefs.values() if found]
    return any(map(_leads_to_torch, [test, *defined]))


@cache
def _leads_to_torch(function: Any) -> bool:
    """Whether a function of the tests asks for torch, or calls one that imports it.

    A function that is handed `require` may ask in some of its calls only, and so does not count.
    """
    pending, seen, asking = [function], set[CodeType](), {"require", "importorskip"}
    while pending:
        function = inspect.unwrap(pending.pop())
        code = getattr(function, "__code__", None)
        if code is None or code in seen or HERE not in Path(code.co_filename).parents:
            continue
        seen.add(code)
        names = _names(code)
        if asking & names and any("torch" in one for one in code.co_consts if one == "torch" or type(one) is tuple):
            return True
        asking = {"importorskip"}
        pending += [function.__globals__.get(name) for name in names]
    return False


@cache
def _names(code: CodeType) -> frozenset[str]:
    """The names that a function reads."""
    return frozenset((*code.co_names, *code.co_varnames, *code.co_cellvars))


@cache
def _simulates(notebook: Path) -> bool:
    """Whether a notebook switches the simulator on, or compiles C++ itself."""
    text = notebook.read_text(encoding="utf-8")
    return "use_simulator" in text or "load_inline" in text


def _as_failure(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure, unless it is an expected failure (which pytest reports as a skip too)."""
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        where = report.longrepr
        reason = where[2] if isinstance(where, tuple) else str(where)
        report.outcome = "failed"
        report.longrepr = f"{reason}\nWith CI=true no tool may be missing: install it, or mark what cannot run here."


def share_of_exercises(durations: list[tuple[str, float]]) -> str:
    """What part of the tests' time, by name and seconds, judging exercises took; nothing where none was judged."""
    judging = sum(seconds for name, seconds in durations if name.startswith(JUDGING))
    every = sum(seconds for _, seconds in durations)
    return f"Exercises: {judging:.0f} s of {every:.0f} s of tests ({judging / every:.0%})." if judging else ""


def time_by_folder(durations: list[tuple[str, float]]) -> str:
    """How long the tests of each folder took, from their names and seconds; those under a minute are left out."""
    folders: Counter[str] = Counter()
    for name, seconds in durations:
        folders[name.removeprefix("tests/").partition("::")[0].partition("/")[0]] += seconds
    long = [f"{folder} {seconds:.0f} s" for folder, seconds in folders.most_common() if seconds >= 60]
    return f"Where the time went: {', '.join(long)}." if long else ""


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why a test was skipped, in the words that most say it with."""
    where = report.longrepr
    text = where[2] if isinstance(where, tuple) else str(where)
    text = text.removeprefix("Skipped: ")
    missing = re.fullmatch(r"could not import '(\w+)'.*", text)
    return f"{missing[1]} is not installed" if missing else text


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Judge the skips of tests."""
    report = yield
    _as_failure(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    """Judge the skips of whole files."""
    report = yield
    _as_failure(report)
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let a worker of pytest-xdist tell the main process what it left out."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = dict(session.config.stash[left_out])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Hear what a worker left out; all of them collect, and so leave out, the same."""
    node.config.stash[left_out] |= Counter(getattr(node, "workeroutput", {}).get("left_out", {}))


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Count what was left out and what was skipped, by reason, say what part of the time the exercises took, and repeat
    what failed before the tests: `make test` fails then, whatever pytest says."""
    reports = [report for some in terminalreporter.stats.values() for report in some if hasattr(report, "duration")]
    durations = [(report.nodeid, report.duration) for report in reports]
    for sentence in filter(None, (time_by_folder(durations), share_of_exercises(durations))):
        terminalreporter.line(sentence)
    for what, count in config.stash[left_out].items():
        if count:
            terminalreporter.line(f"{count} {what}.")
    reasons = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", []))
    if reasons:
        terminalreporter.section("not run here")
        for reason, count in reasons.most_common():
            terminalreporter.line(f"{count} tests: {reason}")
        terminalreporter.line("With CI=true, `make test` installs what is missing and skips nothing.")
    if failed := os.environ.get(FAILED_STEPS):
        terminalreporter.section("failed before the tests", red=True)
        terminalreporter.line(f"{failed}: see the top of this output")
