"""Does every optimizer do what PyTorch's does, on the inputs of PyTorch's own database of optimizers?

The database is OptimizerInfo (torch/testing/_internal/common_optimizers.py). For each of its inputs, in each form that
the optimizer has, both libraries take the same steps along the same gradients; parameters and state are compared after
each of them. Calls that PyTorch refuses are refused with an exception of the same class and the words that the database
expects.
"""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import builtin

Require = Callable[[str], Any]

NAMES = [
    *("Adadelta", "Adafactor", "Adagrad", "Adam", "Adamax", "AdamW", "ASGD"),
    *("LBFGS", "Muon", "NAdam", "RAdam", "RMSprop", "Rprop", "SGD"),
]
# The forms give the same bits where they do in PyTorch too; in others some factors are multiplied in another order.
SAME_BITS = {"Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "RMSprop", "Rprop", "SGD"}
STEPS = 4
TOLERANCE = {"float32": 2e-6, "float64": 1e-13, "complex64": 2e-6, "bfloat16": 2e-2}
# Products of matrices in bfloat16 round after sums that are added in another order; a search magnifies differences.
LESS_EXACT = {("Muon", "float32"): 2e-3, ("Muon", "float64"): 2e-3, ("LBFGS", "float32"): 1e-4}
LESS_EXACT |= {("LBFGS", "complex64"): 1e-4, ("LBFGS", "float64"): 1e-8}
# A differentiable step computes with the step count, which is in single precision; so do rates of ASGD.
COUNTED = 1e-7


@functools.cache
def database() -> dict[str, Any]:
    from torch.testing._internal.common_optimizers import optim_db

    return {info.name: info for info in optim_db}


def test_the_database_has_no_more_optimizers(require: Require) -> None:
    require("torch")
    assert set(database()) == {*NAMES, "SparseAdam"}  # of which tests/optim/test_sparse_gradients.py takes steps


def forms(info: Any) -> Iterator[dict[str, bool]]:
    """The options that choose a form of the step."""
    yield {}
    for name in info.supported_impls:
        yield {name: True}
    if "cpu" in info.supports_fused_on:
        yield {"fused": True}


def numbers(dtype: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    real = rng.standard_normal(shape)
    return real + 1j * rng.standard_normal(shape) if dtype.startswith("complex") else real


def ours(value: Any) -> Any:
    """An option of the database as one of glasstorch."""
    if type(value).__module__.startswith("torch"):
        return glasstorch.from_numpy(value.detach().numpy().copy())
    return type(value)(map(ours, value)) if isinstance(value, tuple) else value


class Walk:
    """Parameters with gradients, and an optimizer, in one of the libraries."""

    def __init__(self, library: Any, name: str, options: dict[str, Any], dtype: str) -> None:
        self.library, self.dtype = library, getattr(library, dtype)
        rng = np.random.default_rng(3)
        shapes = [(3, 4), (4, 2)] if name == "Muon" else [(3, 4), (5,), ()]
        if name == "Adafactor":
            shapes[-1] = (2, 3, 2)
        self.rng, self.kind = rng, dtype
        self.parameters = [self.tensor(numbers(dtype, shape, rng)).requires_grad_() for shape in shapes]
        if options.get("differentiable"):  # a step changes the parameters in place, which leaves must not be
            self.parameters = [parameter.clone() for parameter in self.parameters]
        self.optimizer = getattr(library.optim, name)(self.parameters, **options)

    def tensor(self, array: np.ndarray) -> Any:
        return self.library.from_numpy(np.array(array)).to(self.dtype)

    def step(self) -> None:
        for parameter in self.parameters:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                parameter.retain_grad() if not parameter.is_leaf else None
                parameter.grad = self.tensor(numbers(self.kind, tuple(parameter.shape), self.rng))
        self.optimizer.step(self.closure if type(self.optimizer).__name__ == "LBFGS" else None)

    def closure(self) -> Any:
        """Twice a sum of fourth powers, which has curvature everywhere."""
        self.optimizer.zero_grad()
        loss = sum(((p.abs() - 1) ** 2 + p.abs() ** 4).sum() for p in self.parameters)
        loss.backward()
        return loss

    def everything(self) -> dict[str, np.ndarray]:
        """The parameters, and what is remembered of them."""
        found = {f"parameter {i}": p for i, p in enumerate(self.parameters)}
        for i, parameter in enumerate(self.parameters):
            for key, value in self.optimizer.state[parameter].items():
                if isinstance(value, self.library.Tensor):
                    found[f"{key} {i}"] = value
        return {name: plain(tensor) for name, tensor in found.items()}


def plain(tensor: Any) -> np.ndarray:
    tensor = tensor.detach()
    return (tensor if tensor.is_complex() else tensor.double()).numpy().copy()


def dtypes(info: Any) -> list[str]:
    return ["float32", "float64", *(["complex64"] if info.supports_complex else [])]


@pytest.mark.parametrize("name", NAMES)
def test_takes_pytorchs_steps(name: str, require: Require) -> None:
    torch = require("torch")
    info = database()[name]
    for given in info.optim_inputs_func(device="cpu"):
        for form in forms(info):
            for dtype in dtypes(info):
                options = {**given.kwargs, **form}
                if form.get("foreach") and any(isinstance(v, torch.Tensor) for v in options.values()):
                    continue  # refused unless it is captured; PyTorch's inputs say so too
                if form.get("fused") and dtype == "complex64":
                    continue
                mine = Walk(glasstorch, name, {key: ours(value) for key, value in options.items()}, dtype)
                theirs = Walk(torch, name, options, dtype)
                for step in range(STEPS):
                    mine.step()
                    theirs.step()
                    tolerance = LESS_EXACT.get((name, dtype), TOLERANCE[dtype])
                    if form.get("differentiable") or (name == "ASGD" and form):
                        tolerance = max(tolerance, COUNTED)
                    close(mine, theirs, tolerance, f"{given.desc} {form} {dtype} {step}")


def close(mine: Walk, theirs: Walk, tolerance: float, where: str) -> None:
    found, expected = mine.everything(), theirs.everything()
    if type(mine.optimizer).__name__ == "LBFGS":  # the rest is of the last search, near the minimum
        expected = {key: array for key, array in expected.items() if key.startswith("parameter")}
    else:
        assert list(found) == list(expected), where
    for key, array in expected.items():
        np.testing.assert_allclose(found[key], array, rtol=tolerance, atol=tolerance, err_msg=f"{where}: {key}")


@pytest.mark.parametrize("name", sorted(SAME_BITS))
def test_all_forms_give_the_same_bits(name: str, require: Require) -> None:
    require("torch")
    info = database()[name]
    for given in info.optim_inputs_func(device="cpu"):
        options = {key: ours(value) for key, value in given.kwargs.items()}
        if any(isinstance(value, glasstorch.Tensor) for value in options.values()):
            continue
        for dtype in ("float32", "float64", "complex64"):
            walks = [Walk(glasstorch, name, {**options, "foreach": False}, dtype)]
            walks += [Walk(glasstorch, name, {**options, **form}, dtype) for form in ({}, {"foreach": True})]
            if "cpu" in info.supports_fused_on and not dtype.startswith("complex"):
                walks.append(Walk(glasstorch, name, {**options, "fused": True}, dtype))
            for _ in range(STEPS):
                for walk in walks:
                    walk.step()
                first, *others = [walk.everything() for walk in walks]
                for other in others:
                    for key, array in first.items():
                        assert array.tobytes() == other[key].tobytes(), f"{given.desc} {dtype}: {key}"


@pytest.mark.parametrize("name", NAMES)
def test_refuses_what_pytorch_refuses(name: str, require: Require) -> None:
    torch = require("torch")
    info = database()[name]
    for refused in info.optim_error_inputs_func(device="cpu", dtype=torch.float32):
        given = refused.optimizer_error_input
        parameters = given.params if given.params is not None else [torch.nn.Parameter(torch.randn(2, 3))]
        options = {key: ours(value) for key, value in given.kwargs.items()}
        at_step = refused.error_on.name == "STEP_ERROR"
        tensors = in_ours(parameters)
        if refused.error_type is UserWarning:
            with pytest.warns(UserWarning, match=refused.error_regex):
                getattr(glasstorch.optim, name)(tensors, **options)
            continue
        make = functools.partial(getattr(glasstorch.optim, name), tensors, **options)
        call = make().step if at_step else make
        with pytest.raises(builtin(refused.error_type), match=refused.error_regex):
            call()


def in_ours(parameters: Any, seen: dict[int, Any] | None = None) -> Any:
    """Parameters as the database gives them, as those of glasstorch: lists, groups, names; shared ones stay shared."""
    seen = {} if seen is None else seen
    if isinstance(parameters, list | tuple):
        return type(parameters)(in_ours(one, seen) for one in parameters)
    if isinstance(parameters, dict):
        return {key: in_ours(value, seen) for key, value in parameters.items()}
    if not hasattr(parameters, "detach"):
        return parameters
    if id(parameters) not in seen:
        seen[id(parameters)] = glasstorch.nn.Parameter(glasstorch.from_numpy(parameters.detach().numpy().copy()))
        if parameters.grad is not None:
            seen[id(parameters)].grad = glasstorch.from_numpy(parameters.grad.numpy().copy())
    return seen[id(parameters)]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "LBFGS"])
