"""How are the stubs emitted from which type checkers and editors know functions and methods whose overloads differ?

Mirrors: tools/pyi/gen_pyi.py, torch/_C/_VariableFunctions.pyi.in, torch/_C/__init__.pyi.in (TensorBase)
Differs: a stub beside each of two generated modules. A function with one form for all overloads is as in its module.

At run time such a function is `def sum(*args, **kwargs)`, since its parser resolves the call. Here it has one typed
form for each overload, and where NumPy's names `axis` and `keepdims` are accepted, one more with these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from glasstorch.core.return_types import RETURN_TYPES, NamedResults
from glasstorch.dispatch.schema import Argument, FunctionSchema
from glasstorch.operators.gen.emit_functions import PYTHON_TYPE, Name, group
from glasstorch.operators.gen.emit_methods import BINARY, REFLECTED, UNARY
from glasstorch.operators.gen.emit_public import in_lines, is_public
from glasstorch.operators.gen.model import NativeFunction, python_name

IMPORTS = """
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, overload

from glasstorch.core.device import device as device_
from glasstorch.core.dtype import Number
from glasstorch.core.dtype import dtype as dtype_
from glasstorch.core.layout import layout as layout_
from glasstorch.core.layout import memory_format as memory_format_
from glasstorch.core.random.generator import Generator
from glasstorch.core.storage import Storage
from glasstorch.core.tensor_impl import TensorImpl
{more}
if TYPE_CHECKING:  # noqa: PYI002  (the forward declaration, as in a module)
    from glasstorch._tensor import Tensor

# fmt: off
"""

PUBLIC = """# The types of the public functions whose overloads differ, and the names of all others. {mark}
#
# Mirrors: torch/_C/_VariableFunctions.pyi.in

# mypy: disable-error-code="overload-overlap,overload-cannot-match"
{imports}
"""

METHODS = """# The types of the methods and Python operators of Tensor that call operators of the library. {mark}
#
# Mirrors: torch/_C/__init__.pyi.in (TensorBase)

# mypy: disable-error-code="overload-overlap,overload-cannot-match,override,misc"
{imports}
NAMES: dict[str, Any]

{results}
class TensorMethods(TensorImpl):
"""

NUMPY_NAMES = {"dim": "axis", "keepdim": "keepdims"}
RESULTS = {"Tensor": "Tensor", "Scalar": "Number", "bool": "bool", "int": "int", "SymInt": "int", "float": "float"}


@dataclass(frozen=True)
class Form:
    """One typed form of a function: its parameters as written, and what it gives."""

    parameters: tuple[str, ...]
    returns: str

    def lines(self, name: str, indent: str, several: bool, is_method: bool) -> str:
        """Its definition in a stub."""
        given = ", ".join(("self", *self.parameters) if is_method else self.parameters)
        mark = f"{indent}@overload\n" if several else ""
        return f"{mark}{indent}def {name}({given}) -> {self.returns}: ...\n"


def emit_public(functions: list[NativeFunction], mark: str) -> str:
    """The stub of `public.py`."""
    results = ", ".join(f"_{kind.__name__}" for kind in _named_results())
    more = f"from glasstorch.operators.generated.methods import {results}\n"
    parts = [PUBLIC.format(mark=mark, imports=IMPORTS.format(more=more))]
    same = []
    for name in group(functions):
        if is_public(name):
            shown = python_name(name.name)
            if name.has_plain_parameters:
                same.append(f"{shown} as {shown},")
            else:
                parts.append(_definition(name, shown, "", is_method=False))
    imported = f"from glasstorch.operators.generated.functions import (  # isort: skip\n{in_lines(same)}\n)\n"
    return "".join([parts[0], imported, *parts[1:]])


def emit_methods(functions: list[NativeFunction], mark: str) -> str:
    """The stub of `methods.py`."""
    names = {n.name: n for n in group(functions)}
    attributes = [f for f in functions if f.attribute is not None and f.functional is None]
    hidden = {f.schema.name for f in attributes}
    results = "".join(
        f"class _{kind.__name__}(NamedTuple):\n" + "".join(f"    {field}: Tensor\n" for field in kind.fields) + "\n"
        for kind in _named_results()
    )
    parts = [METHODS.format(mark=mark, imports=IMPORTS.format(more=""), results=results)]
    parts += [_definition(n, n.name, "    ", True) for n in names.values() if n.is_method and n.name not in hidden]
    for f in attributes:
        parts.append(f"    @property\n    def {f.attribute}(self) -> Tensor: ...\n")
        if f.is_assignable:
            parts.append(
                f"    @{f.attribute}.setter\n    def {f.attribute}(self, value: Tensor | Number) -> None: ...\n"
            )
    overloads = {f.name for f in functions}
    binary = [dunder for dunder, (_, overload) in BINARY.items() if overload in overloads]
    for dunder in [*binary, *(d for d, function in REFLECTED.items() if function in names)]:
        kind = "object" if dunder in ("__eq__", "__ne__") else "Any"
        parts.append(f"    def {dunder}(self, other: {kind}) -> Tensor: ...\n")
    parts += [f"    def {dunder}(self) -> Tensor: ...\n" for dunder in [*UNARY, "__invert__"]]
    parts.append("    def __hash__(self) -> int: ...\n    _asked_as: Final[dict[str, str]]\n")
    return "".join(parts)


def _definition(name: Name, shown: str, indent: str, is_method: bool) -> str:
    """All typed forms of one name."""
    forms = [*dict.fromkeys(_forms(name, is_method))]
    return "".join(form.lines(shown, indent, len(forms) > 1, is_method) for form in forms)


def _forms(name: Name, is_method: bool) -> Iterator[Form]:
    outs = {_taken(out.schema): out for out in name.outs}
    for f in name.plain:
        out = outs.get(tuple((a.name, str(a.type)) for a in f.schema.arguments))
        for arguments in _renamed(f.schema.arguments):
            for loose in (False, True) if _may_be_loose(f, is_method) else (False,):
                yield _form(name, f, arguments, out is not None, is_method, loose)


def _taken(schema: FunctionSchema) -> tuple[tuple[str, str], ...]:
    """The parameters of an out= form without the tensors to write to."""
    return tuple((a.name, str(a.type)) for a in schema.arguments if not a.type.is_write)


def _renamed(arguments: tuple[Argument, ...]) -> Iterator[tuple[Argument, ...]]:
    """The parameters, and again under NumPy's names if some have one."""
    yield arguments
    if any(a.name in NUMPY_NAMES for a in arguments):
        yield tuple(replace(a, name=NUMPY_NAMES.get(a.name, a.name)) for a in arguments)


