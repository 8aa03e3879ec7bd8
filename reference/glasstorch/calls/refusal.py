"""In which words is a call refused that no overload accepts?

Mirrors: torch/csrc/utils/python_arg_parser.cpp (FunctionSignature::parse, PythonArgParser::print_error),
    torch/csrc/utils/invalid_arguments.cpp, torchgen/api/python.py,
    tools/autograd/gen_python_functions.py (sort_overloads)
Differs: an overload and its out= form are two signatures here, and one with `Tensor out = None` in a message.

Where one overload has room for as many arguments as were given, the message says what is wrong with that one. Otherwise
it lists them all, and marks in those with as many arguments what has another type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from glasstorch.calls.arguments import REFUSED, size_of
from glasstorch.calls.signature import Position, Signature, kind_of, python_name, type_name
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.schema import Argument, Type

# NumPy's names for parameters.
# Mirrors: numpy_compatibility_arg_names in torch/csrc/utils/python_arg_parser.cpp
NUMPY_NAMES = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}
OPTIONS = {"dtype": "None", "layout": "None", "device": "None", "pin_memory": "False"}
OUT = Argument(Type("Tensor", None, ()), "out", "None", True)
OUTS = Argument(Type("Tensor", None, ("[]",)), "out", "None", True)
REQUIRES_GRAD = Argument(Type("bool", None, ()), "requires_grad", "False", True)


class Expected(NamedTuple):
    """One overload as a message shows it: the parameters of the Python function, `out` among them."""

    signature: Signature
    parameters: list[Argument]
    is_method: bool

    @property
    def positional(self) -> int:
        return next((i for i, p in enumerate(self.parameters) if p.keyword_only), len(self.parameters))

    @property
    def required(self) -> int:
        return sum(p.default is None for p in self.parameters)

    def options(self) -> list[str]:
        """The parameters as they are written, and the star that stands before those that are given by name."""
        texts = [self.written(p) for p in self.parameters]
        if self.positional < len(texts):
            texts[self.positional] = f"*, {texts[self.positional]}"
        return texts

    @staticmethod
    def written(parameter: Argument) -> str:
        text = f"{kind_of(parameter)} {python_name(parameter)}"
        return text if parameter.default is None else f"{text} = {_default(parameter)}"

    def __str__(self) -> str:
        return f"({', '.join(self.options())})"


def expected(signatures: Sequence[Signature], outs: Sequence[Signature], as_method: bool) -> list[Expected]:
    """The overloads in the order in which PyTorch tries and shows them."""
    rows = []
    for signature in signatures:
        if as_method and signatures[0].has_self and not _takes_tensor(signature):
            continue
        given = [p.argument for p in signature.parameters]
        out = None if as_method else next((o for o in outs if _same(signature, o)), None)
        options = [a for a in given if a.name in OPTIONS and a.keyword_only and signature.is_factory]
        shown = [a for a in given[as_method and signature.has_self :] if a not in options]
        if out is not None:
            shown.append(OUTS if out.kind_of_out != "Tensor" else OUT)
        shown += options
        if options:
            shown.append(REQUIRES_GRAD)
        rows.append(Expected(signature, shown, as_method))
    return _in_pytorchs_order(rows)


def _takes_tensor(signature: Signature) -> bool:
    return signature.has_self and signature.positional[0].type.base == "Tensor"


def _same(signature: Signature, out: Signature) -> bool:
    """Whether one is the out= form of the other: the tensor options aside, the parameters are the same."""
    mine, theirs = (
        [(p.name, p.argument.type.base, p.argument.type.suffixes) for p in s.parameters if p.name not in OPTIONS]
        for s in (signature, out)
    )
    return mine == theirs


def refusal(name: str, rows: Sequence[Expected], is_hidden: bool, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
    """The message for a call of a function with these overloads; `is_hidden`: it has others that are not shown."""
    count = len(args) + len(kwargs)
    plausible = [row for row in rows if row.required <= count <= len(row.parameters)]
    alone = rows[0] if len(rows) == 1 and not is_hidden else plausible[0] if len(plausible) == 1 else None
    if alone is not None and not alone.parameters and alone.is_method:
        return f"TensorBase.{name}() takes no {'keyword arguments' if kwargs else f'arguments ({len(args)} given)'}"
    if alone is not None:
        reason = mismatch(name, alone, args, kwargs)
        if reason is not None:
            return reason
    return _of_all(name, rows, args, kwargs)


def mismatch(name: str, row: Expected, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
    """The first thing about a call that one overload does not accept."""
    parameters, count = row.parameters, len(args)
    takes_loose = row.positional == 1 and kind_of(parameters[0]) == "tuple of ints"
    takes_loose = takes_loose and count > 0 and size_of(args[0], 0) is not None
    if count > row.positional and not takes_loose:
        return _too_many(name, row, count)
    at = 0
    unused = len(kwargs)
    for i, parameter in enumerate(parameters):
        by_name = at >= count
        if not by_name and parameter.keyword_only:
            return _too_many(name, row, count)
        shown = python_name(parameter)
        key = next((k for k in (shown, *NUMPY_NAMES.get(shown, ())) if k in kwargs), None) if by_name else None
        if by_name and key is None:
            if parameter.default is None:
                return _missing(name, parameters[i:])
            continue
        value = kwargs[key] if key is not None else args[at]
        if not _accepts(row, parameter, value):
            if takes_loose and at == 0 and not by_name:
                value = list(args)
                if _accepts(row, parameter, value):
                    at = count
                    continue
            return f"{name}(): {_refused(row, parameter, None if by_name else at, value)}"
        if by_name:
            unused -= 1
        else:
            at += 1
    if not unused:
        return None
    names = [python_name(p) for p in parameters]
    for key in kwargs:
        if key not in names:
            return f"{name}() got an unexpected keyword argument '{key}'"
        if names.index(key) < count:
            return f"{name}() got multiple values for argument '{key}'"
    return "invalid keyword arguments"


def _accepts(row: Expected, parameter: Argument, value: object) -> bool:
    if parameter is OUT:
        return value is None or isinstance(value, TensorImpl)
    if parameter is OUTS:
        return value is None or isinstance(value, list | tuple)
    if parameter is REQUIRES_GRAD:
        return isinstance(value, bool)
    if value is None and (parameter.type.is_optional or parameter.default == "None"):
        return True
    convert = next(p.convert for p in row.signature.parameters if p.argument is parameter)
    return convert(value) is not REFUSED


def _refused(row: Expected, parameter: Argument, at: int | None, value: object) -> str:
    position = Position(None, None) if at is None else Position(at + 1, at + 1)
    return row.signature.refusal(parameter, at, value, position).reason(as_method=False)


def _too_many(name: str, row: Expected, count: int) -> str:
    most, least = row.positional, row.required
    if least != most:
        return f"{name}() takes from {least} to {most} positional arguments but {count} were given"
    were = "was" if count == 1 else "were"
    return f"{name}() takes {most} positional argument{'s' * (most != 1)} but {count} {were} given"


def _missing(name: str, rest: Sequence[Argument]) -> str:
    names = [f'"{python_name(p)}"' for p in rest if p.default is None]
    return f"{name}() missing {len(names)} required positional argument{'s' * (len(names) == 1)}: {', '.join(names)}"


# All overloads -----------------------------------------------------------------------------------------------------


def _of_all(name: str, rows: Sequence[Expected], args: Sequence[Any], kwargs: dict[str, Any]) -> str:
    message = f"{name}() received an invalid combination of arguments - got "
    named = dict(reversed(kwargs.items()))  # a hash table of C++ hands a few entries out in this order
    if len(rows) == 1:
        names = _last_words(rows[0])
        unknown = _unknown(names, named)
        if unknown:
            return f"{message}unrecognized keyword arguments: {', '.join(unknown)}"
        got = _marked(names, rows[0], args, named) if _as_many(names, args, named) else _got(args, named)
        return f"{message}{got}, but expected {rows[0]}"
    message += f"{_got(args, named)}, but expected one of:\n"
    for row in rows:
        message += f" * {row}\n"
        names = _last_words(row)
        if _as_many(names, args, named):
            unknown = _unknown(names, named)
            if unknown:
                message += f"      didn't match because some of the keywords were incorrect: {', '.join(unknown)}\n"
            else:
                message += "      didn't match because some of the arguments have invalid types: "
                message += f"{_marked(names, row, args, named)}\n"
    return message


def _last_words(row: Expected) -> list[str]:
    """The last word of each part of the text, which PyTorch takes for a parameter's name; the star is a part too.

    Of `int dim = None` that is None, so a parameter with a default is never found by its name.
    """
    return [part.rpartition(" ")[2] for part in str(row)[1:-1].split(", ")] if row.parameters else [""]


def _as_many(names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    return len(args) + len(kwargs) == len(names)


def _unknown(names: Sequence[str], kwargs: Mapping[str, Any]) -> list[str]:
    last = names[max(len(names) - len(kwargs), 0) :]
    return [name for name in kwargs if name not in last]


def _got(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    parts = [*map(type_name, args), *(f"{name}={type_name(value)}" for name, value in kwargs.items())]
    # PyTorch takes the last comma away only where there are positional arguments.
    return f"({', '.join(parts)}{', ' if kwargs and not args else ''})"


def _marked(names: Sequence[str], row: Expected, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """The arguments, with exclamation marks around those whose type is not called as the parameter's type."""
    kinds = [part.rpartition(" ")[0] for part in str(row)[1:-1].split(", ")]
    parts = []
    for i, (kind, name) in enumerate(zip(kinds, names, strict=True)):
        value = args[i] if i < len(args) else kwargs[name]
        mark = "" if type_name(value) in ({"float": ("float", "int")}.get(kind) or (kind,)) else "!"
        text = type_name(value)
        if isinstance(value, list | tuple):
            opening, closing = "()" if isinstance(value, tuple) else "[]"
            text += f" of {opening}{', '.join(map(type_name, value))}{closing}"
        parts.append(f"{mark}{'' if i < len(args) else name + '='}{text}{mark}")
    return f"({', '.join(parts)}{', ' if kwargs and not args else ''})"