def test_goes_on_from_a_state_dict(name: str, require: Require) -> None:
    require("torch")
    for given in database()[name].optim_inputs_func(device="cpu"):
        options = {key: ours(value) for key, value in given.kwargs.items()}
        walk = Walk(glasstorch, name, options, "float32")
        walk.step()
        state, places = copy.deepcopy(walk.optimizer.state_dict()), [p.detach().clone() for p in walk.parameters]
        again = Walk(glasstorch, name, options, "float32")
        again.step()
        for parameter, place in zip(again.parameters, places, strict=True):
            parameter.detach().copy_(place)
        again.optimizer.load_state_dict(state)
        walk.step()
        again.step()
        for key, array in walk.everything().items():
            assert array.tobytes() == again.everything()[key].tobytes(), f"{given.desc}: {key}"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "LBFGS"])
def test_goes_on_from_what_pytorch_remembers(name: str, dtype: str, require: Require) -> None:
    """Two steps with PyTorch, then two here from its parameters and state, and the other way round."""
    torch = require("torch")
    for given in database()[name].optim_inputs_func(device="cpu"):
        walks = [
            Walk(library, name, {key: convert(value) for key, value in given.kwargs.items()}, dtype)
            for library, convert in ((glasstorch, ours), (torch, lambda value: value))
        ]
        for _ in range(2):
            for walk in walks:
                walk.step()
        states = [copy.deepcopy(walk.optimizer.state_dict()) for walk in walks]
        places = [[p.detach().numpy().copy() for p in walk.parameters] for walk in walks]
        for walk, state, values in zip(walks, reversed(states), reversed(places), strict=True):
            for parameter, value in zip(walk.parameters, values, strict=True):
                parameter.detach().copy_(walk.library.from_numpy(value))
            walk.optimizer.load_state_dict(in_library(walk.library, state))
        for _ in range(2):
            for walk in walks:
                walk.step()
            tolerance = COUNTED if name == "ASGD" else LESS_EXACT.get((name, dtype), TOLERANCE[dtype])
            close(*walks, tolerance, f"{given.desc} {dtype}")


