"""How is a sample of PyTorch's own operator database called in both libraries?

The database is OpInfo (torch/testing/_internal/common_methods_invocations.py): an entry is a function with samples in
every dtype, error inputs, and what it supports. Its lambdas are made again with glasstorch in the place of torch.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import random
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import glasstorch

# The entries by area, as the project's measurement of conformance has them.
AREAS: dict[str, list[str]] = json.loads(
    (Path(__file__).parents[1] / "truth" / "areas.json").read_text(encoding="utf-8")
)
SPACES = ("", "Tensor", "nn.functional", "linalg", "special", "fft", "masked", "signal.windows")
# PyTorch's default rtol and atol for a dtype (torch/testing/_comparison.py); the atol of half precision is looser, two
# tenths of a unit in the last place of 1, as gradients are often differences.
TOLERANCES = {
    "torch.float16": (1e-3, 2e-4),
    "torch.bfloat16": (1.6e-2, 1.6e-3),
    "torch.float32": (1.3e-6, 1e-5),
    "torch.complex64": (1.3e-6, 1e-5),
    "torch.float64": (1e-7, 1e-7),
    "torch.complex128": (1e-7, 1e-7),
}
SEED = 1234  # OpInfo's
# What they are multiplied by, as the measurement of conformance does.
LOOSE = 20


def full_name(entry: Any) -> str:
    """The entry's name, with its variant after a colon."""
    return f"{entry.name}:{entry.variant_test_name}".rstrip(":")


@functools.cache
def database(torch: Any) -> dict[str, Any]:
    """Entries by their full names."""
    from torch.testing._internal.common_methods_invocations import op_db

    torch.set_num_threads(1)  # as the tests' workers share the machine
    return {full_name(entry): entry for entry in op_db}