# Their order -------------------------------------------------------------------------------------------------------

CPP_TYPES = {"int": "int64_t", "float": "double", "str": "c10::string_view"}
CPP_LISTS = {"int": "IntArrayRef", "SymInt": "SymIntArrayRef", "Tensor": "TensorList", "Scalar": "ScalarList"}


def _cpp_type(kind: Type) -> str:
    text = CPP_TYPES.get(kind.base, kind.base)
    for i, suffix in enumerate(kind.suffixes):
        if suffix == "?":
            text += "?"
        elif i == 0 and kind.base in CPP_LISTS:
            text = CPP_LISTS[kind.base] + (suffix if len(suffix) > 2 else "")
        else:
            text = f"ArrayRef<{text}>" if kind.base != "Tensor" else f"const c10::List<::std::optional<{text[:-1]}>> &"
    return text


def _in_pytorchs_order(rows: list[Expected]) -> list[Expected]:
    """The overloads by their text, but one that accepts less comes before one that accepts more."""
    rows = sorted(rows, key=lambda row: _cpp_text(row.parameters))
    waits = {i: {j for j, other in enumerate(rows) if _is_smaller(other, row)} for i, row in enumerate(rows)}
    order: list[int] = [i for i in waits if not waits[i]]
    left = {i: before for i, before in waits.items() if before}
    for i in order:
        for j in sorted(left):
            left[j].discard(i)
            if not left[j]:
                del left[j]
                order.append(j)
    return [rows[i] for i in order]


