"""How is `operators/generated/functions.py` emitted, with one Python function for each operator name?

Mirrors: tools/autograd/gen_python_functions.py (emit_single_dispatch), templates/python_torch_functions.cpp
Differs: a function calls an overload itself if the arguments fit without conversion, and leaves the rest to the parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from glasstorch.calls.old_orders import OLD_ORDERS
from glasstorch.dispatch.schema import Argument
from glasstorch.dispatch.tags import Tag
from glasstorch.operators.gen.model import NativeFunction, python_name

HEADER = '''"""One function for each operator name, with all overloads of that name. {mark}

Mirrors: torch/csrc/autograd/generated/python_torch_functions_*.cpp, python_variable_methods.cpp
Differs: a function calls an overload directly if the arguments fit it without conversion, and no tensor's class answers
    for it (Note [Plain types]); `calls/parser.py` resolves all other calls. NumPy's parameter names `axis` and
    `keepdims` are accepted everywhere; `x`, `a`, `x1` and `x2` for tensors are not accepted by views and in-place
    operators, whose calls they would slow down.
"""

# mypy: disable-error-code="union-attr"
# A type checker does not see that a type in PLAIN is one of a tensor.

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.core import hooks
from glasstorch.core.device import device as device_
from glasstorch.core.dtype import Number
from glasstorch.core.dtype import dtype as dtype_
from glasstorch.core.random.generator import Generator
from glasstorch.core.layout import contiguous_format, preserve_format
from glasstorch.core.layout import layout as layout_
from glasstorch.core.layout import memory_format as memory_format_
from glasstorch.core.layout import strided as strided_
from glasstorch.core.storage import Storage
from glasstorch.core.plain_types import PLAIN, PLAIN_NUMBERS
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.dispatch.operator import keys_of
from glasstorch.calls.arguments import INT, LISTS, NUMBERS, is_ints, is_tensors
from glasstorch.operators.generated.registry import table
from glasstorch.calls.parser import MISSING, PythonFunction, publish

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

'''

FOOTER = """

for _name, _parser in [*globals().items()]:
    if isinstance(_parser, PythonFunction):
        publish(globals().get(_parser.name) or globals()[f"{_parser.name}_"], _parser)
"""

PYTHON_TYPE = {
    "Tensor": "Tensor",
    "Scalar": "Number",
    "int": "int",
    "SymInt": "int",
    "float": "float",
    "bool": "bool",
    "str": "str",
    "ScalarType": "dtype_",
    "Layout": "layout_",
    "Device": "device_ | str",
    "MemoryFormat": "memory_format_",
    "Generator": "Generator",
    "Storage": "Storage",
}

NEVER = "never"


class Name:
    """All overloads behind one Python name."""

    def __init__(self, name: str, functions: Iterable[NativeFunction]) -> None:
        self.name = name
        self.functions = list(functions)
        seen = (
            self.functions if all(map(_is_hidden, self.functions)) else [f for f in self.functions if not _is_hidden(f)]
        )
        self.plain = [f for f in seen if not f.schema.is_out]
        self.outs = [f for f in seen if f.schema.is_out and not _is_operator_alone(f)]
        self.primary = self.plain[0]
        self.takes_numbers = Tag.numbers_as_tensors in self.primary.tags
        self.is_function = any("function" in f.variants for f in self.plain)
        self.is_method = any("method" in f.variants for f in self.plain)

    @property
    def has_plain_parameters(self) -> bool:
        """Whether one Python signature serves all overloads: the same names in the same places.

        A function that programs cannot reach has none: what calls its operator passes all arguments.
        """
        if self.primary.python_function == "none" and not self.is_method:
            return False
        first = [(a.name, a.keyword_only) for a in self.primary.schema.arguments]
        same = all([(a.name, a.keyword_only) for a in f.schema.arguments] == first for f in self.plain)
        return same and not any(_takes_loose_ints(f) for f in self.plain)

    def parameters(self) -> list[Argument]:
        return list(self.primary.schema.arguments)


def _is_hidden(f: NativeFunction) -> bool:
    """Whether Python has no function for the overload: it is left out where other overloads of the name have one."""
    return f.python_function == "none"


def _is_operator_alone(f: NativeFunction) -> bool:
    """Whether PyTorch's Python functions take no out= that leads to this form."""
    return Tag.generated in f.tags and Tag.view_copy not in f.tags


