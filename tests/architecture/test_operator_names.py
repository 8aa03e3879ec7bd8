"""Do facts about operators stand in the operator table, and is nothing decided by a name?

A literal that names three operators or more is a fact about them that a row of the yaml should hold, or a kernel table.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from glasstorch.operators.generated.registry import OPERATORS

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "reference" / "glasstorch", ROOT / "workbook")
NAMES = frozenset(name for row in OPERATORS for name in (row.name, row.name.partition(".")[0]))
MODULES = ("special", "linalg", "fft")  # whose operators have the module's name before their own
FEW = 2  # so many names may stand together

# Files whose literals have words that operators are named by too, and why those are no facts about operators.
LIBRARY = "reference/glasstorch"
EXCEPTIONS = {
    f"{LIBRARY}/core/return_types.py": "fields of named results: `min` and `max` of aminmax",
    f"{LIBRARY}/nn/init.py": "names of nonlinearities that calculate_gain takes",
    f"{LIBRARY}/nn/uninitialized.py": "which of Tensor's methods PyTorch writes in Python, and its messages show so",
    f"{LIBRARY}/calls/old_orders.py": "PyTorch's deprecated.yaml: signatures that are no operators'",
    f"{LIBRARY}/calls/of_torchscript.py": "schemas of TorchScript's, for which PyTorch's table has no rows either",
    f"{LIBRARY}/calls/removed.py": "functions that PyTorch has removed, which are no operators",
    f"{LIBRARY}/kernels/pointwise/expression.py": "words of the vocabulary that signs stand for",
    f"{LIBRARY}/operators/shapes/indexing/along.py": "words that the argument `reduce` takes",
    f"{LIBRARY}/operators/shapes/indexing/placing.py": "words that the argument `reduce` takes",
    "workbook/book/explorables/dispatch.py": "operators that a page offers: what it tells of them is the registry's",
}
MOST_EXCEPTIONS = 10

MAKERS = frozenset(["dict", "frozenset", "fromkeys", "list", "set", "split", "tuple"])  # calls that make a table
WORD = re.compile(r"[\w.:]+")
DUNDER = re.compile(r"__\w+__")


def source_files() -> list[Path]:
    """The files of the library and the workbook that a person wrote."""
    found = [path for folder in FOLDERS for path in sorted(folder.rglob("*.py"))]
    return [path for path in found if "generated" not in path.relative_to(ROOT).parts]


def places(tree: ast.Module) -> Iterator[tuple[int, str, list[str]]]:
    """Line, kind and the operators of each place that names more than a few; a nested one is part of the outer."""
    exempt = set(map(id, _exempt(tree)))
    inside: set[int] = set()
    for node in ast.walk(tree):
        if id(node) in exempt or id(node) in inside:
            inside.update(map(id, ast.iter_child_nodes(node)))
            continue
        found = sorted({name for text in _texts(node) for name in _operators(text)})
        if len(found) > FEW:
            inside.update(map(id, ast.iter_child_nodes(node)))
            yield getattr(node, "lineno", 0), type(node).__name__, found


def _operators(text: str) -> Iterator[str]:
    name = text.removeprefix("aten::").removeprefix("aten.")
    if not NAMES.isdisjoint([name, *(f"{module}_{name}" for module in MODULES)]):
        yield name


def _texts(node: ast.AST) -> Iterator[str]:
    """The texts that a literal, a call, a chain of comparisons or the cases of a match put together."""
    match node:
        case ast.List() | ast.Tuple() | ast.Set():
            yield from _elements(node.elts)
        case ast.Dict():
            named = [(key, value) for key, value in zip(node.keys, node.values, strict=True) if key is not None]
            if not all(_is_code(value) for _, value in named):
                yield from _elements([expression for pair in named for expression in pair])
            else:
                yield from _elements(_alike(named))
            yield from _elements([value for key, value in zip(node.keys, node.values, strict=True) if key is None])
        case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
            yield from _of_comprehension(node)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="split" | "splitlines")):
            yield from WORD.findall(text)
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords) if not all(_is_code(k.value) for k in keywords):
            yield from (keyword.arg for keyword in keywords if keyword.arg)
            yield from _elements(node.args)
        case ast.Call():
            yield from _elements([*node.args, *(keyword.value for keyword in node.keywords)])
        case ast.Constant(value=str(text)) if "|" in text:  # a regular expression
            yield from re.split(r"[|()]|\\b|\?:", text)
        case ast.BoolOp():
            for value in node.values:
                yield from _texts(value) if isinstance(value, ast.Compare) else ()
        case ast.Compare():
            yield from _elements([node.left, *node.comparators])
        case ast.Match():
            for case in node.cases:
                yield from (c.value for c in ast.walk(case.pattern) if _is_text(c))
        case ast.If():
            yield from _branches(node)
        case _:
            return


def _elements(nodes: Iterable[ast.expr]) -> Iterator[str]:
    """The texts of some expressions, with those of literals and starred ones in them."""
    for node in nodes:
        match node:
            case ast.Constant(value=str(text)):
                yield text
            case ast.Starred(value=value):
                yield from _elements([value])
            case ast.BinOp(left=left, right=right):
                yield from _elements([left, right])
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in MAKERS:
                yield from _texts(node)
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
                yield from _texts(node)
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
                yield from _of_comprehension(node)


def _of_comprehension(node: ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp) -> Iterator[str]:
    """The words of `... for name in (...)`, and the names that f-strings such as `f"special_{name}"` make of them."""
    results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    for generator in node.generators:
        words = list(_elements([generator.iter]))
        yield from words
        for template in (part for result in results for part in ast.walk(result) if isinstance(part, ast.JoinedStr)):
            yield from (_filled(template, word) for word in words)


def _filled(template: ast.JoinedStr, word: str) -> str:
    """A template with a word in the place of what it formats."""
    return "".join(str(v.value) if isinstance(v, ast.Constant) else word for v in template.values)


def _branches(node: ast.If) -> Iterator[str]:
    """The texts that a chain of `if` and `elif` compares with."""
    branch: ast.stmt = node
    while isinstance(branch, ast.If):
        for part in ast.walk(branch.test):
            if isinstance(part, ast.Compare):
                yield from _elements([part.left, *part.comparators])
        branch = branch.orelse[0] if len(branch.orelse) == 1 else ast.Pass()


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_code(value: ast.expr) -> bool:
    """Whether a table's value is a function, what makes one, or a tuple with one: such a row computes an operator."""
    code = (ast.Name, ast.Attribute, ast.Lambda, ast.Call)
    return any(isinstance(part, code) for part in ast.walk(value))


