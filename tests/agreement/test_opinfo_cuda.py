"""Do the operators of the thin line agree with PyTorch on a CUDA device, on PyTorch's own samples?

The samples are those of OpInfo (torch/testing/_internal/common_methods_invocations.py). PyTorch computes on the CPU.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.kernels.cuda import runtime

THIN = (Path(__file__).parents[1] / "truth" / "thin.txt").read_text(encoding="utf-8").strip().split(",")
DTYPES = ("float32", "float64", "int64", "bool")
# PyTorch's default rtol and atol, and by what they are multiplied: a device rounds in other places.
TOLERANCES = {"torch.float32": (1.3e-6, 1e-5), "torch.float64": (1e-7, 1e-7)}
LOOSE = 10
MOST = 4  # samples of an operator and dtype, spread over all that there are


@pytest.fixture(scope="module", autouse=True)
def simulator() -> Iterator[None]:
    runtime.use_simulator(order="random", seed=7)
    yield
    runtime.use_driver(None)


def database(torch: Any) -> dict[str, Any]:
    """Operator, with its variant after a colon -> OpInfo."""
    from torch.testing._internal.common_methods_invocations import op_db

    return {f"{op.name}:{op.variant_test_name}".rstrip(":"): op for op in op_db}


# The same call for the other library -----------------------------------------------------------------------------


def ours(function: Any, torch: Any) -> Any:
    """What glasstorch has in the place of a function of torch; OpInfo's own helpers are made again around it."""
    for path in ("", "Tensor", "nn.functional"):
        space, twin = torch, glasstorch
        for part in filter(None, path.split(".")):
            space, twin = getattr(space, part), getattr(twin, part)
        name = getattr(function, "__name__", "")
        if getattr(space, name, None) is function:
            return getattr(twin, name)
    if isinstance(function, torch._ops.OpOverload | torch._ops.OpOverloadPacket):
        return reduce(getattr, str(function).split("."), glasstorch.ops)
    if not isinstance(function, types.FunctionType) or not function.__module__.startswith("torch.testing"):
        return function
    cells = tuple(types.CellType(ours(cell.cell_contents, torch)) for cell in function.__closure__ or ())
    space = {**function.__globals__, "torch": glasstorch}
    made = types.FunctionType(function.__code__, space, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def moved(value: Any, torch: Any, inputs: list[tuple[Any, Any]]) -> Any:
    """An argument of torch's as one of ours: tensors on the device, laid out alike, noted in `inputs`."""
    if isinstance(value, torch.Tensor):
        for theirs, mine in inputs:
            if theirs is value:
                return mine
        flat = torch.empty(0, dtype=value.dtype).set_(value.detach().untyped_storage())
        on_device = glasstorch.from_numpy(flat.numpy().copy()).to("cuda")
        made = on_device.as_strided(tuple(value.shape), value.stride(), value.storage_offset())
        inputs.append((value, made.requires_grad_(value.requires_grad)))
        return made
    if isinstance(value, dict):
        return {name: moved(v, torch, inputs) for name, v in value.items()}
    if type(value) in (list, tuple):
        return type(value)(moved(v, torch, inputs) for v in value)
    if isinstance(value, slice):
        return slice(*(moved(v, torch, inputs) for v in (value.start, value.stop, value.step)))
    if isinstance(value, torch.device) or (isinstance(value, str) and value == "cpu"):
        return glasstorch.device("cuda")
    if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
        return getattr(glasstorch, str(value).removeprefix("torch."))
    return value


def leaves(value: Any) -> list[Any]:
    """The tensors and numbers of a result."""
    return [leaf for v in value for leaf in leaves(v)] if isinstance(value, list | tuple) else [value]


# Comparing -------------------------------------------------------------------------------------------------------


def compare(found: Any, expected: Any, torch: Any, what: str, values: bool = True) -> None:
    """One result, or one gradient."""
    if not isinstance(expected, torch.Tensor):
        assert (type(found), found) == (type(expected), expected), what
        return
    assert (repr(found.dtype), tuple(found.shape)) == (repr(expected.dtype), tuple(expected.shape)), what
    assert found.requires_grad == expected.requires_grad, what
    if values:
        copied = torch.from_numpy(np.array(found.detach().cpu().numpy()))
        rtol, atol = (LOOSE * t for t in TOLERANCES.get(str(expected.dtype), (0, 0)))
        torch.testing.assert_close(
            copied, expected.detach(), rtol=rtol, atol=atol, equal_nan=True, check_stride=False, msg=lambda m: what + m
        )


def check(op: Any, sample: Any, torch: Any) -> int:
    """Results and gradients of one sample; returns how many gradients were compared."""
    what = f"{op.name}, {sample.summary()[:300]}\n"
    inputs: list[tuple[Any, Any]] = []
    self, args, kwargs = (moved(v, torch, inputs) for v in (sample.input, sample.args, sample.kwargs))
    numbers = not ("empty" in op.name or op.name == "uniform")  # else they are not the same twice
    expected = leaves(op.op(sample.input, *sample.args, **sample.kwargs))
    found = leaves(ours(op.op, torch)(self, *args, **kwargs))
    for mine, theirs in zip(found, expected, strict=True):
        compare(mine, theirs, torch, what, numbers)
    pairs = [(m, t) for m, t in zip(found, expected, strict=True) if getattr(t, "requires_grad", False) and numbers]
    if not pairs:
        return 0
    seeds = [np.cos(np.arange(t.numel())).reshape(tuple(t.shape)) for _, t in pairs]
    for theirs, _ in inputs:
        theirs.grad = None  # samples may share tensors
    torch.autograd.backward(
        [t for _, t in pairs], [torch.from_numpy(seed).to(t.dtype) for seed, (_, t) in zip(seeds, pairs, strict=True)]
    )
    glasstorch.autograd.backward(
        [m for m, _ in pairs],
        [glasstorch.from_numpy(seed).to("cuda", m.dtype) for seed, (m, _) in zip(seeds, pairs, strict=True)],
    )
    gradients = [(mine.grad, theirs.grad) for theirs, mine in inputs if theirs.is_leaf and theirs.requires_grad]
    for mine, theirs in gradients:
        assert (mine is None) == (theirs is None), what
        if theirs is not None:
            assert mine.is_cuda, what
            compare(mine, theirs, torch, f"gradient: {what}")
    return len(gradients)


@pytest.mark.parametrize("name", THIN)
def test_results_and_gradients(name: str, require: Callable[[str], Any]) -> None:
    torch = require("torch")
    op = database(torch)[name]
    samples = gradients = 0
    for dtype in (getattr(torch, d) for d in DTYPES):
        if dtype not in op.dtypes:
            continue
        grad = op.supports_autograd and dtype.is_floating_point
        torch.manual_seed(0)
        given = list(op.sample_inputs("cpu", dtype, requires_grad=grad))
        for sample in islice(given, 0, None, max(1, len(given) // MOST)):
            gradients += check(op, sample, torch)
            samples += 1
    assert samples
    assert gradients or not op.supports_autograd