def _takes_loose_ints(f: NativeFunction) -> bool:
    """Whether loose ints may stand for a list: `view(2, 3)` for `view([2, 3])`."""
    after_self = [a for a in f.schema.positional if a.name != "self"]
    return (
        bool(after_self)
        and after_self[0].type.is_list
        and after_self[0].type.base in ("int", "SymInt")
        and all(a.default is not None for a in after_self[1:])
    )


def group(functions: list[NativeFunction]) -> list[Name]:
    """The operator names, in the order of their first declaration."""
    by_name: dict[str, list[NativeFunction]] = {}
    for f in map(_with_distinct_names, functions):
        by_name.setdefault(f.schema.name, []).append(f)
    return [Name(name, fs) for name, fs in by_name.items()]


def _with_distinct_names(f: NativeFunction) -> NativeFunction:
    """Python's functions call `self` the input; where another argument has that name, it is `self_`."""
    names = {a.name for a in f.schema.arguments}
    if not names >= {"self", "input"}:
        return f
    arguments = tuple(replace(a, name="self_") if a.name == "self" else a for a in f.schema.arguments)
    return replace(f, schema=replace(f.schema, arguments=arguments))


def emit(functions: list[NativeFunction], mark: str) -> str:
    names = group(functions)
    parts = [HEADER.format(mark=mark)]
    parts += [f"{f.table} = table({f.name!r})\n" for n in names for f in _called_here(n)]
    parts.append("# fmt: off\n")
    for name in names:
        overloads = [f.name for f in name.plain]
        outs = f", {[f.name for f in name.outs]!r}" if name.outs else ""
        row = f"_parse_{name.name} = PythonFunction({name.name!r}, {overloads!r}{outs})\n"
        parts.append(row.replace("'", '"'))
    parts.append("# fmt: on\n")
    for n in names:
        shape = _plain if n.has_plain_parameters else _loose if _is_loose(n) else _starred
        parts.append("\n\n" + shape(n))
    parts.append(FOOTER)
    return "".join(parts)


def _called_here(name: Name) -> list[NativeFunction]:
    """The overloads that the function itself calls if the arguments fit without conversion."""
    if not name.has_plain_parameters:
        if _is_loose(name):
            return [name.primary]
        one_int = _one_int(name)
        quick = [name.primary] if _is_quick(name) else []
        return quick + [one_int] if one_int is not None and one_int not in quick else quick
    return [f for f in name.plain if _is_called_here(f)]


def _is_called_here(f: NativeFunction) -> bool:
    """Whether the function itself may call this overload: no argument always needs converting."""
    return not any(_fits(a) == NEVER for a in f.schema.arguments)


