"""Where is an operator declared, computed and differentiated?

Used by `python -m glasstorch --where torch.cumsum` and by the book's list of operators. Everything is read from what
runs: the registry, its kernels, and the files that define them. So it cannot go out of date.

Mirrors: torch/_C/_dispatch_dump (c10::Dispatcher, OperatorEntry::dumpState), which gives the kernels of an operator
Differs: it also follows a composite operator to the operators it calls, and lists the derivative formulas.
"""

from __future__ import annotations

import ast
import builtins
import dis
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.fast import FAST, Fast, Slot, fast_over
from glasstorch.dispatch.library import place
from glasstorch.dispatch.operator import DispatchTable, Kernel, Operator, registry
from glasstorch.dispatch.tags import Tag
from glasstorch.operators.generated import functions, methods
from glasstorch.operators.generated.registry import OPERATORS
from glasstorch.operators.operator_row import PARTS_RECORDED, OperatorRow

LIBRARY = Path(__file__).resolve().parents[1]  # all paths are relative to this folder
DELEGATING = "kernels/delegated.py"  # whose kernels only call the operator's out= form
COMPUTING = (
    *(DispatchKey.CPU, DispatchKey.CUDA, DispatchKey.CompositeExplicitAutograd),
    *(DispatchKey.CompositeExplicitAutogradNonFunctional, DispatchKey.CompositeImplicitAutograd),
    *(DispatchKey.SparseCPU, DispatchKey.SparseCsrCPU),
)
COMPOSITE = COMPUTING[2:5]
RECORDING = (DispatchKey.Autograd, DispatchKey.ADInplaceOrView)
COMPOSITES = "glasstorch.operators.composite."  # the package of composite kernels
KERNELS = "glasstorch.kernels.cpu."
FORMULAS = "kernels/pointwise/formulas.py"  # the table from which pointwise kernels of several backends are made
# Keys of derivatives.yaml that are no formula of a gradient.
NO_FORMULAS = frozenset(["node", "not_differentiable", "not_implemented", "complex"])
# Prefixes that may precede an operator's name.
PREFIX = re.compile(r"^(aten::|(torch\.ops\.)?aten\.|F\.|(torch\.)?(Tensor\.|nn\.functional\.)?)")
HEADER = re.compile(r"^(Mirrors|Differs):\s*(.*?)(?=^\w+:|\n\n|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Everything known about one operator. Locations are `file:line`, relative to the library's folder."""

    name: str  # add.Tensor
    schema: str
    family: str  # of operators/families.py
    declared: str
    shape: str | None  # of the shape function
    kernels: tuple[tuple[str, str], ...]  # key, place
    recording: tuple[tuple[str, str], ...]  # the same of the kernels that record gradients, writes and views
    makers: tuple[tuple[str, str], ...]  # key, and the function that made its kernel: `name, place`
    fast: tuple[Fast, ...]  # what stands in front of its plain CPU kernel, or of a slot that this runs
    calls: tuple[str, ...]  # names of the operators that it calls
    helpers: tuple[tuple[str, str], ...]  # name, place: what a composite calls in other files of composites
    derivative: str | None
    formulas: tuple[tuple[str, str], ...]  # argument, formula
    mirrors: str  # files and symbols of PyTorch
    differs: str
    refuses: bool  # whether the derivative is not implemented, so that backward stops here
    functional: str | None  # of a generated in-place or out= form: the operator it was generated from
    tags: tuple[Tag, ...]
    out: str | None  # of an out= form: what writes there, in the words of the operator table

    @property
    def kind(self) -> str:
        """The key of its composite kernel, or `native`."""
        return next((key for key, _ in self.kernels if key.startswith("Composite")), "native")

    @property
    def gradient_of_parts(self) -> bool:
        """Whether autograd records the operators that it is made of."""
        row = _rows()[f"aten::{self.name}"]
        return self.kind == "CompositeImplicitAutograd" or (row.composite or ("",))[0] == PARTS_RECORDED


def overloads_of(name: str) -> list[Operator]:
    """The operators behind one of PyTorch's names: `torch.linalg.solve`, `Tensor.add_`, `aten.add`, `add.Tensor`.

    All overloads of the name; none if PyTorch has an operator of that name and this library does not.
    """
    path = PREFIX.sub("", name).removesuffix(".default")
    if f"aten::{path}" in registry.operators and "." in path:
        return [registry.operators[f"aten::{path}"]]
    return registry.overloads("aten", path.replace(".", "_"))


def behind(function: Any) -> str | None:
    """The name of the operator that a generated function, method or property calls: `add` for `Tensor.__radd__`."""
    function = getattr(function, "fget", None) or function
    names = getattr(function, "__globals__", None)
    if names is vars(functions) or names is methods.NAMES:
        return str(function.__name__)
    called = _reached(function, set()) if names is vars(methods) else ()
    return next((one for one in called if isinstance(one, str)), None)


def whereabouts(operator: Operator) -> Whereabouts:
    """All that is known about an operator of the library; an operator that a user declared has no entry."""
    row = _rows()[operator.name]
    kernels = {key: stack[-1] for key, stack in operator.kernels.items() if stack}
    kernels = {key: kernel for key, kernel in kernels.items() if not kernel.where.startswith(DELEGATING)}
    computing = tuple((key.name, place_of(kernels[key], operator)) for key in COMPUTING if key in kernels)
    recording = tuple((key.name, kernels[key].where) for key in RECORDING if key in kernels)
    made = ((key.name, maker_of(kernels[key])) for key in (*COMPUTING, *RECORDING) if key in kernels)
    own = operator.qualified_overload
    derivative, formulas = _derivative(own)
    if derivative is None and (functional := _functional_name(row)) is not None:
        derivative, formulas = _derivative(functional)
        derivative = derivative if formulas else None  # without formulas of its own, it has none for its forms either
    arguments = {argument.name for argument in operator.schema.arguments}
    formulas = tuple(line for line in formulas if line[0].partition(",")[0] in arguments)  # the others give tangents
    mirrors, differs = _header((computing[0][1] if computing else "kernels/meta/shapes.py:1").partition(":")[0])
    composite = next((kernels[key] for key in COMPOSITE if key in kernels), None)
    reached = () if composite is None else tuple(dict.fromkeys(_reached(composite.function, set())))
    return Whereabouts(
        operator.qualified_overload,
        str(operator.schema),
        operator.family,
        f"operators/native_functions.yaml:{row.line}",
        None if row.shape is None else _place_of_shape(row.shape),
        computing,
        recording,
        tuple((key, maker) for key, maker in made if maker is not None),
        tuple(_fast(operator, kernels[DispatchKey.CPU])) if DispatchKey.CPU in kernels else (),
        tuple(one for one in reached if isinstance(one, str)),
        tuple((one.__name__, _defined(one)) for one in reached if not isinstance(one, str)),
        derivative,
        formulas,
        mirrors,
        differs,
        row.not_implemented is not None,
        row.functional,
        tuple(tag for tag in operator.tags if tag is not Tag.pt2_compliant_tag),  # nearly every operator has it
        _owner(row, operator),
    )


def _functional_name(row: OperatorRow) -> str | None:
    """The operator whose formulas serve a form: `index_put` for `index_put_` too, which has a row of its own."""
    name, dot, overload = row.name.partition(".")
    if row.functional is None and Tag.inplace.name in row.tags:
        return f"{name.removesuffix('_')}{dot}{overload}"
    return row.functional


def _owner(row: OperatorRow, operator: Operator) -> str | None:
    """How out= is written; for an alias, how that of the operator behind it is."""
    if Tag.out not in operator.tags:
        return None
    return f"that of {row.alias_of}" if row.alias_of is not None else row.out or "own kernel"


def forms_of(name: str) -> list[str]:
    """The names of the in-place and out= forms generated from an operator."""
    return [row.name for row in OPERATORS if row.functional == name]


@lru_cache(maxsize=1)
def _rows() -> dict[str, OperatorRow]:
    """Full name -> the row of its declaration."""
    return {f"aten::{row.name}": row for row in OPERATORS}


# Kernels --------------------------------------------------------------------------------------------------------


def place_of(kernel: Kernel, operator: Operator) -> str:
    """Where a kernel is defined: its `def`, or the table row that it was made from."""
    code = getattr(kernel.function, "__code__", None)
    own = "" if code is None else place(code.co_filename, code.co_firstlineno)
    registered = kernel.where if not Path(kernel.where).is_absolute() else own
    file = registered.partition(":")[0]
    if code is not None and own.partition(":")[0] == file and "<locals>" not in code.co_qualname:
        return own
    # Made by another function: the line of its row, or of its assignment, names the operator.
    full = operator.qualified_overload
    name = full.partition(".")[0]
    for table in (file, FORMULAS) if "/pointwise/" in file else (file,):
        for wanted in (full, name, name.partition("_")[2], name.removesuffix("_")):
            row = re.compile(rf"""["']{re.escape(wanted)}[._"']|^{re.escape(wanted)}\b.*=|^\s+{re.escape(wanted)},$""")
            line = next((number for number, text in enumerate(_lines(table), 1) if wanted and row.search(text)), None)
            if line is not None:
                return f"{table}:{line}"
    return registered


def maker_of(kernel: Kernel) -> str | None:
    """The function that made a kernel, as `name, place`; None for a kernel that is a function of its own."""
    code = getattr(kernel.function, "__code__", None)
    if code is None or "<locals>" not in code.co_qualname:
        return None
    file = place(code.co_filename, code.co_firstlineno).partition(":")[0]
    name = code.co_qualname.partition(".")[0]
    line = next((number for number, text in enumerate(_lines(file), 1) if text.startswith(f"def {name}(")), None)
    return None if line is None else f"{name}, {file}:{line}"


def _defined(function: FunctionType) -> str:
    return place(function.__code__.co_filename, function.__code__.co_firstlineno)


def _fast(operator: Operator, kernel: Kernel) -> Iterator[Fast]:
    """The fast functions in front of a kernel, and of the slots of its family that its plain function runs."""
    if kernel.fast is not None and (own := fast_over(operator.name)) is not None:
        yield own
    names = dict.fromkeys(_slots_run(kernel.function, set()))
    yield from (one for one in FAST if one.over in names and one.over.startswith("cpu."))


def _slots_run(function: Any, seen: set[Any]) -> Iterator[str]:
    """The names of the slots that a kernel runs, in order of appearance, followed through the CPU kernels' files."""
    if (
        not isinstance(function, FunctionType)
        or function in seen
        or not (function.__module__ or "").startswith(KERNELS)
    ):
        return
    seen.add(function)
    values = [function.__globals__.get(name) for name in _names(function.__code__, function.__globals__)]
    for value in (*values, *(cell.cell_contents for cell in function.__closure__ or ())):
        if isinstance(value, Slot):
            yield value.name
            yield from _slots_run(value.plain, seen)
        else:
            yield from _slots_run(getattr(value, "loop", value), seen)  # the loop of a pointwise kernel's row


@lru_cache(maxsize=64)
def _lines(file: str) -> tuple[str, ...]:
    path = LIBRARY / file
    return tuple(path.read_text(encoding="utf-8").splitlines()) if path.is_file() else ()


def _reached(function: Any, seen: set[Any]) -> Iterator[str | FunctionType]:
    """What a composite kernel calls, in order of appearance: names of operators, and functions of other composites.

    A function of its own file, or of another composite's, is followed to what it calls.
    """
    if not isinstance(function, FunctionType) or function in seen:
        return
    seen.add(function)
    for name in _names(function.__code__, function.__globals__):
        value = function.__globals__.get(name)
        if isinstance(value, FunctionType) and value.__globals__ is function.__globals__:
            yield from _reached(value, seen)
        elif isinstance(value, FunctionType) and value.__module__.startswith(COMPOSITES) and value not in seen:
            yield value
            yield from _reached(value, seen)
        elif (operator := _operator_behind(value)) is not None:
            yield operator.qualified_overload
        elif value is None and registry.overloads("aten", name):
            yield name  # a method, or a function of another module
    for cell in function.__closure__ or ():
        operator = _operator_in(cell.cell_contents) or _operator_behind(cell.cell_contents)
        if operator is not None:
            yield operator.qualified_overload
        else:
            yield from _reached(cell.cell_contents, seen)


def _names(code: CodeType, known: dict[str, Any]) -> Iterator[str]:
    """The names that code reads, except those in other libraries' modules: `ones` in `np.ones` is not an operator."""
    foreign = False
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_ATTR", "LOAD_METHOD"):
            name = str(instruction.argval)
            if instruction.opname == "LOAD_GLOBAL" and name not in known and hasattr(builtins, name):
                continue  # `range` and `any` are Python's
            if not foreign or instruction.opname == "LOAD_GLOBAL":
                yield name
            value = known.get(name) if instruction.opname == "LOAD_GLOBAL" else None
            foreign = isinstance(value, ModuleType) and not value.__name__.startswith("glasstorch")
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant, known)


