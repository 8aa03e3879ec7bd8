"""Which text that a reader sees gives the answer to an exercise away?

An answer is the body of the library's function, and that of the solution. Of Python, runs of statements are compared by
their syntax trees, in which names of locals, docstrings and annotations do not count; of CUDA C++, runs of statements
by their tokens; of formulas, all tokens.
"""

from __future__ import annotations

import ast
import builtins
import json
import re
import runpy
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from workbook.book.exercise_pages import exercise_page
from workbook.book.withheld import asked_by, definition_of, library, line_of_formula, tokens_of_cuda
from workbook.exercises.catalogue import Exercise

STATEMENTS = 4  # in a row are an answer, or a part of it
TOKENS = 6  # of a formula that could not be something else
HINTS = 3  # that may not give it away
FENCE = re.compile(r"^[ >]*(`{3,}|~{3,})[^\n]*\n(.*?)^[ >]*\1", re.MULTILINE | re.DOTALL)
DOCTEST = re.compile(r"^\s*(?:>>>|\.\.\.) ?(.*)$", re.MULTILINE)
CAPTION = re.compile(r"^\*glasstorch/(?P<file>\S+), (?P<symbol>\S+)\*$", re.MULTILINE)
TOKEN = re.compile(r"\w+|[^\w\s]")
BUILTINS = frozenset(dir(builtins))
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
# Where a name may be another one: of a variable, a parameter, a definition, an exception.
NAMES = {
    (ast.Name, "id"),
    (ast.arg, "arg"),
    (ast.FunctionDef, "name"),
    (ast.ClassDef, "name"),
    (ast.ExceptHandler, "name"),
}
Words = tuple[str | tuple[str], ...]  # a name that may be another one is a tuple


class Text(NamedTuple):
    """A text that a reader sees, and where."""

    where: str
    text: str


# --- what a reader sees -------------------------------------------------------------------------------------------