def _plain(name: Name) -> str:
    """A function with real parameters."""
    parameters = name.parameters()
    out = bool(name.outs)
    other_names = _other_names(name)
    by_other_names = bool(other_names)
    # Without keyword-only parameters, one more positional parameter is cheaper than a dictionary for each call.
    has_axis = other_names == {"dim"} and not out and not any(a.keyword_only for a in parameters)
    missing = _may_be_missing(parameters, other_names)
    reorders = name.name in OLD_ORDERS
    # A function that accepts any keyword accepts any number of arguments too, for the parser to refuse in its words.
    more = reorders or (by_other_names and not has_axis)
    declared, keyword_only = [], False
    for a in parameters:
        if a.keyword_only and not keyword_only:
            declared.append("*more: Any" if more else "*")
            keyword_only = True
        text = _declare(name.takes_numbers, a, [f.schema.arguments[parameters.index(a)] for f in name.plain])
        declared.append(f"{text} = MISSING" if a in missing else text)
    if out:
        declared += ([] if keyword_only else ["*"]) + ["out: Any = None"]
    if name.primary.schema.is_factory:
        declared += ([] if keyword_only or out else ["*"]) + ["requires_grad: bool = False"]
    if more and not any(a.keyword_only for a in parameters):
        at = next((i for i, text in enumerate(declared) if text == "*"), None)
        if at is None:
            declared.append("*more: Any")
        else:
            declared[at] = "*more: Any"
    if by_other_names:
        declared.append("axis: int | None = None" if has_axis else "**kwargs: Any")
    positional = ", ".join(_local(a) for a in parameters if not a.keyword_only)
    named = "".join(f", {a.name}={_local(a)}" for a in parameters if a.keyword_only)
    named += ", out=out" if out else ""
    named += ", requires_grad=requires_grad" if name.primary.schema.is_factory else ""
    body = ""
    given = "".join(f"{_local(a)}, " for a in parameters if not a.keyword_only)
    others = ", **kwargs" if by_other_names else ""
    with_more = f"    if more:\n        return _parse_{name.name}.with_more(({given}*more){named}{others})\n"
    if reorders:
        body += with_more
    if name.takes_numbers:
        numbers = [_local(a) for a in parameters if a.type.base == "Tensor" and a.name != "self"]
        for n in numbers:
            body += f"    if type({n}) in PLAIN_NUMBERS:\n        {n} = hooks.tensor_hooks.wrapped_number({n})\n"
    for f in _called_here(name):
        tests = [] if _asks_by_type(f) else ["PLAIN"]
        tests += [t for a in f.schema.arguments if (t := _fits(a))] + (["out is None"] if out else [])
        tests += ["axis is None" if has_axis else "not kwargs"] if by_other_names else []
        if more and not reorders:
            tests[-1] = "not (kwargs or more)"
        body += f"    if {' and '.join(tests)}:\n{_call(f, '        ')}"
    if by_other_names:
        by_position = "".join(f", {_keyword(a)}={_local(a)}" for a in parameters if not a.keyword_only)
        given = "axis is not None" if has_axis else "kwargs" if reorders else "kwargs or more"
        tests = [given, *(f"{_local(a)} is MISSING" for a in missing)]
        body += f"    if {' or '.join(tests)}:\n"
        others = "{} if axis is None else {'axis': axis}" if has_axis else "kwargs" if reorders else "kwargs, more"
        body += f"        return _parse_{name.name}.by_names({others}{by_position}{named})\n"
    body += f"    return _parse_{name.name}({positional}{named})\n"
    returns = _returns(name.primary)
    return f"def {python_name(name.name)}({', '.join(declared)}) -> {returns}:\n{_doc(name)}{body}"


def _other_names(name: Name) -> frozenset[str]:
    """The parameters that may be given by NumPy's name: `axis` in place of `dim`, `x` in place of the tensor.

    A function that accepts any keyword costs each call a dictionary. Functions that only other operators call do not
    pay for it, nor do views and in-place functions for NumPy's names of tensors.
    """
    schema = name.primary.schema
    if name.name.startswith("_") or name.name.endswith("_backward"):
        return frozenset()
    tensors = name.is_function and not schema.is_view and not schema.is_inplace
    taken = {"dim", "keepdim", *(("self",) if tensors else ())}
    return frozenset(a.name for a in name.parameters() if a.name in taken)


def _may_be_missing(parameters: list[Argument], other_names: frozenset[str]) -> list[Argument]:
    """The parameters without a default from the first of these on: Python may leave them unbound."""
    at = next((i for i, a in enumerate(parameters) if a.name in other_names), len(parameters))
    return [a for a in parameters[at:] if a.default is None and not a.keyword_only]


def _keyword(a: Argument) -> str:
    """The keyword of a parameter in the parser."""
    return "input" if a.name == "self" else a.name


