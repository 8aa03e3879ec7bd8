"""Do operators have the overloads that TorchScript adds, and do these compute what PyTorch's C++ computes?"""

from __future__ import annotations

import itertools
import math
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from glasstorch import _C
from glasstorch.calls.of_torchscript import ROWS, ScriptOverload, overloads
from glasstorch.dispatch.operator import registry
from tests.dispatch.test_runtime_schema import facts

Require = Callable[[str], Any]

NAMES = [name for names, _ in ROWS for name in names.split()]
ROOT = Path(__file__).parents[2]


def added(torch: Any) -> dict[str, list[Any]]:
    """By the name of an operator that both libraries have, the schemas that PyTorch's dispatcher does not know."""
    known = set(torch._C._dispatch_get_all_op_names())
    ours = {name.partition(".")[0] for name in registry.operators}
    found: dict[str, list[Any]] = {}
    for schema in torch._C._jit_get_all_schemas():
        full = f"{schema.name}.{schema.overload_name}".rstrip(".")
        is_operator = schema.name in ours and any(n.partition(".")[0] == schema.name for n in known)
        if full not in known and is_operator:
            found.setdefault(schema.name.removeprefix("aten::"), []).append(schema)
    return found


def overload_of(library: Any, name: str, overload: str) -> Any:
    return getattr(getattr(library.ops.aten, name), overload or "default")


# Their names and schemas ---------------------------------------------------------------------------------------------


def test_every_shared_operator_has_the_overloads_that_torchscript_adds(require: Require) -> None:
    torch = require("torch")
    schemas = added(torch)
    assert sorted(schemas) == sorted(NAMES)
    assert sum(map(len, schemas.values())) == 302
    for name, theirs in schemas.items():
        packet = getattr(glasstorch.ops.aten, name)
        ours = overloads("aten", name)
        listed = getattr(torch.ops.aten, name).overloads()
        assert packet.overloads()[-len(ours) :] == listed[-len(ours) :] == [o._overloadname for o in ours]
        assert packet.op_overloads()[-len(ours) :] == [*ours]
        for schema, overload in zip(theirs, ours, strict=True):
            assert in_order(facts(overload._schema)) == in_order(facts(schema))
            assert packet._schemas[overload.overload_name] == overload._schema
            assert getattr(packet, overload._overloadname) is overload


def in_order(told: tuple[Any, ...]) -> tuple[Any, ...]:
    """What is said of a schema, with the sets of an alias in order: PyTorch prints `(b|a)`, as a set comes."""
    return tuple(part.replace("(b|a)", "(a|b)") if isinstance(part, str) else part for part in told)


@pytest.mark.parametrize("said", [
    "add.overloads()", "add.t", "add.str.name()", "add.t._schema", "add.t.tags", "add.t.overloadpacket",
    "add.t.__name__", "add.default.__qualname__", "add.t.is_view", "select.t.is_view", "mT.a.is_view",
    "sort.int.is_view", "add.t.namespace", "add.t._overloadname", "hasattr(add, 'str')", "hasattr(add, 'strings')",
    "hasattr(sin, 't')",
    "add.int is add.int", "einsum.sublist._schema", "eq.enum._schema",
])  # fmt: skip
def test_what_is_said_of_an_overload_is_what_pytorch_says(said: str, require: Require) -> None:
    told = []
    for library in (glasstorch, require("torch")):
        aten = library.ops.aten
        names = {name: getattr(aten, name) for name in ("add", "select", "mT", "sort", "sin", "einsum", "eq")}
        told.append(repr(eval(said, names)))
    assert told[0] == told[1]


def test_an_overload_that_is_not_there_is_named(torch: Any) -> None:
    with pytest.raises(AttributeError, match=r"The underlying op of 'aten.add' has no overload name 'strings'"):
        torch.ops.aten.add.strings  # noqa: B018


def test_the_dispatcher_does_not_know_them(torch: Any) -> None:
    overload, key = torch.ops.aten.add.int, torch._C.DispatchKey.CPU
    keys = torch._C.DispatchKeySet(key)
    for asked in (
        lambda: overload.has_kernel_for_dispatch_key(key),
        lambda: overload.has_kernel_for_any_dispatch_key(keys),
        overload._can_decompose,
        lambda: overload.decompose(1, 2),
    ):
        with pytest.raises(RuntimeError, match=r"^operator aten::add.int does not exist$"):
            asked()
    with pytest.raises(RuntimeError, match=r"Could not find schema for aten::add.int"):
        overload.redispatch(keys, 1, 2)