def texts_of_notebook(path: Path, where: str) -> Iterator[Text]:
    """Code, prose and outputs of a notebook."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for number, cell in enumerate(notebook["cells"], 1):
        place = f"{where}, cell {number}"
        yield Text(place, "".join(cell["source"]))
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            for said in (output.get("text"), data.get("text/markdown"), data.get("text/plain")):
                if said:
                    yield Text(f"{place}, output", "".join(said))


def texts_of_exercise(exercise: Exercise, every: Sequence[Exercise], root: Path) -> Iterator[Text]:
    """The stub, the first hints, the lab sheet and the page of an exercise."""
    stub = exercise.start.read_text(encoding="utf-8")
    yield Text(f"{exercise.identity}, stub", stub)
    for number, hint in enumerate(exercise.hints()[:HINTS], 1):
        yield Text(f"{exercise.identity}, hint {number}", hint)
    if exercise.lab.is_file():
        yield from texts_of_notebook(exercise.lab, f"{exercise.identity}, lab sheet")
    page = exercise_page(exercise, every, root)
    for hint in exercise.hints()[HINTS:]:
        page = page.replace(hint, "")
    yield Text(f"{exercise.identity}, page", page)


def texts_of_docstrings(package: Path) -> Iterator[Text]:
    """What the API pages say: the docstrings of the library."""
    for path in sorted(package.rglob("*.py")):
        if "generated" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | Definition) and (said := ast.get_docstring(node)):
                yield Text(f"{path.relative_to(package.parent)}, {getattr(node, 'name', 'module')}", said)


def code_in(text: str) -> Iterator[ast.Module]:
    """The Python in a text: itself, or what is in its fences and doctests."""
    pieces = [text, *(textwrap.dedent(body) for _, body in FENCE.findall(text))]
    pieces += ["\n".join(DOCTEST.findall(text))] if ">>>" in text else []
    for piece in pieces:
        try:
            yield ast.parse(piece)
        except (SyntaxError, ValueError):
            continue


# --- Python -------------------------------------------------------------------------------------------------------


def words(node: ast.AST) -> Iterator[str | tuple[str]]:
    """A statement without the statements in it, as a sequence of words."""
    yield type(node).__name__
    for field, value in ast.iter_fields(node):
        if field in ("body", "orelse", "finalbody", "handlers", "decorator_list") and isinstance(value, list):
            continue
        if field in ("annotation", "returns", "type_comment", "ctx", "kind", "simple", "type_params"):
            continue
        if isinstance(value, str) and (type(node), field) in NAMES:
            yield (value,)
        elif isinstance(value, ast.AST):
            yield from words(value)
        elif isinstance(value, list):
            for item in value:
                yield from words(item) if isinstance(item, ast.AST) else (repr(item),)
            yield "]"
        else:
            yield repr(value)


def flat(body: Sequence[ast.AST], depth: int = 0) -> Iterator[tuple[int, Words]]:
    """Statements in the order of their lines, each with its depth; a docstring is none."""
    for node in body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            continue
        if isinstance(node, ast.AnnAssign):
            if node.value is None:
                continue
            node = ast.Assign(targets=[node.target], value=node.value)
        yield depth, tuple(words(node))
        yield from flat(getattr(node, "body", ()), depth + 1)
        for handler in getattr(node, "handlers", ()):
            yield from flat([handler], depth)
        for rest in ("orelse", "finalbody"):
            if inner := getattr(node, rest, None):
                yield depth, (rest,)
                yield from flat(inner, depth + 1)


def runs(body: Sequence[ast.AST]) -> Iterator[tuple[tuple[int, Words], ...]]:
    """All runs of statements of the length that is an answer, with depths relative to the first."""
    statements = list(flat(body))
    for start in range(len(statements) - STATEMENTS + 1):
        run = statements[start : start + STATEMENTS]
        yield tuple((depth - run[0][0], said) for depth, said in run)


def renamed(run: Iterable[tuple[int, Words]], kept: frozenset[str]) -> tuple[object, ...]:
    """A run in which each name that is not kept is the number of its first appearance."""
    numbers: dict[str, int] = {}
    return tuple(
        (depth, *(
            word if isinstance(word, str)
            else word[0] if word[0] in kept
            else numbers.setdefault(word[0], len(numbers))
            for word in said
        ))
        for depth, said in run
    )  # fmt: skip


def free_names(node: ast.AST) -> frozenset[str]:
    """The names in a definition that it does not bind itself: globals and builtins."""
    bound, used = set(), set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            (used if isinstance(inner.ctx, ast.Load) else bound).add(inner.id)
        elif isinstance(inner, ast.arg):
            bound.add(inner.arg)
        elif isinstance(inner, Definition | ast.ExceptHandler) and inner.name:
            bound.add(inner.name)
    return frozenset(used - bound) | BUILTINS


def whole(node: Definition) -> tuple[object, ...]:
    """A definition as it is compared as a whole: its body, under whatever names."""
    return renamed(flat(node.body), free_names(node))


class Answer(NamedTuple):
    """A definition that answers an exercise, or a part of it."""

    exercise: Exercise
    name: str
    node: Definition


def answers(exercise: Exercise) -> Iterator[Answer]:
    """The library's definitions, and those of the solution that its stub does not have."""
    for piece in exercise.pieces:
        for asked in asked_by(exercise, piece):
            if asked.file.endswith(".py"):
                found = definition_of((library() / asked.file).read_text(encoding="utf-8"), asked.symbol)
                assert found is not None, f"{asked.dotted} is not in its file"
                yield Answer(exercise, asked.symbol.rpartition(".")[2], found[0])
    stub = ast.parse(exercise.start.read_text(encoding="utf-8"))
    given = {whole(node) for node in ast.walk(stub) if isinstance(node, Definition)}
    for node in ast.parse(exercise.solution.read_text(encoding="utf-8")).body:
        if isinstance(node, Definition) and whole(node) not in given:
            yield Answer(exercise, node.name, node)


# --- CUDA C++ and formulas ----------------------------------------------------------------------------------------


def cuda_runs(text: str) -> set[tuple[str, ...]]:
    """All runs of statements of a text in CUDA C++; a brace ends one, too."""
    said = [part.strip() for part in re.split(r"[;{}]", tokens_of_cuda(text))]
    statements = [part for part in said if part]
    return {tuple(statements[n : n + STATEMENTS]) for n in range(len(statements) - STATEMENTS + 1)}


def cuda_answers(exercise: Exercise) -> set[tuple[str, ...]]:
    """The runs of the library's and the solution's text that the stub does not give."""
    found: set[tuple[str, ...]] = set()
    for piece in exercise.pieces:
        if piece.kind != "cuda":
            continue
        found |= cuda_runs((library() / "kernels" / "cuda" / piece.target).read_text(encoding="utf-8"))
        found |= cuda_runs(runpy.run_path(str(exercise.solution))[piece.answer]())
    given = texts_in(ast.parse(exercise.start.read_text(encoding="utf-8")))
    return found.difference(*map(cuda_runs, given))