def _is_loose(name: Name) -> bool:
    """Whether a function accepts loose ints and nothing else by position, except the tensor itself."""
    schema = name.primary.schema
    after_self = [a for a in schema.positional if a.name != "self"]
    return (
        len(after_self) == 1
        and _takes_loose_ints(name.primary)
        and after_self[0].type.list_size is None
        and not after_self[0].type.is_optional
        and all(a.default is not None and _fits(a) != NEVER for a in schema.keyword_only)
    )


def takes_list_after_tensor(name: Name) -> bool:
    """Whether a method accepts loose ints but its function requires them as a list."""
    return _is_loose(name) and name.primary.schema.positional[0].name == "self"


def _loose(name: Name) -> str:
    """A function that accepts loose ints: `zeros(2, 3)` and `zeros([2, 3])`."""
    f = name.primary
    ints = next(a for a in f.schema.positional if a.name != "self")
    local = _local(ints)
    has_self = len(f.schema.positional) == 2
    named = list(f.schema.keyword_only)
    declared = ["input: Tensor"] if has_self else []
    declared += [f"*{local}: Any", *(_declare(name.takes_numbers, a, [a]) for a in named)]
    passed = (["input"] if has_self else []) + [f"*{local}", *(f"{a.name}={_local(a)}" for a in named)]
    tests = [local, "not kwargs", "type(input) in PLAIN" if has_self else "PLAIN"]
    if name.outs:
        declared.append("out: Any = None")
        passed.append("out=out")
        tests.append("out is None")
    if f.schema.is_factory:
        declared.append("requires_grad: bool = False")
        passed.append("requires_grad=requires_grad")
    tests += [_fits(a) for a in named]
    # The fast test covers one or two ints: a check of many costs twice as much as adding eight numbers.
    tests.append("((0 < len(ints) < 3 and type(ints[0]) is type(ints[-1]) is int) or INT.issuperset(map(type, ints)))")
    call = _call(f, "        ").replace(f", list({local})", ", ints", 1)
    return (
        f"def {python_name(name.name)}({', '.join(declared)}, **kwargs: Any) -> {_returns(f)}:\n{_doc(name)}"
        f"    ints = tuple({local}[0]) if len({local}) == 1 and type({local}[0]) in LISTS else {local}\n"
        f"    if {' and '.join(tests)}:\n{call}"
        f"    return _parse_{name.name}({', '.join(passed)}, **kwargs)\n"
    )


def _is_quick(name: Name) -> bool:
    """Whether a function without plain parameters can still call its first overload itself, with only one tensor."""
    arguments = name.primary.schema.arguments
    return (
        not name.primary.schema.is_factory
        and bool(arguments)
        and arguments[0].type.base == "Tensor"
        and not arguments[0].type.suffixes
        and all(a.default is not None for a in arguments[1:])
    )


def _one_int(name: Name) -> NativeFunction | None:
    """The overload for a tensor and an int, as in `x.sum(0)`; None if only the parser can resolve it."""
    for f in name.plain:
        first, *others = f.schema.arguments
        if first.type.base != "Tensor" or first.type.suffixes or first.type.is_write:
            return None
        if not others or others[0].keyword_only or others[0].type.base == "Tensor":
            continue  # an int does not fit it
        is_int = others[0].type.base == "int" and (not others[0].type.is_list or others[0].type.list_size == 1)
        return f if is_int and all(a.default is not None for a in others[1:]) else None
    return None


def _starred(name: Name) -> str:
    """A function whose overloads differ in parameter names or positions, or that accepts loose ints."""
    body = ""
    if _is_quick(name):
        body += "    if len(args) == 1 and not kwargs and type(args[0]) in PLAIN:\n"
        body += _call_with(name.primary, ["args[0]"])
    f = _one_int(name)
    if f is not None:
        body += "    if len(args) == 2 and not kwargs and type(args[1]) is int and type(args[0]) in PLAIN:\n"
        body += _call_with(f, ["args[0]", "[args[1]]" if f.schema.arguments[1].type.is_list else "args[1]"])
    body += f"    return _parse_{name.name}(*args, **kwargs)\n"
    return f"def {python_name(name.name)}(*args: Any, **kwargs: Any) -> {_returns(name.primary)}:\n{_doc(name)}{body}"


