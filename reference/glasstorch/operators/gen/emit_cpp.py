"""How are the operators of C++ code, in `include/ATen`, emitted?

Mirrors: torchgen/api/cpp.py (the C++ type of each type of a schema), torchgen/gen.py (ComputeFunction)
Differs: each is one inline call of the dispatcher by the operator's name. An operator with a type that C++ code cannot
    pass here is left out; a Generator is left out of the parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from glasstorch.dispatch.schema import Argument, Return, Type
from glasstorch.operators.gen.model import NativeFunction

INCLUDE = Path(__file__).resolve().parents[2] / "include"
METHODS = INCLUDE / "ATen" / "core" / "TensorMethods.inc"
FUNCTIONS = INCLUDE / "ATen" / "Functions.inc"
BY_HAND = (INCLUDE / "ATen" / "core" / "TensorBase.h", INCLUDE / "ATen" / "core" / "Tensor.h")
DECLARED = re.compile(r"^    [^/].*?\b(\w+)\([^()]*\) const\b", re.MULTILINE)

# A type of a schema, without `?` and list: what a parameter is, what its optional is, and what a result is.
PARAMETER = {
    "Tensor": "const Tensor&",
    "Scalar": "const Scalar&",
    "int": "int64_t",
    "SymInt": "int64_t",
    "float": "double",
    "bool": "bool",
    "str": "std::string_view",
    "ScalarType": "ScalarType",
    "Layout": "Layout",
    "Device": "Device",
    "MemoryFormat": "MemoryFormat",
}
RESULT = {"Tensor": "Tensor", "Scalar": "Scalar", "str": "std::string"}
LIST = {"Tensor": "TensorList", "int": "IntArrayRef", "SymInt": "IntArrayRef", "float": "ArrayRef<double>"}
OPTIONAL_LIST = {
    "int": "OptionalIntArrayRef",
    "SymInt": "OptionalIntArrayRef",
    "float": "std::optional<ArrayRef<double>>",
}
OPTIONS = ("dtype", "layout", "device", "pin_memory")
PASSED_OPTIONS = ("options.dtype_", "options.layout_", "options.device_", "std::nullopt")
# Words of C++ that parameters of operators are named by.
RESERVED = {"default", "operator", "register", "union"}
WORDS = {
    "None": "std::nullopt",
    "True": "true",
    "False": "false",
    "Mean": "1",
    "long": "ScalarType::Long",
    "contiguous_format": "MemoryFormat::Contiguous",
    "preserve_format": "MemoryFormat::Preserve",
    "strided": "Layout::Strided",
}


class Parameter(NamedTuple):
    """One parameter of a C++ function, and what it passes to the operator."""

    declared: str  # `const Tensor& self`
    name: str
    default: str | None
    passed: tuple[str, ...]  # one for each argument of the schema

    def __str__(self) -> str:
        return self.declared if self.default is None else f"{self.declared} = {self.default}"


class _NotPassed(Exception):
    """A type that C++ code cannot pass."""


def emit_methods(functions: list[NativeFunction], mark: str) -> str:
    """The members of `class Tensor`."""
    by_hand = {name for path in BY_HAND for name in DECLARED.findall(path.read_text(encoding="utf-8"))}
    lines = [f"// The operators that are methods of Tensor. {mark}\n"]
    for native, result, name, parameters in _methods(functions):
        if name not in by_hand:
            body = _body(native, _parameters(native), is_method=True)
            lines.append(f"{result} {name}({_shown(parameters)}) const {{ {body} }}\n")
    return "".join(lines)


def emit_functions(functions: list[NativeFunction], mark: str) -> str:
    """The functions of the namespace at."""
    lines = [f"// The operators as functions. {mark}\n"]
    seen = set()  # overloads that differ in a Generator only are one
    for native in functions:
        try:
            parameters = _parameters(native)
            result = _result(native)
        except _NotPassed:
            continue
        if "function" not in native.variants and not native.schema.is_out:
            continue
        if native.schema.is_out:
            outs = {a.name for a in native.schema.out_arguments}
            shown = sorted(parameters, key=lambda p: p.name not in outs)
            name = f"{native.schema.name}_out"
        else:
            shown, name = parameters, native.schema.name
        body = _body(native, parameters)
        signature = name, *(p.declared for p in shown if p.declared)
        if signature not in seen:
            seen.add(signature)
            lines.append(f"inline {result} {name}({_shown(shown)}) {{ {body} }}\n")
    return "".join(lines)


def _shown(parameters: Sequence[Parameter]) -> str:
    """A list of parameters; after one with a default, each has one."""
    shown = [p for p in parameters if p.declared]
    last = max((i for i, p in enumerate(shown) if p.default is None), default=-1)
    return ", ".join(p.declared if i < last else str(p) for i, p in enumerate(shown))


def _methods(functions: list[NativeFunction]) -> Iterator[tuple[NativeFunction, str, str, list[Parameter]]]:
    """Each method: its operator, the type of its result, its name, and its parameters but `self`."""
    for native in functions:
        if "method" not in native.variants or native.schema.is_out:
            continue
        try:
            parameters, result = _parameters(native), _result(native)
        except _NotPassed:
            continue
        yield native, result, native.schema.name, [p for p in parameters if p.name != "self"]


def _parameters(native: NativeFunction) -> list[Parameter]:
    arguments = native.schema.arguments
    found: list[Parameter] = []
    i = 0
    while i < len(arguments):
        argument = arguments[i]
        if tuple(a.name for a in arguments[i : i + len(OPTIONS)]) == OPTIONS:
            default = None if argument.default is None else "{}"
            found.append(Parameter("const TensorOptions& options", "options", default, PASSED_OPTIONS))
            i += len(OPTIONS)
            continue
        found.append(_parameter(argument))
        i += 1
    return found


def _parameter(argument: Argument) -> Parameter:
    kind = argument.type
    name = f"{argument.name}_" if argument.name in RESERVED else argument.name
    if kind.base == "Generator" and kind.is_optional:
        return Parameter("", name, None, ("std::nullopt",))
    declared = _type_of_parameter(kind)
    default = None if argument.default is None else _default(kind, argument.default)
    return Parameter(f"{declared} {name}", name, default, (name,))


def _type_of_parameter(kind: Type) -> str:
    base = PARAMETER.get(kind.base)
    if base is None:
        raise _NotPassed(str(kind))
    match kind.suffixes:
        case ():
            return "Tensor&" if kind.is_write else base
        case ("?",):
            plain = base.removeprefix("const ").removesuffix("&")
            return f"const std::optional<{plain}>&"
        case (size,) if kind.base == "bool" and kind.list_size:
            return f"std::array<bool, {size[1:-1]}>"
        case (_,) if kind.base in LIST:
            return LIST[kind.base]
        case (_, "?") if kind.base in OPTIONAL_LIST:
            return OPTIONAL_LIST[kind.base]
        case ("?", "[]") if kind.base == "Tensor":
            return "const std::vector<std::optional<Tensor>>&"
    raise _NotPassed(str(kind))


def _default(kind: Type, text: str) -> str:
    if text in WORDS:
        return WORDS[text]
    if text.startswith("["):
        return "{" + text[1:-1] + "}"
    if text[0] in "\"'":
        return f'"{text[1:-1]}"'
    if kind.is_list:
        return "{" + ", ".join([text] * (kind.list_size or 1)) + "}"
    return text


def _result(native: NativeFunction) -> str:
    returns = native.schema.returns
    if native.schema.is_inplace and returns:
        return "Tensor&"
    types = [_type_of_result(r) for r in returns]
    if native.schema.is_out and types:
        types = ["Tensor&"] * len(types)
    if not types:
        return "void"
    return types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"


def _type_of_result(result: Return) -> str:
    kind = result.type
    if kind.base not in PARAMETER or kind.is_optional:
        raise _NotPassed(str(kind))
    base = RESULT.get(kind.base, PARAMETER[kind.base])
    return f"std::vector<{base}>" if kind.is_list else base


def _body(native: NativeFunction, parameters: Sequence[Parameter], is_method: bool = False) -> str:
    passed = [text for p in parameters for text in p.passed]
    if is_method:
        passed = ["*this" if text == "self" else text for text in passed]
    name = f'"aten::{native.name}"'
    given = ", ".join([name, *passed])
    if native.schema.is_out:
        written = [a.name for a in native.schema.out_arguments]
        result = written[0] if len(written) == 1 else f"std::tie({', '.join(written)})"
        return f"glasstorch::run({given}); return {result};" if native.schema.returns else f"glasstorch::run({given});"
    if native.schema.is_inplace and native.schema.returns:
        self = "const_cast<Tensor&>(*this)" if is_method else "self"
        return f"glasstorch::run({given}); return {self};"
    call = f"glasstorch::call<{_result(native)}>({given})"
    if any(p.name == "options" for p in parameters):
        return f"return glasstorch::with_grad({call}, options);"
    return f"return {call};"
