"""Is every assertion of a check needed?

An assertion is needed if removing it makes the check accept a wrong answer. Any other assertion is idle: it can be
removed, or a wrong answer is missing that only it catches. The assertions are the statements
`expect(...)` and `assert`; the wrong answers are those that the exercise ships.

    python -P -m workbook.exercises.idle ROOT EXERCISE ANSWER ...

asks this of a repair: its check runs programs on the library with the fault, which this process imports. Each answer is
put into a copy of the process. A JSON list of the assertions is printed.
"""

from __future__ import annotations

import ast
import inspect
import json
import linecache
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType

from workbook.exercises.answer_file import MODULE, AuthorError, Refused
from workbook.exercises.asking import Ask

PREFIX = "test_"


@dataclass(frozen=True)
class Assertion:
    """One assertion of a check file, and the top-level function that contains it."""

    line: int
    text: str
    function: str

    @property
    def shared(self) -> bool:
        """Whether the assertion is in a helper, which several tests may call."""
        return not self.function.startswith(PREFIX)


def assertions(source: str) -> list[Assertion]:
    """The assertions of a check file, in line order."""
    found = []
    for function in ast.parse(source).body:
        for node in ast.walk(function):
            if isinstance(node, ast.stmt) and is_assertion(node):
                text = ast.unparse(node)
                found.append(Assertion(node.lineno, text, getattr(function, "name", "")))
    return sorted(found, key=lambda assertion: assertion.line)


def is_assertion(node: ast.stmt) -> bool:
    """Whether a statement is `assert ...` or `expect(...)`."""
    if isinstance(node, ast.Assert):
        return True
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "expect"


class Without(ast.NodeTransformer):
    """Replaces the assertion at one line by `pass`."""

    def __init__(self, line: int) -> None:
        self.line = line

    def visit(self, node: ast.AST) -> ast.AST:
        """Replace the statement, or visit its children."""
        if isinstance(node, ast.stmt) and node.lineno == self.line and is_assertion(node):
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)


Tests = dict[str, Callable[[Ask], object]]
Judging = Callable[[Tests, Path], set[str]]


def judging(check: Path, without: Assertion | None = None) -> Tests:
    """The test functions of a check file by name, without one assertion if one is given."""
    tree = ast.parse(check.read_text(encoding="utf-8"), str(check))
    if without is not None:
        Without(without.line).visit(tree)
    module = ModuleType(check.stem)
    module.__file__ = str(check)
    exec(compile(tree, str(check), "exec", dont_inherit=True), module.__dict__)
    tests = {name: thing for name, thing in vars(module).items() if name.startswith(PREFIX) and callable(thing)}
    for name, test in tests.items():
        if list(inspect.signature(test).parameters) != ["ask"] or hasattr(test, "pytestmark"):
            raise AuthorError(f"{check}: {name} has to take `ask` and nothing else, and to carry no mark")
    return tests


def refusing(tests: Tests, answer: Path, loaded: Callable[[ModuleType], None] = lambda module: None) -> set[str]:
    """The names of those tests that do not accept an answer; `loaded` is told of its module.

    The process goes on after an answer that has raised the limit of recursion: it has the old limit then.
    """
    linecache.checkcache(str(answer))
    before, limit = sys.modules.get(MODULE), sys.getrecursionlimit()
    try:
        return {name for name, test in tests.items() if not accepts(test, Ask(answer, loaded=loaded))}
    finally:
        sys.setrecursionlimit(limit)
        sys.modules.pop(MODULE, None)
        if before is not None:
            sys.modules[MODULE] = before


def accepts(test: Callable[[Ask], object], ask: Ask) -> bool:
    """Whether one test accepts an answer."""
    try:
        test(ask)
    except AuthorError:
        raise
    except Exception:  # noqa: BLE001 (whatever it raises, pytest would call the test failed)
        return False
    return True


def idle(check: Path, wrong: list[Path], refusing: Judging = refusing) -> Iterator[Assertion]:
    """The assertions that can be removed without making the check accept a wrong answer that it refuses now.

    `refusing` says which tests do not accept an answer.
    """
    whole = judging(check)
    refused = {answer: names for answer in wrong if (names := refusing(whole, answer))}
    for assertion in assertions(check.read_text(encoding="utf-8")):
        rest = judging(check, assertion)
        if not assertion.shared:
            rest = {assertion.function: rest[assertion.function]}  # the other tests judge as before
        if not any(names <= rest.keys() and not refusing(rest, answer) for answer, names in refused.items()):
            yield assertion


def in_repair(root: Path, name: str, wrong: list[Path]) -> list[Assertion]:
    """The idle assertions of a repair, in a process that imports the library with the fault."""
    from workbook.exercises.catalogue import find
    from workbook.exercises.fault import judge, read_fault
    from workbook.exercises.graft import Graft
    from workbook.exercises.warm import Fork

    exercise = find(root, name)
    fault = read_fault(exercise)
    graft = Graft([fault.piece], exercise.solution)
    graft.install()
    graft.load()

    def in_a_copy(tests: Tests, answer: Path) -> set[str]:
        def tell() -> None:
            graft.path = answer
            print(json.dumps(sorted(refusing(tests, answer, graft.complete))), flush=True)

        copy = Fork(tell)
        assert copy.stdout is not None
        told = copy.stdout.read()
        copy.wait()
        return set(json.loads(told))

    def reaches_the_check(answer: Path) -> bool:
        """Whether its place and its size do not refuse the answer before."""
        try:
            judge(fault, answer)
        except Refused:
            return False
        return True

    return list(idle(exercise.check, list(filter(reaches_the_check, wrong)), in_a_copy))


if __name__ == "__main__":
    found = in_repair(Path(sys.argv[1]), sys.argv[2], [Path(one) for one in sys.argv[3:]])
    print(json.dumps([asdict(one) for one in found]))