def _call_with(f: NativeFunction, given: list[str]) -> str:
    """The dispatch on the first argument, a tensor; defaults follow the given arguments."""
    defaults = [repr(a.default_value) for a in f.schema.arguments[len(given) :]]
    return (
        "        included, allowed = active_keys.get()\n"
        "        keys = (args[0].key_set | included) & allowed\n"
        f"        return {f.table}[keys](keys, {', '.join([*given, *defaults])})\n"
    )


def _local(a: Argument) -> str:
    return "input" if a.name == "self" else python_name(a.name)


def _declare(takes_numbers: bool, a: Argument, same_position: list[Argument]) -> str:
    kinds: list[str] = []
    number = takes_numbers and a.name != "self" and a.type.base == "Tensor"
    for other in same_position:
        kind = PYTHON_TYPE[other.type.base]
        if other.type.is_list:
            kind += " | None" if other.type.suffixes[0] == "?" else ""
            kind = f"Sequence[{kind}]" + (f" | {kind}" if other.type.list_size else "")
        kinds += [kind, *(["None"] if other.type.is_optional else [])]
    optional = "None" in kinds
    names = [kind for kind in [*kinds, *(["Number"] if number else [])] if kind != "None"]
    annotation = " | ".join(dict.fromkeys([*names, *(["None"] if optional else [])]))
    default = "" if a.default is None else f" = {_default(a)}"
    annotation += " | None" if default == " = None" and not optional else ""
    return f"{_local(a)}: {annotation}{default}"


def _default(a: Argument) -> str:
    value = a.default_value
    kind = type(value).__name__
    if kind == "memory_format":
        return str(value.name)
    return "None" if kind in ("layout", "dtype") else repr(value)


def _fits(a: Argument) -> str:
    """The test under which an argument needs no conversion for the first overload; empty if always."""
    local, base = _local(a), a.type.base
    tests = {
        "Tensor": f"type({local}) in PLAIN",
        "Scalar": f"type({local}) in NUMBERS",
        "float": f"type({local}) is float",
        "int": f"type({local}) is int",
        "SymInt": f"type({local}) is int",
        "bool": f"type({local}) is bool",
        "MemoryFormat": f"isinstance({local}, memory_format_)",
        "ScalarType": f"type({local}) is dtype_",
        "Device": f"type({local}) is device_",
        "Layout": f"{local} is strided_",
        "Generator": f"isinstance({local}, Generator)",
    }
    test = tests.get(base, NEVER)
    if a.type.is_list:
        lists = {"int": "is_ints", "SymInt": "is_ints", "Tensor": "is_tensors"}
        suffixes = a.type.suffixes[:-1] if a.type.is_optional else a.type.suffixes
        test = f"{lists[base]}({local})" if base in lists and len(suffixes) == 1 else NEVER
    if test == NEVER:
        return f"{local} is None" if a.type.is_optional else NEVER
    return f"({local} is None or {test})" if a.type.is_optional else test


def _asks_by_type(f: NativeFunction) -> bool:
    """Whether one of the tests looks whether a tensor is plain; else the set itself is looked at."""
    return any(a.type.base == "Tensor" and not a.type.is_optional for a in f.schema.arguments)


