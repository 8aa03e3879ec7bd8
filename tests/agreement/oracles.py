"""What can be checked of any row of the operator table?

Each function checks one row and raises AssertionError where the operator does not agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.autograd import gradcheck, gradgradcheck
from glasstorch.core.dtype import BY_NAME, FROM_NUMPY, can_cast, dtype
from glasstorch.core.errors import DtypeError
from glasstorch.dispatch.operator import Operator, registry
from glasstorch.dispatch.trace import trace
from glasstorch.operators.generated.registry import OPERATORS
from tests.agreement.samples import Call, Row, arrays, in_library, tensors_in

TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-6, "float64": 1e-13}
ROUNDS_BY_ALIGNMENT = np.lib.NumpyVersion(np.__version__) < "2.3.0"
FORMS = {row.name: row.functional for row in OPERATORS if row.functional is not None}


def operator(name: str) -> Operator:
    return registry.find(f"aten::{name}")


def runs(row: Row) -> list[tuple[Call, str]]:
    """Every call with every dtype that it is made for."""
    return [(c, d) for c in row.calls for d in (row.dtypes if c.dtypes is None else c.dtypes) if d in row.dtypes]


def first_run(row: Row) -> Row:
    """The row with its first call alone, for the first dtype that it is made for."""
    call, run = runs(row)[0]
    return replace(row, calls=(call,), dtypes=(run,))


def results(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple | list) else [value]


def dtypes_of(call: Call, run: str) -> list[dtype]:
    """The dtypes of the tensors of a call."""
    return [BY_NAME[spec.dtype or run] for spec in tensors_in(call)] or [BY_NAME[run]]


def expected_dtypes(row: Row, call: Call, run: str) -> list[dtype]:
    """What the rules say of each result; the last one speaks for all further results."""
    rules = call.result or row.result
    return [rule(dtypes_of(call, run)) for rule in (rules if isinstance(rules, tuple) else (rules,))]


def about(row: Row, call: Call, run: str) -> str:
    return f"{row.op} with {run}: {call.args} {call.kwargs}"


def on_device(row: Row, call: Call, given: Any, device: str) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call with every tensor on a device; a factory is told to make its result there."""
    args, kwargs = in_library(glasstorch, call, given, device)
    if operator(row.op).schema.is_factory and device != "cpu" and "device" not in row.op:
        kwargs["device"] = glasstorch.device(device)
    return args, kwargs


# NumPy --------------------------------------------------------------------------------------------------------


def check_numpy(row: Row, device: str = "cpu") -> None:
    """Values, sizes and dtype are what NumPy and the row's rule say."""
    for call, run in runs(row):
        args, kwargs = on_device(row, call, arrays(row, call, run), device)
        found = results(operator(row.op)(*args, **kwargs))
        wanted = results(_numpy(row, call, run))
        rules = expected_dtypes(row, call, run)
        assert len(found) == len(wanted), about(row, call, run)
        for ours, theirs, rule in zip_longest(found, wanted, rules[: len(found)], fillvalue=rules[-1]):
            compare(ours, theirs, rule, row, about(row, call, run))