def _alike(named: list[tuple[ast.expr, ast.expr]]) -> list[ast.expr]:
    """Keys of which more than a few have the same name as value: such a table says what they have in common."""
    keys: dict[str, list[ast.expr]] = {}
    for key, value in named:
        if isinstance(value, ast.Name | ast.Attribute):
            keys.setdefault(ast.unparse(value), []).append(key)
    return [key for alike in keys.values() if len(alike) > FEW for key in alike]


def _exempt(tree: ast.Module) -> Iterator[ast.AST]:
    """`__all__`, and tables whose keys are names of Python's own, such as `__add__`."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id="__all__")], value=value)
                | ast.AnnAssign(target=ast.Name(id="__all__"), value=ast.expr() as value)
            ):
                yield value
            case ast.Dict(keys=[ast.Constant(value=str(first)), *_]) if DUNDER.fullmatch(first):
                yield node


def found_in(text: str) -> list[str]:
    """What the test finds in a file of this text, without its line."""
    return [f"{kind}: {' '.join(names)}" for _, kind, names in places(ast.parse(text))]


def path_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_no_literal_names_three_operators_outside_the_table() -> None:
    found = []
    for path in source_files():
        if path_of(path) not in EXCEPTIONS:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found += [f"{path_of(path)}:{line}: {kind} {' '.join(names)}" for line, kind, names in places(tree)]
    assert not found, "\n".join(found)


def test_exceptions_are_few_and_needed() -> None:
    assert len(EXCEPTIONS) <= MOST_EXCEPTIONS
    needless = [file for file in EXCEPTIONS if not found_in((ROOT / file).read_text(encoding="utf-8"))]
    assert not needless


@pytest.mark.parametrize(
    "text",
    [
        'X = ["add", "mul", "exp"]',
        'X = ("add.Tensor", "aten::mul", "exp")',
        'X = frozenset({"add", "mul", "exp"})',
        'f("add", "mul", out="exp")',
        'X = {"add": 1, "mul": 2, "exp": 3}',
        'X = {"add": "mul", "exp": "exp"}',
        'X = "add mul exp".split()',
        'X = "add,mul,exp".split(",")',
        'X = "add\\nmul\\nexp".splitlines()',
        'X = re.compile(r"^(?:add|mul|exp)_?$")',
        "X = dict(add=1, mul=2, exp=3)",
        'X = {"add": Tag.core, "mul": Tag.core, "exp": Tag.core, "log": Tag.out}',
        'X = (*("add", "mul"), "exp")',
        'X = [("add", 1), ("mul", 2), ("exp", 3)]',
        'X = frozenset(["add", "mul"] + ["exp"])',
        'X = {**{"add": 1}, **dict.fromkeys(["mul", "exp"], 2)}',
        'X = [name + "_" for name in ("add", "mul", "exp")]',
        'X = {f"special_{name}" for name in ("i0e", "i1e", "ndtri")}',
        'X = ("i0e", "i1e", "ndtri")',
        'for name in ("add", "mul", "exp"):\n    register(name)',
        'if name == "add" or name == "mul" or name == "exp":\n    pass',
        'X = 1 if name in ("add", "mul", "exp") else 2',
        'if name == "add":\n    x = 1\nelif name == "mul":\n    x = 2\nelif name == "exp":\n    x = 3',
        'match name:\n    case "add" | "mul":\n        x = 1\n    case "exp":\n        x = 2',
        'def f():\n    class C:\n        x: set[str] = {"add", "mul", "exp"}',
    ],
)
def test_a_planted_fact_is_found(text: str) -> None:
    assert found_in(text)


@pytest.mark.parametrize(
    "text",
    [
        '__all__ = ["add", "mul", "exp"]',
        'LOOPS = {"add": np.add, "mul": np.multiply, "exp": np.exp}',
        'ROWS = {"add": Row(np.add, 1), "mul": Row(np.multiply, 2), "exp": (lambda x: x, 3)}',
        'BINARY = {"__add__": ("add", "add.Tensor"), "__mul__": ("mul", "mul.Tensor"), "__exp__": ("exp", "exp")}',
        "LOOPS = dict(add=np.add, mul=np.multiply, exp=np.exp)",
        'X = {"add": same, "mul": same, "exp": other}',
        'X = "what adds | what multiplies | exp"',
        'X = ["add", "mul"]',
        'X = ["to be", "add a number", "no operator", "nor this"]',
        'f("add")\nf("mul")\nf("exp")',
    ],
)
def test_what_is_no_fact_is_not_found(text: str) -> None:
    assert not found_in(text)


# Names of modules and code ------------------------------------------------------------------------------------------

NAMES_OF_CODE = frozenset(["__module__", "__qualname__", "co_qualname", "co_name", "co_filename"])
COMPARING = frozenset(["endswith", "get", "intersection", "isdisjoint", "issubset", "startswith"])  # methods
# Files that compare them, and what for: nothing that is computed depends on it.
NAMED = {
    f"{LIBRARY}/compiler/guard_filters.py": "a program may leave out the guards of the library's own modules",
    f"{LIBRARY}/compiler/reports/page.py": "a report shows the functions of the program, by their files",
    f"{LIBRARY}/compiler/reports/places.py": "a report shows the functions of the program, and folds the library's own",
    f"{LIBRARY}/compiler/captured.py": "functions of Python's own library are not compiled where a program calls them",
    f"{LIBRARY}/core/unknown_names.py": "dir() of a module lists what the library made, and not what it imported",
    f"{LIBRARY}/_class_paths.py": "under the runner, a class says where PyTorch has it",
    f"{LIBRARY}/python_forms/tensor_types.py": "typename writes a class of Python's own without its module",
    f"{LIBRARY}/python_forms/indexing.py": "a message writes a class of Python's own without its module",
    f"{LIBRARY}/outside_data/nested.py": "a message writes a class of Python's own without its module",
    f"{LIBRARY}/calls/overloaded.py": "a call with a tensor of PyTorch is refused, and does not ask it for ever",
    f"{LIBRARY}/calls/signature.py": "a message writes a class of NumPy's with its module",
    f"{LIBRARY}/operators/whereabouts.py": "it finds the line that a kernel is written in",
    f"{LIBRARY}/__main__.py": "a traceback begins with the program that was run",
    f"{LIBRARY}/autograd/anomaly_mode.py": "a message quotes the line of the program, the first outside the library",
    f"{LIBRARY}/core/user_line.py": "a warning is given at the line of the program, the first outside the library",
    f"{LIBRARY}/devices/simulator/python_line.py": "a finding is told with the line of the program that launched",
    f"{LIBRARY}/serialization/names.py": "a file names a class under the path that it has in PyTorch",
    f"{LIBRARY}/fx/_names.py": "generated code refers to a function under the path that it has in PyTorch",
    f"{LIBRARY}/fx/_patching.py": "wrap refuses to be called inside a function",
    f"{LIBRARY}/fx/_symbolic_trace.py": "modules of torch.nn stay calls, as in PyTorch, which asks for their module",
    f"{LIBRARY}/fx/graph_module.py": "a module's own class is told from the one that it was made for",
    f"{LIBRARY}/fx/proxy.py": "a node has the line of the program, the first outside this folder",
    f"{LIBRARY}/jit/tracer.py": "a node has, and a warning is given at, the line of the program",
    f"{LIBRARY}/profiler/python_calls.py": "a profile shows the functions of the program, not those of the library",
    "workbook/book/figures/live.py": "a figure writes a class of Python's own without its module",
    "workbook/exercises/answer_file.py": "the answer's own module and file are told from others, as Python names them",
    "workbook/exercises/asking.py": "the answer's own module and file are told from others, as Python names them",
    "workbook/exercises/graft.py": "an answer that calls itself through the library is told from the library's calls",
    "workbook/exercises/graft_kernel.py": "a piece is put where the module of the kernel that it replaces holds it",
    "workbook/exercises/guard.py": "what the answer's file calls is told from what other files call",
}


def decided_by_name(tree: ast.Module) -> list[int]:
    """The lines that compare the name of a module or of code, or a variable that has one, with something."""
    holding = set(_holding(tree))
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others):
                sides = [left, *others]
            case ast.Call(func=ast.Attribute(value=value, attr=attr), args=args) if attr in COMPARING:
                sides = [value, *args]
            case _:
                continue
        parts = [part for side in sides for part in ast.walk(side)]
        if any(_names_code(part) or (isinstance(part, ast.Name) and part.id in holding) for part in parts):
            found.append(node.lineno)
    return found


def _holding(tree: ast.Module) -> Iterator[str]:
    """The variables that are given the name of a module or of code, or a list of such names."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.NamedExpr(target=ast.Name(id=name), value=value)
            ):
                part = value.elt if isinstance(value, ast.ListComp | ast.SetComp | ast.GeneratorExp) else value
                if _names_code(part):
                    yield name


def _names_code(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr=name) | ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=name), *_]):
            return name in NAMES_OF_CODE
    return False


def test_nothing_is_decided_by_the_name_of_a_module_or_of_code() -> None:
    found = {path_of(path): decided_by_name(ast.parse(path.read_text(encoding="utf-8"))) for path in source_files()}
    assert {file for file, lines in found.items() if lines} == set(NAMED), found


@pytest.mark.parametrize(
    "text",
    [
        'if kernel.__module__ == "glasstorch.kernels.views":\n    pass',
        'x = getattr(kernel.function, "__module__", "") == module',
        'x = frame.f_code.co_qualname.startswith("Tensor.")',
        "x = seen.__qualname__ in NAMES",
        'x = str(getattr(value, "__qualname__")).endswith("_")',
        "names = [frame.f_code.co_name for frame in frames]\nif SHOWING.isdisjoint(names):\n    pass",
        'if (file := code.co_filename) == "views.py":\n    pass',
    ],
)
def test_a_planted_decision_is_found(text: str) -> None:
    assert decided_by_name(ast.parse(text))
    assert not decided_by_name(ast.parse('x = kernel.table is table\nprint(f"{kernel.__module__}")'))