def _call(f: NativeFunction, indent: str) -> str:
    """The dispatch: the masked key set, then the table."""
    sets = [f"{_local(a)}.key_set" for a in f.schema.arguments if a.type == type(a.type)("Tensor", a.type.alias, ())]
    sets += [f"keys_of({_local(a)})" for a in f.schema.arguments if a.type.is_tensor_like and a.type.is_list]
    optional = [a for a in f.schema.arguments if a.type.is_tensor_like and a.type.is_optional and not a.type.is_list]
    arguments = ", ".join(_passed(a) for a in f.schema.arguments)
    lines = [f"{indent}included, allowed = active_keys.get()\n"]
    masked = f"({' | '.join([*sets, 'included'])})" if sets else "included"
    lines.append(f"{indent}keys = {masked} & allowed\n")
    lines += [
        f"{indent}if {_local(a)} is not None:\n{indent}    keys |= {_local(a)}.key_set & allowed\n" for a in optional
    ]
    call = f"{f.table}[keys](keys, {arguments})"
    if f.schema.is_factory:
        lines.append(f"{indent}result = {call}\n")
        lines.append(f"{indent}return hooks.required(result) if requires_grad else result\n")
    else:
        lines.append(f"{indent}return {call}\n")
    return "".join(lines)


def _passed(a: Argument) -> str:
    """An argument as the kernel receives it: a list is copied, because the caller may change it later."""
    local = _local(a)
    if not a.type.is_list or _fits(a) == f"{local} is None":
        return local
    return f"{local} if {local} is None else list({local})" if a.type.is_optional else f"list({local})"


def _returns(f: NativeFunction) -> str:
    schema = f.schema
    if len(schema.returns) != 1:
        return "Any"
    kind = schema.returns[0].type
    if kind.is_list:
        return "tuple[Tensor, ...]"
    return {"Tensor": "Tensor", "Scalar": "Number", "bool": "bool", "int": "int"}.get(kind.base, "Any")


def signature_line(f: NativeFunction, has_out: bool) -> str:
    """`linalg.inv(A, *, out=None) -> Tensor`, as PyTorch's documentation writes it."""
    parts, keyword_only = [], False
    for a in f.schema.arguments:
        if a.keyword_only and not keyword_only:
            parts.append("*")
            keyword_only = True
        parts.append(_local(a) + (f"={a.default}" if a.default is not None else ""))
    if has_out:
        parts += ([] if keyword_only else ["*"]) + ["out=None"]
    results = [r.name or str(r.type.base) for r in f.schema.returns]
    returns = results[0] if len(results) == 1 else f"({', '.join(results)})"
    module = f.python_module if f.python_module in ("linalg", "fft", "special") else None
    name = f"{module}.{f.schema.name.removeprefix(f'{module}_')}" if module else f.schema.name
    return f"{name}({', '.join(parts)}) -> {returns}"


def _is_out_form(out: NativeFunction, f: NativeFunction) -> bool:
    """Whether an operator takes another's arguments plus a tensor to write to."""
    taken = [(a.name, a.type) for a in out.schema.arguments if not a.type.is_write]
    return taken == [(a.name, a.type) for a in f.schema.arguments if a.name in dict(taken)]


def _doc(name: Name) -> str:
    """The first overload's sentence, then the signatures, each with its own sentence if that differs."""
    f = name.primary
    sentence = f.doc or f"See {f.schema.name.rstrip('_')}; changes its first argument in place and returns it."
    lines, told = [sentence, ""], {sentence}
    for overload in name.plain:
        signature = signature_line(overload, any(_is_out_form(out, overload) for out in name.outs))
        if signature not in lines:
            lines.append(signature)
            if overload.doc and overload.doc not in told:
                lines.append(f"    {overload.doc}")
                told.add(overload.doc)
    if f.schema.is_inplace:
        lines += ["", "The result is the first argument itself; its version counter is raised."]
    elif f.schema.is_view and not re.search(r"\b(else|or) a copy\b", sentence):
        lines += ["", "The result shares the input's storage."]
    if f.mirrors:
        lines += ["", f"Mirrors: {f.mirrors}"]
    text = "\n".join(lines)
    indented = text.replace("\n", "\n    ").replace("    \n", "\n")
    return f'    """{indented}\n    """\n'
