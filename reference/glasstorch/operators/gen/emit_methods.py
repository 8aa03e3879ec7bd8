"""How are the methods and Python operators of Tensor in `operators/generated/methods.py` emitted?

Mirrors: tools/autograd/templates/python_variable_methods.cpp (variable_methods, TypeError_to_NotImplemented_)
Differs: a mixin class; if the tensor is a function's first argument, the method is that function under another name.
"""

from __future__ import annotations

from textwrap import fill, indent

from glasstorch.dispatch.tags import Tag
from glasstorch.operators.gen.emit_functions import Name, _call, _local, group
from glasstorch.operators.gen.model import NativeFunction, python_name

# Python's operators and their functions; the named overload is called directly for two tensors.
BINARY = {
    "__add__": ("add", "add.Tensor"),
    "__sub__": ("sub", "sub.Tensor"),
    "__mul__": ("mul", "mul.Tensor"),
    "__truediv__": ("div", "div.Tensor"),
    "__matmul__": ("matmul", "matmul"),
    "__pow__": ("pow", "pow.Tensor_Tensor"),
    "__floordiv__": ("floor_divide", "floor_divide"),
    "__mod__": ("remainder", "remainder.Tensor"),
    "__and__": ("bitwise_and", "bitwise_and.Tensor"),
    "__or__": ("bitwise_or", "bitwise_or.Tensor"),
    "__xor__": ("bitwise_xor", "bitwise_xor.Tensor"),
    "__lshift__": ("bitwise_left_shift", "bitwise_left_shift.Tensor"),
    "__rshift__": ("bitwise_right_shift", "bitwise_right_shift.Tensor"),
    "__eq__": ("eq", "eq.Tensor"),
    "__ne__": ("ne", "ne.Tensor"),
    "__lt__": ("lt", "lt.Tensor"),
    "__le__": ("le", "le.Tensor"),
    "__gt__": ("gt", "gt.Tensor"),
    "__ge__": ("ge", "ge.Tensor"),
    "__iadd__": ("add_", "add_.Tensor"),
    "__isub__": ("sub_", "sub_.Tensor"),
    "__imul__": ("mul_", "mul_.Tensor"),
    "__itruediv__": ("div_", "div_.Tensor"),
    "__ifloordiv__": ("floor_divide_", "floor_divide_.Tensor"),
    "__imod__": ("remainder_", "remainder_.Tensor"),
    "__ipow__": ("pow_", "pow_.Tensor"),
    "__iand__": ("bitwise_and_", "bitwise_and_.Tensor"),
    "__ior__": ("bitwise_or_", "bitwise_or_.Tensor"),
    "__ixor__": ("bitwise_xor_", "bitwise_xor_.Tensor"),
    "__ilshift__": ("bitwise_left_shift_", "bitwise_left_shift_.Tensor"),
    "__irshift__": ("bitwise_right_shift_", "bitwise_right_shift_.Tensor"),
}
REFLECTED = {
    "__radd__": "add",
    "__rmul__": "mul",
    "__rsub__": "rsub",
    "__rand__": "bitwise_and",
    "__ror__": "bitwise_or",
    "__rxor__": "bitwise_xor",
}
# Of these, the overload that is called directly for a tensor and a number; the others commute, and are called as above.
BY_NUMBER = {"__rsub__": "rsub.Scalar"}
# The operators that others are asked about under their own names; the rest under those of their functions.
ASKED_AS_THEMSELVES = {
    *("__floordiv__", "__pow__", "__ipow__", "__eq__", "__rsub__"),
    *("__and__", "__or__", "__xor__", "__lshift__", "__rshift__"),
    *("__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__"),
}
UNARY = {"__neg__": "neg", "__abs__": "abs", "__pos__": "positive"}

HEADER = '''"""The methods and Python operators of Tensor that call operators of the library. {mark}

Mirrors: torch/csrc/autograd/generated/python_variable_methods.cpp
Differs: a mixin class, joined in `_tensor.py`; `x.add(y)` runs the code of `add(x, y)`.
"""

# mypy: disable-error-code="attr-defined"
# A type checker does not see that a type in PLAIN is one of a tensor.

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from glasstorch.core import hooks
from glasstorch.core.plain_types import PLAIN, PLAIN_NUMBERS
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.calls.as_method import as_method, names_of_methods
from glasstorch.operators.generated import functions as _f
from glasstorch.operators.generated.registry import table
from glasstorch.calls.python_operators import (
    asked_operator, equality_operator, inverting, not_implemented, part, reflected_operator
)

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

{tables}
NAMES = names_of_methods(vars(_f))


class TensorMethods(TensorImpl):
    """The methods of Tensor that call operators; the rest of `Tensor` is in `_tensor.py`."""

    __slots__ = ()

'''