def _cpp_text(parameters: Sequence[Argument]) -> str:
    parts = []
    for i, parameter in enumerate(parameters):
        if parameter.keyword_only and not (i and parameters[i - 1].keyword_only):
            parts.append("*")
        default = "" if parameter.default is None else f"={_default(parameter)}"
        parts.append(f"{_cpp_type(parameter.type)} {python_name(parameter)}{default}")
    return ", ".join(parts)


def _is_smaller(one: Expected, other: Expected) -> bool:
    """Whether an overload comes later than another, since the other would never be reached."""
    mine, theirs = ([p.argument.type for p in row.signature.parameters] for row in (other, one))
    if len(mine) != len(theirs):
        return False
    texts = [(_plain(a), _plain(b)) for a, b in zip(mine, theirs, strict=True)]
    return any(a != b for a, b in texts) and all(a == b or _comes_later(a, b) for a, b in texts)


def _plain(kind: Type) -> str:
    return str(Type(kind.base, None, tuple("[]" if s[0] == "[" else s for s in kind.suffixes)))


def _comes_later(kind: str, other: str) -> bool:
    return (
        (kind, other) in (("Scalar", "Tensor"), ("Scalar?", "Tensor?"), ("int[]", "int"), ("int[]", "int?"))
        or ("Dimname" in kind and "Dimname" not in other)
        or (kind == "Tensor[]" and "[]" in other)
        or (kind, other) in (("SymInt[]", "int[]"), ("SymInt", "Tensor"), ("int", "Tensor"))
    )


def _default(parameter: Argument) -> str:
    """A default as PyTorch writes it: a list of several values in braces, as in C++."""
    if parameter.keyword_only and parameter.name in OPTIONS:
        return OPTIONS[parameter.name]
    text = str(parameter.default).replace("'", '"')
    return f"{{{text[1:-1]}}}" if text.startswith("[") and len(text) > 2 else text