def _numpy(row: Row, call: Call, run: str) -> Any:
    """The oracle's answer, computed in float64 and int64."""
    args, kwargs = arrays(row, call, run)

    floating = expected_dtypes(row, call, run)[0].is_floating_point

    def wide(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            own = FROM_NUMPY[value.dtype]
            if own.is_floating_point or (floating and own.name == "bool"):  # NumPy would compute with it in float16
                return value.astype(np.float64)
            return value if own.name == "bool" else value.astype(np.int64)
        return [wide(v) for v in value] if isinstance(value, list) else value

    with np.errstate(all="ignore"):
        return row.oracle(*map(wide, args), **{name: wide(value) for name, value in kwargs.items()})


def compare(ours: Any, theirs: Any, rule: dtype, row: Row, what: str) -> None:
    """One result against one of NumPy's."""
    if not isinstance(ours, glasstorch.Tensor):
        assert ours == pytest.approx(theirs, rel=TOLERANCE["bfloat16"]), what
        return
    theirs = np.asarray(theirs)
    assert ours.dtype is rule, f"{what}: {ours.dtype}, expected {rule}"
    assert tuple(ours.shape) == theirs.shape, f"{what}: {tuple(ours.shape)}, expected {theirs.shape}"
    array = ours.detach().host_array()
    if rule.is_complex:
        tolerance = row.tolerance * 8 * TOLERANCE[rule.to_real().name]
        np.testing.assert_allclose(array, theirs, rtol=tolerance, atol=tolerance, err_msg=what)
    elif rule.is_floating_point:
        # Inputs were rounded to the run's dtype, which the result may be wider than.
        tolerance = row.tolerance * 8 * TOLERANCE[rule.name]
        np.testing.assert_allclose(array.astype(np.float64), theirs, rtol=tolerance, atol=tolerance, err_msg=what)
    else:
        np.testing.assert_array_equal(array, theirs.astype(np.int64).astype(array.dtype), err_msg=what)


# PyTorch ------------------------------------------------------------------------------------------------------


def check_torch(row: Row, torch: Any) -> None:
    """Everything that can be seen of the results is as PyTorch's operator of the same name gives it."""
    name, _, overload = row.op.partition(".")
    theirs_operator = getattr(getattr(torch.ops.aten, name), overload or "default")
    for call, run in runs(row):
        given = arrays(row, call, run)
        what = about(row, call, run)
        (args, kwargs), (their_args, their_kwargs) = (in_library(lib, call, given) for lib in (glasstorch, torch))
        for ours, theirs in zip(
            results(operator(row.op)(*args, **kwargs)),
            results(theirs_operator(*their_args, **their_kwargs)),
            strict=True,
        ):
            if not isinstance(theirs, torch.Tensor):
                assert (type(ours), ours) == (type(theirs), theirs), what
                continue
            assert repr(ours.dtype) == repr(theirs.dtype), what
            assert tuple(ours.shape) == tuple(theirs.shape), what
            assert _strides(ours) == _strides(theirs), f"{what}: strides {ours.stride()}, expected {theirs.stride()}"
            assert _shares(ours, args) == _shares(theirs, their_args), what
            if any(_shares(ours, args)):
                assert ours.storage_offset() == theirs.storage_offset(), what
            wide, their_wide = (np.complex128, "cdouble") if ours.dtype.is_complex else (np.float64, "double")
            array, expected = ours.detach().host_array().astype(wide), getattr(theirs.detach(), their_wide)()
            expected = expected.resolve_conj().resolve_neg().numpy()
            tolerance = row.tolerance * TOLERANCE.get(ours.dtype.to_real().name, 0)
            np.testing.assert_allclose(array, expected, rtol=tolerance, atol=tolerance, err_msg=what)


def _strides(tensor: Any) -> list[int]:
    """The strides that matter: those of dimensions of two or more elements."""
    return [] if 0 in tensor.shape else [s for s, n in zip(tensor.stride(), tensor.shape, strict=True) if n > 1]


def _shares(tensor: Any, args: Sequence[Any]) -> list[bool]:
    """With which of the arguments a result shares its storage; nothing can be told of one without bytes."""
    storages = [a.untyped_storage() if hasattr(a, "untyped_storage") else None for a in args]
    own = tensor.untyped_storage()
    return [bool(own.nbytes()) and s is not None and s.data_ptr() == own.data_ptr() for s in storages]


def check_node_names(row: Row, torch: Any) -> None:
    """The node that a differentiable operator records has the name of PyTorch's."""
    name, _, overload = row.op.partition(".")
    for call in row.calls:
        found = []
        for library in (glasstorch, torch):
            function = getattr(getattr(library.ops.aten, name), overload or "default")
            args, kwargs = in_library(library, call, arrays(row, call, "float64"))
            require_grad(call, args, kwargs)
            args, kwargs = _not_leaves(library, args, kwargs)
            found.append(
                [r.grad_fn and r.grad_fn.name().rpartition("::")[2] for r in results(function(*args, **kwargs))]
            )
        assert found[0] == found[1], f"{about(row, call, 'float64')}: {found[0]}, expected {found[1]}"


# Gradients ----------------------------------------------------------------------------------------------------


def require_grad(call: Call, args: list[Any], kwargs: dict[str, Any]) -> list[Any]:
    """Make the tensors whose gradient is checked require it; returns them."""
    wanted = []

    def visit(value: Any) -> None:
        if isinstance(value, list):
            for v in value:
                visit(v)
        elif hasattr(value, "requires_grad_"):
            spec = next(specs)
            if spec.grad and repr(value.dtype) == "torch.float64":
                wanted.append(value.requires_grad_())

    specs = tensors_in(call)
    visit([*args, *kwargs.values()])
    return wanted


def _not_leaves(library: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The same tensors one step behind leaves, so that an in-place operator may change them."""

    def behind(value: Any) -> Any:
        if isinstance(value, list):
            return [behind(v) for v in value]
        return value.clone() if isinstance(value, library.Tensor) and value.requires_grad else value

    return [behind(a) for a in args], {name: behind(value) for name, value in kwargs.items()}


def one_by_one(call: Call) -> Call:
    """The call with every element in a place of its own, so that one can be moved alone."""

    def apart(value: Any) -> Any:
        if isinstance(value, list):
            return [apart(v) for v in value]
        return replace(value, layout="row-major") if getattr(value, "layout", "") == "expanded" else value

    return replace(call, args=tuple(map(apart, call.args)), kwargs={n: apart(v) for n, v in call.kwargs.items()})


def differentiable(row: Row, call: Call) -> tuple[Callable[..., Any], list[Any]]:
    """A call as a function of the tensors whose gradient is checked, and these tensors."""
    args, kwargs = in_library(glasstorch, one_by_one(call), arrays(row, call, "float64"))
    wanted = require_grad(call, args, kwargs)
    places = {id(tensor): i for i, tensor in enumerate(wanted)}

    def function(*tensors: Any) -> Any:
        def put(value: Any) -> Any:
            if isinstance(value, list):
                return [put(v) for v in value]
            tensor = tensors[places[id(value)]] if id(value) in places else value
            return tensor.clone() if operator(row.op).schema.is_inplace and id(value) in places else tensor

        return operator(row.op)(*map(put, args), **{name: put(value) for name, value in kwargs.items()})

    return function, wanted


def recorded(function: Callable[..., Any], wanted: list[Any]) -> Callable[..., Any]:
    """The function without results that have no gradient: the fast gradcheck counts them as if they had one."""
    kept = [i for i, result in enumerate(results(function(*wanted))) if result.requires_grad]

    def of_recorded(*tensors: Any) -> list[Any]:
        made = results(function(*tensors))
        return [made[i] for i in kept]

    return of_recorded


def check_gradients(row: Row, every: int = 1) -> None:
    """First and second derivatives agree with finite differences, at one of so many calls."""
    checked = 0
    for call in row.calls[::every]:
        function, wanted = differentiable(row, call)
        if not any(w.numel() for w in wanted):
            continue
        made = results(function(*wanted))
        assert any(r.requires_grad for r in made), f"{about(row, call, 'float64')}: no result requires grad"
        assert gradcheck(recorded(function, wanted), wanted), about(row, call, "float64")
        if row.twice:
            assert gradgradcheck(function, wanted), about(row, call, "float64")
        else:
            with pytest.raises(RuntimeError, match=r"derivative for .* is not implemented"):
                gradgradcheck(function, wanted)
        checked += 1
    assert checked, f"{row.op} is marked differentiable and no call has a gradient"


def check_one_gradient(row: Row) -> None:
    """The first derivative of the first call that has one agrees with finite differences in one direction."""
    calls = (differentiable(row, call) for call in row.calls)
    function, wanted = next((f, tensors) for f, tensors in calls if any(t.numel() for t in tensors))
    assert gradcheck(recorded(function, wanted), wanted, fast_mode=True), row.op


def check_no_gradient(row: Row) -> None:
    """No result of an operator that is marked so requires grad, but to refuse the way back: nobody knows it."""
    for call in row.calls:
        args, kwargs = in_library(
            glasstorch, call, arrays(row, call, "float64" if "float64" in row.dtypes else row.dtypes[0])
        )
        require_grad(call, args, kwargs)
        made = results(operator(row.op)(*args, **kwargs))
        for recorded in (r for r in made if getattr(r, "requires_grad", False)):
            with pytest.raises(RuntimeError, match=r"derivative for .* is not implemented"):
                recorded.sum().backward()


def seed(result: Any) -> Any:
    """A gradient of a result that differs from place to place."""
    numbers = np.cos(np.arange(result.numel(), dtype=np.float64)).reshape(result.shape)
    return glasstorch.from_numpy(numbers).to(result.device, result.dtype)


def check_gradients_on(row: Row, device: str) -> None:
    """The gradients on a device are those on the CPU."""
    checked = 0
    for call in row.calls:
        given = arrays(row, call, "float64")
        found = []
        for where in ("cpu", device):
            args, kwargs = on_device(row, call, given, where)
            wanted = require_grad(call, args, kwargs)
            args, kwargs = _not_leaves(glasstorch, args, kwargs)
            made = [r for r in results(operator(row.op)(*args, **kwargs)) if getattr(r, "requires_grad", False)]
            if not made:
                continue
            seeds = [seed(r) for r in made]
            found.append(glasstorch.autograd.grad(made, wanted, seeds, allow_unused=True))
        if not found:
            continue
        what = about(row, call, "float64")
        for ours, theirs in zip(*reversed(found), strict=True):
            assert (ours is None) == (theirs is None), what
            if ours is not None:
                assert (ours.device.type, tuple(ours.shape)) == ("cuda", tuple(theirs.shape)), what
                tolerance = row.tolerance * 8 * TOLERANCE["float64"]
                np.testing.assert_allclose(ours.host_array(), theirs.array(), tolerance, tolerance, err_msg=what)
        checked += 1
    assert checked, f"{row.op} is marked differentiable and no call has a gradient"


# Sizes without data -------------------------------------------------------------------------------------------


def check_meta(row: Row) -> None:
    """The Meta kernel gives the sizes, strides and dtypes of the CPU kernel, and has no data."""
    for call, run in runs(row):
        given = arrays(row, call, run)
        what = about(row, call, run)
        args, kwargs = in_library(glasstorch, call, given)
        ours = results(operator(row.op)(*args, **kwargs))
        args, kwargs = on_device(row, call, given, "meta")
        for real, ghost in zip(ours, results(operator(row.op)(*args, **kwargs)), strict=True):
            assert ghost.is_meta, what
            assert (tuple(ghost.shape), ghost.dtype) == (tuple(real.shape), real.dtype), what
            assert _strides(ghost) == _strides(real), f"{what}: {ghost.stride()}, expected {real.stride()}"


# In place, and into a tensor that is given --------------------------------------------------------------------


def forms_of(row: Row, inplace: bool) -> list[str]:
    found = [form for form, functional in FORMS.items() if functional == row.op]
    return [form for form in found if form.partition(".")[0].endswith("_") == inplace]


# Under PyTorch too: factories resize without a word, and some operators compute in the dtype of the out= tensor.
RESIZE_QUIETLY = frozenset(("zeros", "ones", "full", "eye", "linspace", "logspace", "narrow_copy"))
CAST_ANYTHING = frozenset(
    ("full", "arange", "range", "zeros", "ones", "eye", "linspace", "logspace", "sum", "prod", "cumsum", "cumprod")
)


def check_forms(row: Row, device: str = "cpu") -> None:
    """The in-place and out= forms agree with the functional one, count one change, and refuse what does not fit."""
    if operator(row.op).schema.is_inplace:
        _check_written_in_place(row, row.op, device)
    for form in forms_of(row, inplace=True):
        _check_inplace_form(row, form, device)
    for form in forms_of(row, inplace=False):
        _check_out_form(row, form, device)


def _check_written_in_place(row: Row, name: str, device: str) -> None:
    for call, run in runs(row):
        args, kwargs = on_device(row, call, arrays(row, call, run), device)
        self = args[0]
        before = self._version
        assert operator(name)(*args, **kwargs) is self, about(row, call, run)
        assert self._version == before + 1, f"{about(row, call, run)}: {self._version - before} changes were counted"


def _check_inplace_form(row: Row, form: str, device: str) -> None:
    for call, run in runs(row):
        given = arrays(row, call, run)
        what = f"{form}, {about(row, call, run)}"
        args, kwargs = on_device(row, call, given, device)
        wanted = operator(row.op)(*args, **kwargs)
        args, kwargs = on_device(row, call, given, device)
        self, layout = args[0], next(tensors_in(call)).layout
        before, place, kept = self._version, self.data_ptr(), self.tolist()
        if tuple(wanted.shape) != tuple(self.shape) or (layout == "expanded" and self.numel()):
            expected: Any = RuntimeError
        elif not can_cast(wanted.dtype, self.dtype):
            expected = DtypeError
        else:
            assert operator(form)(*args, **kwargs) is self, what
            assert self._version == before + 1, f"{what}: {self._version - before} changes were counted"
            assert self.data_ptr() == place, what
            assert_same(self, wanted.to(self.dtype), what)
            continue
        with pytest.raises(expected):
            operator(form)(*args, **kwargs)
        assert (self._version, self.tolist()) == (before, kept), f"{what}: changed, though it was refused"


def _check_out_form(row: Row, form: str, device: str) -> None:
    for call, run in runs(row):
        given = arrays(row, call, run)
        what = f"{form}, {about(row, call, run)}"
        args, kwargs = on_device(row, call, given, device)
        wanted = results(operator(row.op)(*args, **kwargs))
        schema = operator(form).schema
        names = [a.name for a in schema.out_arguments]
        kwargs = {name: value for name, value in kwargs.items() if any(a.name == name for a in schema.arguments)}

        write = partial(_written, form, names, args, kwargs)
        # Tensors of the right sizes, laid out backwards: written where they are.
        outs = [_backwards(w) for w in wanted]
        places = [o.data_ptr() for o in outs]
        for made, out in zip(write(outs), outs, strict=True):
            assert made is out, what
        for out, place, want in zip(outs, places, wanted, strict=True):
            assert (out._version, out.data_ptr()) == (1, place), f"{what}: version {out._version}"
            assert_same(out, want, what)
        # Empty tensors: given the right sizes without a word.
        outs = [glasstorch.empty(0, dtype=w.dtype, device=device) for w in wanted]
        write(outs)
        for out, want in zip(outs, wanted, strict=True):
            assert_same(out, want, what)
        # Tensors of other sizes: given the right ones with a warning.
        outs = [glasstorch.ones(7, 5, dtype=w.dtype, device=device) for w in wanted]
        with (
            nullcontext()
            if row.function in RESIZE_QUIETLY
            else pytest.warns(UserWarning, match="with one or more elements|which does not match the computed number")
        ):
            write(outs)
        for out, want in zip(outs, wanted, strict=True):
            assert_same(out, want, what)
        # A dtype that the result does not fit into.
        if wanted[0].dtype.is_floating_point and row.function not in CAST_ANYTHING:
            outs = [glasstorch.ones(w.shape, dtype=glasstorch.int64, device=device) for w in wanted]
            with pytest.raises((RuntimeError, TypeError)):  # the class is PyTorch's, as conformance checks
                write(outs)
            assert all(o._version == 0 and bool((o == 1).all()) for o in outs), f"{what}: changed, though refused"


def _written(form: str, names: list[str], args: Any, kwargs: Any, outs: list[Any]) -> list[Any]:
    """What an out= form returns when it is given some tensors to write to."""
    return results(operator(form)(*args, **kwargs, **dict(zip(names, outs, strict=True))))


def _backwards(like: Any) -> Any:
    """An out= tensor of a result's sizes whose dimensions lie in memory the other way round."""
    strides = [int(np.prod(like.shape[:i])) for i in range(like.dim())]
    return glasstorch.empty_strided(like.shape, strides, dtype=like.dtype, device=like.device)


def assert_same(ours: Any, wanted: Any, what: str) -> None:
    """Two results of one computation.

    On a CUDA device atomic additions come in any order, and rounding with them. The BLAS of NumPy 2.2 rounds a product
    differently where an operand or the result lies at another alignment.
    """
    assert (ours.dtype, tuple(ours.shape), ours.device) == (wanted.dtype, tuple(wanted.shape), wanted.device), what
    found, expected = ours.detach().host_array(), wanted.detach().host_array()
    if (ours.is_cuda or ROUNDS_BY_ALIGNMENT) and ours.dtype.is_floating_point:
        found, expected, tolerance = found.astype(np.float64), expected.astype(np.float64), TOLERANCE[ours.dtype.name]
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance, err_msg=what)
    else:
        np.testing.assert_array_equal(found, expected, err_msg=what)


# What ran -----------------------------------------------------------------------------------------------------


def check_trace(row: Row) -> None:
    """A trace records the operator's kernels and changes nothing."""
    call, run = runs(row)[0]
    given = arrays(row, call, run)
    args, kwargs = in_library(glasstorch, call, given)
    plain = results(operator(row.op)(*args, **kwargs))
    args, kwargs = in_library(glasstorch, call, given)
    with trace() as recorded:
        traced = results(operator(row.op)(*args, **kwargs))
    what = f"{about(row, call, run)}:\n{recorded}"
    assert recorded[0].operator == f"aten::{row.op}", what
    assert recorded[0].depth == 0, what
    assert {hop.key.name for hop in recorded} <= {
        "CPU",
        "ADInplaceOrView",
        "AutogradCPU",
        "BackendSelect",
        "Negative",
        "Undefined",
    }, what
    for one, other in zip(plain, traced, strict=True):
        if isinstance(one, glasstorch.Tensor):
            assert_same(other, one, what)
        else:
            assert one == other, what