def test_nothing_that_counts_operators_counts_them() -> None:
    before = len(registry.operators), len(_C._jit_get_all_schemas()), dir(glasstorch.ops.aten)
    made = [overload for name in NAMES for overload in overloads("aten", name)]
    assert all(type(overload) is ScriptOverload for overload in made)
    assert (len(registry.operators), len(_C._jit_get_all_schemas()), dir(glasstorch.ops.aten)) == before
    assert not {overload.name for overload in made} & registry.operators.keys()
    assert overloads("aten", "relu") == overloads("mylib", "add") == ()


def test_their_module_is_loaded_when_one_is_asked_for() -> None:
    program = """
import sys, glasstorch
aten, module = glasstorch.ops.aten, "glasstorch.calls.of_torchscript"
aten.add(glasstorch.ones(2), 1), aten.add.Tensor
print(module in sys.modules)
aten.add.t
print(module in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


# What they compute of numbers ----------------------------------------------------------------------------------------

INTS = (0, 1, -1, 2, 3, -7, 10, 2**40 + 5, 2**62, -(2**63), 2**63 - 1)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.7, 1e308, -1e-310, math.inf, -math.inf, math.nan, 710.5, -20.0, 1e19)
COMPLEX = (
    *(complex(a, b) for a in (0.0, -0.0, 1.5, -2.0, math.inf, math.nan) for b in (0.0, -0.7, 3.0, -math.inf)),
    *(complex(1.5, -0.0), complex(-2.0, -0.0), complex(1e300, 1e300)),
)
VALUES: dict[str, tuple[Any, ...]] = {
    "int": INTS,
    "float": FLOATS,
    "complex": COMPLEX,
    "bool": (True, False),
    "number": (0, 1, -7, 2**40 + 5, 0.0, -0.0, 2.5, -1.0, 1e300, math.nan, True, 1.5 + 0j, complex(-2.0, -0.7)),
}
NUMERIC = [
    o for name in NAMES for o in overloads("aten", name) if {str(a.type) for a in o._schema.arguments} <= {*VALUES}
]

# Calls that end PyTorch's process, or whose result C++ leaves undefined.
UNDEFINED: dict[str, Callable[..., bool]] = {
    "remainder": lambda a, b: isinstance(a, int) and isinstance(b, int) and (not b or (a, b) == (-(2**63), -1)),
    "gcd": lambda a, b: -(2**63) in (a, b) and -1 in (a, b),
    "floor": lambda a: a == 2**63 - 1,
    "ceil": lambda a: a == 2**63 - 1,
}


def bits(value: Any) -> Any:
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("d", value)
    if isinstance(value, complex):
        return bits(value.real), bits(value.imag)
    return tuple(map(bits, value)) if isinstance(value, tuple) else value


def outcome(overload: Any, args: tuple[Any, ...]) -> tuple[str, Any]:
    """The type of a result and its bits, or the class and the first line of an error."""
    try:
        result = overload(*args)
    except Exception as error:  # noqa: BLE001  # whatever is raised is what is compared
        return type(error).__name__, str(error).partition("\n")[0]
    return type(result).__name__, bits(result)


@pytest.mark.parametrize("ours", NUMERIC, ids=lambda overload: str(overload).removeprefix("aten."))
def test_a_number_has_the_bits_that_pytorch_computes(ours: Any, require: Require) -> None:
    theirs = overload_of(require("torch"), ours._opname, ours.overload_name)
    undefined = UNDEFINED.get(ours._opname, lambda *_: False)
    for args in itertools.product(*(VALUES[str(a.type)] for a in ours._schema.arguments)):
        if undefined(*args):
            continue
        mine, wanted = outcome(ours, args), outcome(theirs, args)
        if wanted == ("NoneType", None) or (ours._opname in ("eq", "ne") and "INTERNAL ASSERT" in str(wanted[1])):
            # PyTorch has no answer for some pairs of types, as of an int and a complex number. Ours compares them.
            assert ours.name in ("aten::eq", "aten::ne")
            assert mine == ("bool", (args[0] == args[1]) == (ours._opname == "eq"))
        elif "INTERNAL ASSERT" in str(wanted[1]):  # a number that PyTorch did not think of, in words of its own
            assert mine[0] == wanted[0] == "RuntimeError"
            assert "does not compute with a" in mine[1]
        elif ours._opname == "lgamma" and mine[0] == wanted[0] == "float" and mine != wanted:  # Python has its own
            assert math.isclose(ours(*args), theirs(*args), rel_tol=2e-14)
        else:
            assert mine == wanted, args


def test_most_overloads_are_compared_as_numbers() -> None:
    assert len(NUMERIC) == 221


def test_a_remainder_by_the_integer_zero_is_refused() -> None:
    for overload in (glasstorch.ops.aten.remainder.int, glasstorch.ops.aten.remainder.default):
        with pytest.raises(RuntimeError, match="the integer 5 has no remainder by zero"):
            overload(5, 0)
    assert glasstorch.ops.aten.remainder.int(-(2**63), -1) == 0
    assert glasstorch.ops.aten.gcd.int(-(2**63), -1) == 1


def test_what_is_too_large_for_an_integer_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"Cannot convert float 9223372036854775808.000000 to integer"):
        glasstorch.ops.aten.floor.int(2**63 - 1)


# Other values, and how arguments are converted -----------------------------------------------------------------------

CALLS = """
ldexp.default(1.5, 3)
ldexp.default(1e308, 10)
ldexp.default(-1e308, 10)
ldexp.default(1.0, 2**40)
[frexp.default(v) for v in (0.0, 8.5, -8.0, 5e-324, float("inf"))]
add.str("a", "b")
add.str(b"a", b="b")
add.str(3, "b")
add.str("a")
[f.str(a, b) for f in (lt, gt, le, ge, eq, ne) for a in ("", "a", "ab", "b") for b in ("", "a", "ab", "b")]
any.str("ab")
any.str(["", ""])
any.str([1])
any.str(3)
any.int({1, 2})
any.int(range(3))
any.int("ab")
any.int(None)
any.int([None])
any.int([2**32])
any.int(t.tensor([0, 1]))
any.bool([None, 0])
any.bool([1, 2.5])
any.float([float("nan")])
any.float([1, t.tensor(2.0)])
all.float([1.0, 0.0])
all.int([])
all.bool([])
sum.int([1, 2])
sum.int([2**31 - 1, 1])
sum.int([1.5])
sum.bool([True, 2])
sum.float([1, 2.5])
sum.float([])
sum.complex([1, 2.5])
sum.complex([])
sort.int([3, 1], True)
sort.str(["b", "a"])
sort.Tensor([t.tensor(2), t.tensor(1)])
sort.Tensor([t.ones(2), t.ones(2)])
sort.any([3, 1])
eq.bool(1, 2)
eq.bool(None, False)
eq.bool([], False)
eq.bool(t.tensor(True), 1)
eq.device("cpu", t.device("cpu"))
eq.device("cuda", "cuda:0")
eq.device(3, "cpu")
eq.device("a", "cpu")
eq.enum(1, 1)
eq.int_list((1, 2), [1, 2])
ne.int_list([1], [1, 2])
eq.float_list([float("nan")], [float("nan")])
eq.bool_list([True], [1])
eq.str_list(["a"], ["a"])
eq.Tensor_list([t.tensor(1)], [t.tensor(1.0)])
ne.Tensor_list([t.ones(2)], [t.ones(2), t.ones(2)])
ne.Tensor_list([t.ones(2)], [t.ones(2)])
eq.Tensor_list([1], [1])
index.list_int([1, 2], 2)
index.list_int([1, 2], 3)
index.list_float([1.5], 2.5)
index.list_bool([True, False], False)
index.list_bool([True], False)
index.list_str(["a"], "b")
index.list_Tensor([t.tensor(1), t.tensor(2)], t.tensor(2))
[index.str("abcabc", "c", *a) for a in ((), (3,), (-1,), (-9, -1), (0, 3))]
index.str("abcabc", "", 9)
index.str("abcabc", "c", 3, 5)
index.str("abc", "a", 5, 2)
slice.str("abcdef", 1, -1, 2)
slice.str("abcdef", None, None, -1)
slice.str("abcdef", -4, 100, 3)
slice.str("abcdef", 1, None, 0)
slice.str("äö", 0, 2)
slice.str("äö", 0, 1)
[split.str("a b  c ", *a) for a in ((), (" ",), (" ", 1), (" ", 0), (" ", -2), (None, 1))]
split.str("a,b", "")
split.str("")
split.default(t.arange(6).view(2, 3), [1, 2], dim=-1)
split.default(t.arange(5), [2, 2])
split.default(t.arange(5), 2)
index.Tensor_hacked_twin(t.arange(4), [t.tensor([1, 2])])
index.Tensor_hacked_twin(t.arange(4), [t.tensor([7])])
index_put.hacked_twin(t.arange(4), [t.tensor([1, 2])], t.tensor(9))
index_put_.hacked_twin(t.arange(4), [t.tensor([1, 1])], t.tensor(9), True)
copy_.Tensor(t.ones(2), t.zeros(2))
copy_.int(t.ones(2), 3)
copy_.int(t.ones(2), 2.5)
copy_.float(t.ones(2, dtype=t.int64), 2.7)
copy_.int(t.ones(2, requires_grad=True), 2)
mT.a(t.arange(6).view(2, 3))
mT.a(1)
mH.a(t.ones(2))
matrix_H.a(t.ones(2, 3))
matrix_H.a(t.ones(2))
numpy_T.a(t.ones(2, 3))
to.prim_Device(t.ones(2), "meta").device
to.prim_Device(t.ones(2), None)
to.prim_Device(t.ones(2), "cpu", t.int32)
to.prim_dtype(t.ones(2), 7)
to.prim_dtype(t.ones(2), t.float64)
to.prim_dtype(t.ones(2))
to.prim_other(t.ones(2), True)
einsum.sublist("i,i->")
einsum.sublist(1)
einsum.sublist()
add.int(True, 2)
add.int(1.5, 2)
add.int("1", 2)
add.int(None, 2)
add.int(2**63, 2)
add.int(t.tensor(2.5), 1)
add.int(t.tensor([2]), 1)
add.int(t.tensor([2, 3]), 1)
add.int(t.float64, 1)
add.int(1, 2, 3)
add.int(1, c=2)
add.float(True, 2)
add.float(t.tensor(3.0), 2)
add.float(1j, 2)
add.float("1", 2)
add.float(2**2000, 2)
add.complex(1, 2.5)
add.complex(t.tensor(2j), 1)
add.complex("1", 2)
add.default("a", 2)
add.default(t.tensor(2), 2)
add.default(2**70, 2)
add.default(t.ones(2, dtype=t.float64).numpy()[0], 2)
add.t([1], [2])
add_.t([1], [2])
mul.left_t([1], 2)
mul.right_(2, [1])
mul_.t([1], 2)
slice.t([1, 2])
select.t([1, 2], 0)
copy.t([1])
copy.Dict_str({"a": 1})
values.str({"a": 1})
add.t(3, [])
add.t([], []), add.t("", ()), mul.left_t([], 2), mul.right_(2, []), slice.t([]), copy.t([]), sort.any([])
add_.t([], []), mul_.t([], 2), copy.Dict_str({}), copy.Dict_int([]), values.str({}), add([], []), values({})
slice.t([], None, None, 0)
select.t([], 0)
add(2, 3)
add("a", "b")
add("a", b="b")
add(a=1, b=2)
add([1], [2])
add("a", 3)
add()
mul("a", 2)
sub(2, 3), div(3, 2), remainder(7, 4), fmod(7, 4)
acos(2), acos(2.5), acos(a=0.5), sqrt(-1), sqrt(-1 + 0j), log(2, 2), exp(1j), neg(True), neg(1j), floor(2.5), round(2.5)
acos("x")
atan2(1, 2), polar(1, 2), copysign(1, -2), angle(-1), gcd(4, 6), frexp(8.5), ldexp(1, 2), isnan(1), isfinite(1j)
pow(2, 3), pow(2, 3.0), pow(2.0, 1j)
eq(1, 1j), eq(True, True), eq(1, 1), eq([1], [1]), eq(["a"], ["a"]), eq(t.device("cpu"), "cpu")
eq("a", "a")
lt(1, 2.5), lt("a", "b"), ge(True, 2)
sum([1, 2]), sum([1.5]), sum([True]), sum([]), any(["a"]), all([1, 0])
all(["a"])
sort([2, 1]), sort(["a"]), sort([t.ones(1)])
slice("abc", 1), split("a b"), split("a-b", "-"), index("abc", "b"), index([1, 2], 2), index(["a"], "a")
select([1, 2], 0)
values({"a": 1})
copy_(t.ones(2), 2)
to(t.ones(2))
abs(2)
""".strip().split("\n")


def told(library: Any, call: str) -> tuple[str, str]:
    names = {name: getattr(library.ops.aten, name) for name in (*NAMES, "abs")}
    try:
        return "gives", repr(eval(call, {**names, "t": library}))
    except Exception as error:  # noqa: BLE001  # whatever is raised is what is compared
        return type(error).__name__, str(error).partition("\n")[0]


@pytest.mark.parametrize("call", CALLS)
def test_a_call_does_what_it_does_in_pytorch(call: str, require: Require) -> None:
    assert told(glasstorch, call) == told(require("torch"), call)


# Calls whose arguments or results are others than PyTorch's, and why.
DIFFERENT = {
    "to.prim_other(t.ones(2), False, True)": "PyTorch takes the last argument for a dtype where a copy is asked for",
    "einsum.sublist(t.ones(2, 2))": "PyTorch's takes as many arguments as its interpreter counts, and here counts none",
    "einsum.sublist(t.ones(2, 2), [0, 1])": "the dots of its schema are not in the words of the refusal",
    "mT.a(None)": "None is an undefined tensor in C++; here it is none",
    "index.list_Tensor([t.tensor(1)], t.tensor(2))": "the missing tensor is printed as C++ prints one",
    "add.int(1, a=2)": "of two mistakes in one call, the other is named first",
    "add.int(t.strided, 1)": "a layout or a memory format is no number here",
}


@pytest.mark.parametrize("call", DIFFERENT)
def test_what_is_listed_as_different_is(call: str, require: Require) -> None:
    assert told(glasstorch, call) != told(require("torch"), call)


@pytest.mark.parametrize(
    "call", ["add.t([1], [2])", "slice.t([1])", "values.str({'a': 1})", "eq.enum(1, b=1)", "eq.enum(a=1, b=1)"]
)
def test_what_no_value_of_python_can_be_is_refused_in_pytorchs_words(call: str, require: Require) -> None:
    words = []
    for library in (glasstorch, require("torch")):
        with pytest.raises(RuntimeError) as refused:
            eval(call, {name: getattr(library.ops.aten, name) for name in NAMES})
        words.append(str(refused.value).rstrip())
    assert words[0] == words[1]


def test_a_list_is_sorted_as_a_copy(torch: Any) -> None:
    values = [3, 1, 2]
    assert torch.ops.aten.sort.int(values) is None
    assert values == [3, 1, 2]


# Who is asked --------------------------------------------------------------------------------------------------------

SEEN = [
    "add.int(1, 2)",
    "angle.Scalar(-1)",
    "mT.a(x)",
    "copy_.int(x, 3)",
    "copy_.Tensor(x, y)",
    "to.prim_dtype(x, 7)",
    "split.default(x, [1, 1])",
    "index.Tensor_hacked_twin(x, [i])",
    "index_put_.hacked_twin(x, [i], y)",
    "eq.Tensor_list([s], [s])",
    "sort.Tensor([s, z])",
]


@pytest.mark.parametrize("call", SEEN)
def test_a_mode_sees_only_the_operators_that_they_call(call: str, require: Require) -> None:
    logs = []
    for library in (glasstorch, require("torch")):
        log: list[str] = []

        class Log(library.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc,name-defined]
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                log.append(f"{func} {kwargs}")  # noqa: B023
                return func(*args, **(kwargs or {}))

        names = {name: getattr(library.ops.aten, name) for name in NAMES}
        tensors = {"x": library.ones(2, 2), "y": library.ones(2, 2), "i": library.tensor([0, 1])}
        tensors |= {"s": library.ones(1), "z": library.zeros(1)}
        with Log():
            eval(call, {**names, **tensors})
        logs.append(log)
    assert logs[0] == logs[1]
    assert bool(logs[0]) == (not call.startswith(("add", "angle")))


def test_a_mode_of_functions_sees_them(torch: Any) -> None:
    seen = []

    class Log(torch.overrides.TorchFunctionMode):  # type: ignore[misc,name-defined]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append((str(func), args, kwargs))
            return func(*args, **(kwargs or {}))

    with Log():
        assert torch.ops.aten.add.int(1, b=2) == 3
        assert math.isnan(torch.ops.aten.acos(2))
    assert [(name, args) for name, args, _ in seen] == [("aten.add.int", (1,)), ("aten.acos", (2,))]
    assert seen[0][2] == {"b": 2}