def in_library(library: Any, state: Any) -> Any:
    """A state dict with the tensors of one library in the place of another's."""
    if isinstance(state, dict):
        return {key: in_library(library, value) for key, value in state.items()}
    if isinstance(state, list):
        return [in_library(library, value) for value in state]
    return library.from_numpy(state.numpy().copy()) if hasattr(state, "numpy") else state


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("LBFGS", "Muon", "Adafactor")])
def test_a_differentiable_step_has_pytorchs_gradients(name: str, require: Require) -> None:
    torch = require("torch")
    info = database()[name]
    for given in info.optim_inputs_func(device="cpu"):
        found = [
            gradients(library, name, {key: convert(value) for key, value in given.kwargs.items()})
            for library, convert in ((glasstorch, ours), (torch, lambda value: value))
        ]
        for mine, theirs in zip(*found, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12, err_msg=given.desc)


def gradients(library: Any, name: str, options: dict[str, Any]) -> list[np.ndarray]:
    """Of a step with respect to the parameter, its gradient, and what was remembered of it."""
    rng = np.random.default_rng(0)

    def leaf() -> Any:
        return library.from_numpy(rng.standard_normal(4) + 3.0).requires_grad_()

    first = leaf()
    first.grad = leaf().detach()
    before = getattr(library.optim, name)([first], **options)
    before.step()
    leaves = {"parameter": leaf(), "gradient": leaf()}
    state = {}
    for key, value in before.state[first].items():
        state[key] = value
        if isinstance(value, library.Tensor) and value.shape:
            leaves[key] = value.detach().requires_grad_()
            state[key] = leaves[key].clone()
    parameter = leaves["parameter"].clone()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parameter.grad = leaves["gradient"]
    optimizer = getattr(library.optim, name)([parameter], **options, differentiable=True)
    optimizer.state[parameter].update(state)
    optimizer.step()
    weights = library.from_numpy(rng.standard_normal(4))
    found = library.autograd.grad((parameter * weights).sum(), list(leaves.values()), allow_unused=True)
    return [np.zeros(0) if gradient is None else gradient.numpy() for gradient in found]


@pytest.mark.parametrize("foreach", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_captured_step_needs_an_accelerator_and_changes_nothing_without(
    name: str, foreach: bool, require: Require
) -> None:
    require("torch")
    if not database()[name].has_capturable_arg:
        return
    parameter = glasstorch.ones(2, requires_grad=True)
    parameter.grad = glasstorch.ones(2)
    optimizer = getattr(glasstorch.optim, name)([parameter], capturable=True, foreach=foreach)
    with pytest.raises(AssertionError, match=r"If capturable=True, params.* must be on supported devices"):
        optimizer.step()
    assert parameter.tolist() == [1, 1]