def _operator_behind(value: Any) -> Operator | None:
    """The operator that `on_tensor("name")` calls; see operators/direct.py."""
    if isinstance(value, ModuleType):
        return None
    cells = getattr(value, "__closure__", None) or ()
    return next((found for cell in cells if (found := _operator_in(cell.cell_contents))), None)


def _operator_in(value: Any) -> Operator | None:
    return value.operator if isinstance(value, DispatchTable) else None


# Shapes, derivatives and headers ----------------------------------------------------------------------------------


def _place_of_shape(shape: str) -> str:
    module, _, name = shape.rpartition(".")
    file = f"operators/shapes/{module.replace('.', '/')}.py"
    given = re.compile(rf"def {name}\(|(\w+(, | = ))*{name}(,| =|: )")  # `ceil, floor = ...` and `var = std = ...` too
    line = next(number for number, text in enumerate(_lines(file), 1) if given.match(text))
    return f"{file}:{line}"


@lru_cache(maxsize=1)
def _derivatives() -> dict[str, tuple[int, tuple[tuple[str, str], ...]]]:
    """Operator -> line of its row in derivatives.yaml, and its formulas, of gradients and of tangents.

    The rows are read as text: the installed library does not depend on a yaml parser.
    """
    found: dict[str, tuple[int, tuple[tuple[str, str], ...]]] = {}
    name = ""
    for number, text in enumerate(_lines("operators/derivatives.yaml"), 1):
        if text.startswith("- family: "):
            name = ""
        elif text.startswith("- op: "):
            name = text.removeprefix("- op: ").strip()
            found[name] = (number, ())
        elif text.startswith("  ") and name:
            key, _, value = text.strip().partition(": ")
            formulas = found[name][1] if key in NO_FORMULAS else (*found[name][1], (key, value))
            found[name] = (found[name][0], formulas)
    return found


def _derivative(name: str) -> tuple[str | None, tuple[tuple[str, str], ...]]:
    line, formulas = _derivatives().get(name, (0, ()))
    return (f"operators/derivatives.yaml:{line}", formulas) if line else (None, ())


@lru_cache(maxsize=256)
def _header(file: str) -> tuple[str, str]:
    """The `Mirrors:` and `Differs:` entries of a file of the library, each as one line."""
    text = "\n".join(_lines(file))
    found = dict(HEADER.findall(ast.get_docstring(ast.parse(text)) or ""))
    mirrors, differs = (" ".join(found.get(key, "").split()) for key in ("Mirrors", "Differs"))
    return mirrors, differs
