"""Which statements above a cell does one have to know to predict what it prints?

A page and a notebook show all of a section; a terminal shows one cell of it, and what that cell builds on.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterator, Sequence

MOST = 40  # lines
DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
SCOPE = DEFINITION | ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
SHOWS = re.compile(
    r"print|display|show(_\w+)?|draw_\w+|compare_with_torch"
)  # functions that change nothing they are given


def context(code: str, above: Sequence[str]) -> str:
    """The statements of the cells above that give the code's names their values, in their order; imports are left out.

    Where they are too many lines, only the functions and classes among them, the last ones if these are too many lines
    too, and how many lines are missing.

    >>> above = ["import torch", "x = [1]", "y = 2", "def double(a):\\n    return 2 * a", "x.append(3)", "print(x)"]
    >>> print(context("double(x)", above))
    x = [1]
    def double(a):
        return 2 * a
    x.append(3)
    """
    found = built_on(code, above)
    every = sum(map(number_of_lines, found))
    if every > MOST:
        found = [text for text in found if isinstance(parsed(text).body[0], DEFINITION)]
        while sum(map(number_of_lines, found)) > MOST:
            del found[0]
        found.append(f"# ... and {every - sum(map(number_of_lines, found))} more lines in the section")
    return "\n".join(found)


def built_on(code: str, above: Sequence[str]) -> list[str]:
    """The statements that `context` shows, however many lines they are."""
    imported = {name for cell in above for one in parsed(cell).body for name in names_bound(one) if is_import(one)}
    needed = names_needed(code) - imported
    found: list[str] = []
    for cell in reversed(above):
        for statement in reversed(parsed(cell).body):
            bound = names_bound(statement)
            changed = names_changed(statement) | names_added_to(statement)
            if not is_import(statement) and needed & (bound | changed):
                text = text_of(statement, cell)
                found.append(text)
                needed = (needed - bound) | (names_needed(text) - imported)
    return found[::-1]


def number_of_lines(text: str) -> int:
    """How many lines a statement has."""
    return text.count("\n") + 1


def parsed(code: str) -> ast.Module:
    """The syntax tree of a cell; that of nothing where the cell is not plain Python."""
    try:
        return ast.parse(code)
    except SyntaxError:
        return ast.Module([], [])


def text_of(statement: ast.stmt, cell: str) -> str:
    """The lines of a statement, with its decorators."""
    first = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", ()))])
    return "\n".join(cell.splitlines()[first - 1 : statement.end_lineno])


def names_needed(code: str) -> set[str]:
    """The names that code reads before it gives them a value itself, built-in ones included."""
    bound: set[str] = set()
    needed: set[str] = set()
    for statement in parsed(code).body:
        own = names_bound(statement)
        read = globals_read(symtable.symtable(text_of(statement, code), "<cell>", "exec"))
        needed |= (read - own | names_added_to(statement)) - bound
        bound |= own
    return needed


def globals_read(scope: symtable.SymbolTable) -> set[str]:
    """The global names that a scope and those inside it read."""
    is_top = scope.get_type() == "module"
    own = {one.get_name() for one in scope.get_symbols() if one.is_referenced() and (is_top or one.is_global())}
    return own.union(*map(globals_read, scope.get_children()))


def is_import(statement: ast.stmt) -> bool:
    """Whether a statement imports."""
    return isinstance(statement, ast.Import | ast.ImportFrom)


def names_bound(statement: ast.stmt) -> set[str]:
    """The names that a statement gives a value."""
    bound: set[str] = set()
    for node in run_with(statement):
        if isinstance(node, DEFINITION):
            bound.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(one.asname or one.name).partition(".")[0] for one in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
    return bound - names_added_to(statement)


def names_added_to(statement: ast.stmt) -> set[str]:
    """The names that a statement changes as `x += 1` does: it reads them, too."""
    targets = [one.target for one in run_with(statement) if isinstance(one, ast.AugAssign)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def run_with(node: ast.AST) -> Iterator[ast.AST]:
    """A statement and its parts, but for those that have names of their own: the insides of functions and classes."""
    yield node
    if not isinstance(node, SCOPE):
        for part in ast.iter_child_nodes(node):
            yield from run_with(part)


def names_changed(statement: ast.stmt) -> set[str]:
    """The names of the objects that a statement changes: whose method it calls, of which it assigns a part, or which it
    passes to a function and does nothing else."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if isinstance(call.func, ast.Name):
            return set() if SHOWS.fullmatch(call.func.id) else names_passed(call)
        part: ast.expr = call.func
    elif isinstance(statement, ast.Assign | ast.AugAssign):
        part = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    else:
        return set()
    is_part = isinstance(part, ast.Attribute | ast.Subscript)
    while isinstance(part, ast.Attribute | ast.Subscript | ast.Call):
        part = part.func if isinstance(part, ast.Call) else part.value
    return {part.id} if is_part and isinstance(part, ast.Name) else set()


def names_passed(call: ast.Call) -> set[str]:
    """The names that are themselves arguments of a call."""
    return {one.id for one in [*call.args, *(word.value for word in call.keywords)] if isinstance(one, ast.Name)}