def emit(functions: list[NativeFunction], mark: str) -> str:
    names = {n.name: n for n in group(functions)}
    attributes = [f for f in functions if f.attribute is not None and f.functional is None]
    hidden = {f.schema.name for f in attributes}
    by_overload = {f.name: f for f in functions}
    called: list[NativeFunction | None] = []
    for name_, overload in BINARY.values():
        if overload in by_overload:
            called += [by_overload[overload], _with_number(names[name_])]
    called += [by_overload.get(overload) for overload in BY_NUMBER.values()]
    tables = "".join(f"{f.table} = table({f.name!r})\n" for f in called if f is not None)
    parts = [
        HEADER.format(mark=mark, tables=tables),
        *(_method(n) for n in names.values() if n.is_method and n.name not in hidden),
    ]
    parts.append("\n    # Attributes\n")
    makers = {False: "property", True: "part"}
    parts += [f"    {f.attribute} = {makers[f.is_assignable]}(_f.{python_name(f.schema.name)})\n" for f in attributes]
    parts.append("\n    # Python's operators\n")
    for dunder, (name_, overload) in BINARY.items():
        if overload in by_overload:
            parts.append(_binary(dunder, name_, by_overload[overload], _with_number(names[name_])))
    for dunder, name_ in REFLECTED.items():
        if name_ in names:
            parts.append(_reflected(dunder, name_, by_overload.get(BY_NUMBER.get(dunder, ""))))
    parts += [f"    {dunder} = {name_}\n" for dunder, name_ in UNARY.items() if name_ in names]
    if "bitwise_not" in names:
        parts.append("    __invert__ = inverting(_f.bitwise_not)\n")
    if "__eq__" in "".join(parts):
        parts.append("\n    __hash__ = object.__hash__\n")
    asked = {dunder: dunder if dunder in ASKED_AS_THEMSELVES else name for dunder, (name, _) in BINARY.items()}
    parts.append("\n    # The method under whose name others are asked about a Python operator.\n")
    rows = fill(", ".join(f'"{dunder}":"{name}"' for dunder, name in asked.items()), 100).replace('":"', '": "')
    parts.append(f"    _asked_as: Final = {{\n{indent(rows, ' ' * 8)},\n    }}  # fmt: skip\n")
    if "pow" in names:  # where PyTorch wraps a method, and the wrapper keeps the method's name
        parts.append('\n\nTensorMethods.__pow__.__name__, TensorMethods.__ipow__.__name__ = "pow", "pow_"\n')
    return "".join(parts)


def _method(name: Name) -> str:
    f = name.primary
    at = next(i for i, a in enumerate(f.schema.arguments) if a.name == "self")
    if at == 0:
        return f"    {name.name} = as_method(_f.{python_name(name.name)}, NAMES)\n"
    others = [python_name(a.name) for a in f.schema.arguments if a.name != "self"]
    call = ["self" if a.name == "self" else python_name(a.name) for a in f.schema.arguments]
    return (
        f"\n    def {name.name}(self: Any, {', '.join(o + ': Any' for o in others)}) -> Any:\n"
        f'        """See `{name.name}`; this tensor is its argument `self`."""\n'
        f"        return _f.{python_name(name.name)}({', '.join(call)})\n\n"
    )


def _operator(kind: str, dunder: str, name: str) -> str:
    """The call for operands that do not go directly to the table."""
    own = f", TensorMethods.{dunder}" if dunder in ASKED_AS_THEMSELVES else ""
    function = f"_f.{name}" if name == "rsub" else f"TensorMethods.{name}"
    return f"{kind}_operator({function}, self, other{own})"


def _with_number(name: Name) -> NativeFunction | None:
    """The overload of a binary operator for a tensor and a number; None where the number becomes a tensor."""
    for f in name.plain if not name.takes_numbers else []:
        first, second, *others = f.schema.arguments
        if (first.type.base, second.type.base) == ("Tensor", "Scalar") and not others:
            return f
    return None


def _binary(dunder: str, name: str, f: NativeFunction, by_number: NativeFunction | None) -> str:
    """`a + b`: two tensors go directly to the table, and so does a number beside one; the rest goes to the parser."""
    is_equality = dunder in ("__eq__", "__ne__")  # object also defines them, and returns bool
    takes_numbers = Tag.numbers_as_tensors in f.tags and not is_equality
    call = _direct(f, " " * (8 if takes_numbers else 12))
    ignore = "  # type: ignore[override]" if is_equality else ""
    anything = "object" if is_equality else "Any"
    parsed = f"return {_operator('equality' if dunder == '__eq__' else 'asked', dunder, name)}\n"
    head = f"\n    def {dunder}(self, other: {anything}) -> Tensor:{ignore}  # hot path: benchmarks/eager.py\n"
    if takes_numbers:
        return (
            f"{head}        if type(other) not in PLAIN:\n"
            f"            if type(other) not in PLAIN_NUMBERS:\n                {parsed}"
            f"            other = hooks.tensor_hooks.wrapped_number(other)\n{call}"
        )
    number = "" if by_number is None else f"        if type(other) in PLAIN_NUMBERS:\n{_direct(by_number, ' ' * 12)}"
    return f"{head}        if type(other) in PLAIN:\n{call}{number}        {parsed}"


def _reflected(dunder: str, name: str, by_number: NativeFunction | None) -> str:
    """`1 - a`: a number goes directly to the table of the overload that takes one, if there is one."""
    asked = f"        return {_operator('reflected', dunder, name)}\n"
    if by_number is None:
        return f"\n    def {dunder}(self, other: Any) -> Tensor:\n{asked}"
    return (
        f"\n    def {dunder}(self, other: Any) -> Tensor:  # hot path: benchmarks/eager.py\n"
        f"        if type(other) in PLAIN_NUMBERS and type(self) in PLAIN:\n{_direct(by_number, ' ' * 12)}{asked}"
    )


def _direct(f: NativeFunction, indent: str) -> str:
    """The lines that call an overload through its table, with the defaults of all arguments after the second."""
    call = _call(f, indent).replace("input.", "self.").replace("(keys, input", "(keys, self")
    for a in f.schema.arguments[2:]:
        call = call.replace(f", {_local(a)})", f", {a.default_value!r})")
    return _or_not_implemented(call.replace("exponent", "other"))


def _or_not_implemented(call: str) -> str:
    """The lines of a call that is NotImplemented where a mode or a class of tensors was asked, and raised TypeError."""
    *before, last = call.splitlines()
    space = " " * (len(last) - len(last.lstrip()))
    lines = [f"{space}try:", f"    {last}", f"{space}except TypeError:", f"{space}    return not_implemented(keys)"]
    return "\n".join([*before, *lines, ""])