def texts_in(tree: ast.Module) -> Iterator[str]:
    """The strings in Python code that may be a program, such as a kernel in CUDA C++."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and ";" in node.value:
            yield node.value


def formulas(exercise: Exercise) -> set[str]:
    """The library's formulas and those of the solution, as tokens."""
    found = set()
    for piece in exercise.pieces:
        if piece.kind != "formula":
            continue
        lines = (library() / "operators" / "derivatives.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
        number = line_of_formula(lines, piece.target)
        assert number is not None, f"derivatives.yaml has no {piece.target}"
        found.add(tokens(lines[number].partition(":")[2]))
        for node in ast.walk(ast.parse(exercise.solution.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Return) and node.value is not None:
                found.add(tokens(ast.unparse(node.value)))
    return {formula for formula in found if len(formula.split()) >= TOKENS}


def tokens(text: str) -> str:
    """A text with one space between its tokens."""
    return " ".join(TOKEN.findall(text))


# --- what is found ------------------------------------------------------------------------------------------------


def leaks(exercises: Sequence[Exercise], texts: Iterable[Text]) -> list[str]:
    """Where texts give the answer to one of these exercises away, and how."""
    wanted = Wanted(exercises)
    found: dict[str, None] = {}
    for where, text in texts:
        found.update(dict.fromkeys(f"{where}: {said}" for said in wanted.found_in(text)))
    return list(found)


class Wanted:
    """The answers to some exercises, in the forms in which they are looked for."""

    def __init__(self, exercises: Sequence[Exercise]) -> None:
        self.symbols = [a for exercise in exercises for piece in exercise.pieces for a in asked_by(exercise, piece)]
        self.definitions: dict[tuple[str, tuple[object, ...]], Answer] = {}
        self.runs: dict[tuple[object, ...], list[tuple[Answer, tuple[object, ...], frozenset[str]]]] = defaultdict(list)
        for answer in (answer for exercise in exercises for answer in answers(exercise)):
            self.definitions[answer.name, whole(answer.node)] = answer
            kept = free_names(answer.node)
            for run in runs(answer.node.body):
                self.runs[renamed(run, frozenset())].append((answer, renamed(run, kept), kept))
        self.names = {name for name, _ in self.definitions}
        self.cuda = [(exercise, found) for exercise in exercises if (found := cuda_answers(exercise))]
        self.formulas = [(exercise, formula) for exercise in exercises for formula in formulas(exercise)]

    def found_in(self, text: str) -> Iterator[str]:
        """What a text gives away."""
        yield from self.captions_in(text)
        trees = list(code_in(text))
        for tree in trees:
            yield from self.definitions_in(tree)
            yield from self.runs_in(tree)
        streams = [stream for stream in (text, *(said for tree in trees for said in texts_in(tree))) if ";" in stream]
        written = set().union(*map(cuda_runs, streams)) if self.cuda else set()
        for exercise, found in self.cuda:
            if found & written:
                yield f"{STATEMENTS} statements of CUDA C++, which {asks(exercise)}"
        for exercise, formula in self.formulas:
            if formula in tokens(text):
                yield f"the formula, which {asks(exercise)}"

    def captions_in(self, text: str) -> Iterator[str]:
        """The symbols that a text quotes, by the caption of the quotation: themselves, or what contains them."""
        for caption in CAPTION.finditer(text.replace("\\", "")):
            for asked in self.symbols:
                quoted = caption["symbol"] in (asked.symbol, asked.symbol.rpartition(".")[0])
                if quoted and asked.file == caption["file"] and asked.marker not in text:
                    yield f"quotes {asked.symbol}, which {asks(asked.exercise)}"

    def definitions_in(self, tree: ast.Module) -> Iterator[str]:
        """The definitions of any length that have the name and the body of an answer."""
        for node in ast.walk(tree):
            if isinstance(node, Definition) and node.name in self.names:
                answer = self.definitions.get((node.name, whole(node)))
                if answer is not None:
                    yield f"defines {answer.name}, which {asks(answer.exercise)}"

    def runs_in(self, tree: ast.Module) -> Iterator[str]:
        """The runs of statements that are in an answer, under whatever names."""
        for run in runs(tree.body):
            for answer, same, kept in self.runs.get(renamed(run, frozenset()), ()):
                if renamed(run, kept) == same:
                    yield f"{STATEMENTS} statements of {answer.name}, which {asks(answer.exercise)}"


def asks(exercise: Exercise) -> str:
    """What to do about a leak."""
    return f"{exercise.identity} asks for ({exercise.place}): show what it does, not how"