def samples_of(entry: Any, dtype: Any, torch: Any, most: int | None = None, grad: bool = True) -> list[Any]:
    """An entry's samples in a dtype, the same at every call; at most so many, spread over all that there are.

    None where PyTorch's CPU has not that dtype. The tensors require grad if `grad` and they can.
    """
    if dtype not in entry.dtypes:
        return []
    differentiable = dtype.is_floating_point or dtype.is_complex
    wanted = grad and differentiable and entry.supports_autograd and dtype in entry.backward_dtypes
    # Not entry.sample_inputs: it looks through the whole stack for a unittest, sample by sample.
    made = _seeded_anew(entry.sample_inputs_func(entry, "cpu", dtype, wanted), torch)
    samples = [s for s in made if is_plain(s, torch)]
    if most is None or len(samples) <= most:
        return samples
    return [samples[(2 * i + 1) * len(samples) // (2 * most)] for i in range(most)]


def _seeded_anew(samples: Iterable[Any], torch: Any) -> Iterator[Any]:
    """The samples, each drawn from the same seed, as entry.sample_inputs does it."""
    iterator = iter(samples)
    while True:
        torch.default_generator.manual_seed(SEED)
        random.seed(SEED)
        if (sample := next(iterator, None)) is None:
            return
        yield sample


def is_plain(sample: Any, torch: Any) -> bool:
    """Whether all tensors of a sample are strided ones on the CPU."""
    values = leaves([sample.input, sample.args, sample.kwargs])
    return all(v.layout is torch.strided and v.device.type == "cpu" for v in values if isinstance(v, torch.Tensor))


def leaves(value: Any) -> list[Any]:
    """The tensors and numbers in a result or an argument."""
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for v in value for leaf in leaves(v)] if isinstance(value, list | tuple) else [value]


# The other library's function ------------------------------------------------------------------------------------


@functools.cache
def _paths(torch: Any) -> dict[int, str]:
    """Where torch's public functions are found, by id."""
    found = {}
    for space in reversed(SPACES):
        root = attribute(torch, space)
        for name in dir(root):
            function = getattr(root, name, None)
            if callable(function):
                found[id(function)] = f"{space}.{name}".lstrip(".")
    return found


def attribute(root: Any, path: str) -> Any:
    """`attribute(torch, "nn.functional.relu")`; AttributeError where there is none."""
    return functools.reduce(getattr, filter(None, path.split(".")), root)


def counterpart(function: Any, torch: Any) -> Any:
    """What glasstorch has in the place of a function of torch; OpInfo's own helpers are made again around it.

    AttributeError where glasstorch has none.
    """
    if isinstance(function, functools.partial):
        return functools.partial(counterpart(function.func, torch), *function.args, **function.keywords)
    if id(function) in _paths(torch):
        return attribute(glasstorch, _paths(torch)[id(function)])
    if isinstance(function, torch._ops.OpOverload | torch._ops.OpOverloadPacket):
        return attribute(glasstorch.ops, str(function))
    if not isinstance(function, types.FunctionType) or not function.__module__.startswith("torch"):
        return function
    if not function.__module__.startswith("torch.testing"):
        return attribute(glasstorch, f"{function.__module__}.{function.__qualname__}".removeprefix("torch."))
    if function.__name__ == "wrapper_set_seed":
        return _seeded
    cells = tuple(
        types.CellType(counterpart(c.cell_contents, torch) if callable(c.cell_contents) else c.cell_contents)
        for c in function.__closure__ or ()
    )
    made = types.FunctionType(
        function.__code__, _globals(function, torch), function.__name__, function.__defaults__, cells
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _seeded(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """OpInfo's wrapper_set_seed for glasstorch."""
    glasstorch.manual_seed(42)
    return function(*args, **kwargs)


def _globals(function: types.FunctionType, torch: Any) -> dict[str, Any]:
    """The globals of a helper of OpInfo with glasstorch for torch, and the helpers that it calls made again too."""
    names: set[str] = set()
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    found = {**function.__globals__, "torch": glasstorch}
    for name in names & function.__globals__.keys():
        value = function.__globals__[name]
        if isinstance(value, types.FunctionType) and value is not function:
            found[name] = counterpart(value, torch)
        elif isinstance(value, types.ModuleType) and value.__name__.startswith("torch."):
            found[name] = attribute(glasstorch, value.__name__.removeprefix("torch."))
    return found


# One call --------------------------------------------------------------------------------------------------------


class Call:
    """A library's own copies of a sample's arguments: same numbers, geometry and sharing of memory."""

    def __init__(self, library: Any, sample: Any, torch: Any, grad: bool = False, device: str = "cpu") -> None:
        self.library, self.torch, self.grad, self.device = library, torch, grad, device
        self.pairs: list[tuple[Any, Any]] = []  # the sample's tensor, ours
        self._bases: dict[tuple[int, Any], Any] = {}
        self._kept: list[Any] = []  # what was resolved, as an address may be given again once it is free
        self.args = [self.converted(a) for a in (sample.input, *sample.args)]
        self.kwargs = {name: self.converted(value) for name, value in sample.kwargs.items()}
        self.out: Any = None

    def run(self, function: Callable[..., Any], **more: Any) -> Call:
        """Call it with the arguments, and keep what it returns in `out`."""
        self.library.default_generator.manual_seed(0)  # torch.manual_seed asks for CUDA's too, which is slow
        self.out = function(*self.args, **self.kwargs, **more)
        return self

    @property
    def is_random(self) -> bool:
        """Whether the call, of torch, drew random numbers."""
        now = self.torch.default_generator.get_state()
        return not self.torch.equal(now, self.torch.default_generator.manual_seed(0).get_state())

    @property
    def inputs(self) -> list[Any]:
        """The tensors among the arguments."""
        return [copy for _, copy in self.pairs]

    def converted(self, value: Any) -> Any:
        """An argument in the library's terms."""
        torch = self.torch
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, dict):
            return {name: self.converted(v) for name, v in value.items()}
        if type(value) in (list, tuple):
            return type(value)(self.converted(v) for v in value)
        if isinstance(value, slice):
            return slice(*(self.converted(v) for v in (value.start, value.stop, value.step)))
        if isinstance(value, torch.device) or (isinstance(value, str) and value == "cpu" != self.device):
            return self.library.device(str(value) if self.device == "cpu" else self.device)
        if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
            return getattr(self.library, str(value).removeprefix("torch."))
        if isinstance(value, torch.Size):
            return self.library.Size(value)
        if self.library is not glasstorch:
            return value
        if dataclasses.is_dataclass(value):
            fields = {f.name: self.converted(getattr(value, f.name)) for f in dataclasses.fields(value)}
            return getattr(glasstorch.nn, type(value).__name__)(**fields)
        # nn.functional.triplet_margin_with_distance_loss takes a layer as its distance. Where a comparison hands over
        # PyTorch's own layer, as the project's measurement of conformance does, only PyTorch's tensors can pass.
        if isinstance(value, torch.nn.Module):
            return getattr(glasstorch.nn, type(value).__name__)()
        return counterpart(value, torch) if callable(value) else value

    def _tensor(self, given: Any) -> Any:
        for theirs, mine in self.pairs:
            if theirs is given:
                return mine
        torch, plain = self.torch, given.detach().resolve_conj().resolve_neg()
        self._kept.append(plain)
        memory = plain.untyped_storage()
        key = (memory.data_ptr() or id(memory), plain.dtype)
        if key not in self._bases:
            flat = torch.empty(0, dtype=plain.dtype).set_(memory, 0, (memory.nbytes() // plain.element_size(),), (1,))
            exact = flat.float() if plain.dtype is torch.bfloat16 else flat  # NumPy has no bfloat16
            made = self.library.from_numpy(exact.numpy().copy())
            self._bases[key] = made.to(self.device, getattr(self.library, str(plain.dtype).removeprefix("torch.")))
        made = self._bases[key].as_strided(tuple(plain.shape), tuple(plain.stride()), plain.storage_offset())
        if given.requires_grad and self.grad:
            made.requires_grad_(True)
        self.pairs.append((given, made))
        return made


# Comparing -------------------------------------------------------------------------------------------------------


class Unequal(AssertionError):
    """Values or words that differ, in results that are alike otherwise."""


def compare(found: Any, expected: Any, torch: Any, what: str, values: bool = True, loose: float = LOOSE) -> None:
    """All tensors and numbers of two results: how many there are, their dtypes, sizes, and values."""
    mine, theirs = leaves(found), leaves(expected)
    assert len(mine) == len(theirs), f"{what}: {len(mine)} results, expected {len(theirs)}"
    if type(expected).__module__ == "torch.return_types":
        fields = [n for n in dir(expected) if not n.startswith(("_", "n_")) and n not in ("count", "index")]
        assert [n for n in fields if not hasattr(found, n)] == [], what
    for one, other in zip(mine, theirs, strict=True):
        if not isinstance(other, torch.Tensor):
            assert type(one) is type(other), f"{what}: {type(one)}, expected {type(other)}"
            numbers = values and isinstance(other, bool | int | float | complex)
            if numbers and not np.allclose(one, other, rtol=1e-6, atol=0, equal_nan=True):
                raise Unequal(f"{what}: {one}, expected {other}")
            continue
        assert isinstance(one, glasstorch.Tensor), f"{what}: {type(one)}, expected a tensor"
        assert (repr(one.dtype), tuple(one.shape)) == (repr(other.dtype), tuple(other.shape)), what
        if values:
            rtol, atol = (loose * tolerance for tolerance in TOLERANCES.get(str(other.dtype), (0, 0)))
            try:
                torch.testing.assert_close(
                    in_torch(one, torch), other.detach(), rtol=rtol, atol=atol, equal_nan=True, check_stride=False
                )
            except AssertionError as difference:
                raise Unequal(f"{what}: {difference}") from None


def in_torch(tensor: Any, torch: Any) -> Any:
    """A tensor of glasstorch as one of torch."""
    plain = tensor.detach().resolve_conj().resolve_neg().cpu()
    exact = plain.float() if plain.dtype is glasstorch.bfloat16 else plain
    return torch.from_numpy(np.array(exact.numpy())).to(getattr(torch, plain.dtype.name))


# Areas -----------------------------------------------------------------------------------------------------------


def entries(areas: Sequence[str]) -> list[str]:
    """The names of all entries of some areas."""
    return [name for area in areas for name in AREAS[area]]