def _may_be_loose(f: NativeFunction, is_method: bool) -> bool:
    """Whether the ints of a list may be given one by one: `x.view(2, 3)`, `torch.zeros(2, 3)`."""
    positional = [a for a in f.schema.positional if a.name != "self"]
    has_self = len(positional) < len(f.schema.positional)
    is_alone = len(positional) == 1 and positional[0].type.is_list and positional[0].type.base in ("int", "SymInt")
    return is_alone and (is_method or not has_self)


def _form(
    name: Name, f: NativeFunction, arguments: tuple[Argument, ...], has_out: bool, is_method: bool, loose: bool
) -> Form:
    """One form; with `loose` its list is written as loose ints, after which all is given by name."""
    written: list[str] = []
    by_name = False
    for i, a in enumerate(arguments):
        if is_method and a.name == "self":
            continue
        is_list_of_ints = not by_name and a.type.is_list and a.type.base in ("int", "SymInt")
        if loose and is_list_of_ints and not any(text.startswith("*") for text in written):
            written.append(f"*{python_name(a.name)}: int")
            by_name = True
            continue
        if a.keyword_only and not by_name:
            written.append("*")
            by_name = True
        written.append(_parameter(a, name.takes_numbers and i > 0))
    if has_out and not is_method:
        written += [*([] if by_name else ["*"]), "out: Any = None"]
        by_name = True
    if f.schema.is_factory:
        written += [*([] if by_name else ["*"]), "requires_grad: bool = False"]
    return Form(tuple(written), _result(f))


def _parameter(a: Argument, may_be_number: bool) -> str:
    """A parameter as it is written in Python, with its type."""
    kind = PYTHON_TYPE[a.type.base]
    if a.type.base == "Tensor" and may_be_number and not a.type.is_list:
        kind = "Tensor | Number"
    elif a.type.base == "Scalar":
        kind = "Number | Tensor"  # a tensor of one element is taken as its number
    elif a.type.base == "Device":
        kind = "device_ | str | int"
    if a.type.is_list:
        kind += " | None" if a.type.suffixes[0] == "?" else ""
        kind = f"Sequence[{kind}]" + (f" | {kind}" if a.type.list_size else "")
    if a.type.is_optional or a.default == "None" or (a.default is not None and a.type.base in NONE_BY_DEFAULT):
        kind += " | None"
    shown = "input" if a.name == "self" else python_name(a.name)
    return f"{shown}: {kind}" + ("" if a.default is None else " = ...")


NONE_BY_DEFAULT = ("ScalarType", "Layout", "MemoryFormat")


def _named_results() -> list[type[NamedResults]]:
    """The types of results with names, each once."""
    return [*dict.fromkeys(RETURN_TYPES.values())]


def _result(f: NativeFunction) -> str:
    """The type of what an overload gives."""
    results = f.schema.returns
    if not results:
        return "None"
    if len(results) == 1:
        kind = results[0].type
        return "tuple[Tensor, ...]" if kind.is_list else RESULTS.get(kind.base, "Any")
    if f.name in RETURN_TYPES:
        return f"_{RETURN_TYPES[f.name].__name__}"
    return f"tuple[{', '.join(RESULTS.get(r.type.base, 'Any') for r in results)}]"
