"""Do fused steps of optimizers update what PyTorch's do, and nothing where they refuse?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError

Require = Callable[[str], Any]

SHAPES: list[tuple[int, ...]] = [(3, 4), (), (0,), (70,)]
COMMON = {"maximize": False, "weight_decay": 0.0}
ADAM = {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "eps": 1e-6, "amsgrad": False, **COMMON}
SGD = {"lr": 0.1, "momentum": 0.0, "dampening": 0.0, "nesterov": False, "is_first_step": False, **COMMON}
ADAGRAD = {"lr": 0.1, "lr_decay": 0.1, "eps": 1e-6, **COMMON}

CASES: list[tuple[str, int, dict[str, Any]]] = [
    ("_fused_adam_", 3, {**ADAM}),
    ("_fused_adam_", 3, {**ADAM, "weight_decay": 0.1, "maximize": True, "amsgrad": True}),
    ("_fused_adamw_", 3, {**ADAM, "weight_decay": 0.1}),
    ("_fused_adamw_", 3, {**ADAM, "beta1": 0.3, "maximize": True}),
    ("_fused_sgd_", 1, {**SGD, "weight_decay": 0.2}),
    ("_fused_sgd_", 1, {**SGD, "momentum": 0.9, "dampening": 0.1, "maximize": True}),
    ("_fused_sgd_", 1, {**SGD, "momentum": 0.9, "nesterov": True, "is_first_step": True}),
    ("_fused_adagrad_", 1, {**ADAGRAD, "weight_decay": 0.1, "maximize": True}),
]


def stepped(
    library: Any, name: str, states: int, options: dict[str, Any], dtype: str, more: dict[str, Any]
) -> list[np.ndarray]:
    """All lists after three steps."""
    rng = np.random.default_rng(1)
    # PyTorch's SGD leaves whole vectors of half precision unchanged (2.13): only what remains behind them is compared.
    shapes = SHAPES[:-1] if name == "_fused_sgd_" and "16" in dtype else SHAPES

    def tensors() -> list[Any]:
        arrays = [np.asarray(rng.random(shape) + 0.1) for shape in shapes]
        return [library.from_numpy(array).to(getattr(library, dtype)) for array in arrays]

    lists = [tensors() for _ in range(2 + states)]
    given = list(lists)
    if name.startswith("_fused_adam") and not options["amsgrad"]:
        given[4] = []
    if name == "_fused_sgd_" and not options["momentum"]:
        given[2] = []
    numbers = {key: library.tensor(value) for key, value in more.items()}
    for step in range(1, 4):
        counts = [] if name == "_fused_sgd_" else [[library.tensor(float(step)) for _ in shapes]]
        getattr(library, name)(*given, *counts, **{**options, **numbers})
    return [tensor.double().numpy() for tensors in lists for tensor in tensors]


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
@pytest.mark.parametrize("more", [{}, {"grad_scale": 8.0, "found_inf": 0.0}, {"found_inf": 1.0}, {"lr": 0.2}], ids=str)
@pytest.mark.parametrize(("name", "states", "options"), CASES)
def test_updates_what_pytorch_updates(
    name: str, states: int, options: dict[str, Any], dtype: str, more: dict[str, float], require: Require
) -> None:
    found = [stepped(library, name, states, options, dtype, more) for library in (glasstorch, require("torch"))]
    tolerance = {"float32": 3e-6, "float64": 1e-13, "bfloat16": 3e-2, "float16": 4e-3}[dtype]
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("grads", "error", "words"),
    [
        ([], ArgumentError, "got 2 and 0"),
        ([(2,), (4,)], ShapeError, r"same sizes, got \[3\] and \[4\]"),
        ([(2,), (3,)], DtypeError, "same dtype, got torch.float32 and torch.float64"),
    ],
)
def test_refuses_before_anything_has_changed(grads: Any, error: type[Exception], words: str) -> None:
    parameters = [glasstorch.ones(2), glasstorch.ones(3)]
    along = [glasstorch.ones(shape) for shape in grads]
    if error is DtypeError:
        along[1] = along[1].double()
    with pytest.raises(error, match=words):
        glasstorch._fused_sgd_(parameters, along, [], **SGD)
    assert [p.tolist() for p in parameters] == [[1, 1], [1, 1, 1]]
    whole = [glasstorch.ones(2, dtype=glasstorch.int64)]
    with pytest.raises(DtypeError, match="fused optimizers take floating point parameters"):
        glasstorch._fused_sgd_(whole, whole, [], **SGD)


def test_no_write_is_counted_and_a_lazy_copy_keeps_its_values() -> None:
    """As in PyTorch, which counts what an operator writes that it returns; tests/autograd/test_records_nothing.py."""
    parameter, grad, buffer = (glasstorch.ones(2) for _ in range(3))
    kept = glasstorch.ops.aten._lazy_clone(parameter)
    glasstorch._fused_sgd_([parameter], [grad], [buffer], **{**SGD, "momentum": 0.9})
    assert parameter._version == grad._version == buffer._version == 0
    assert kept.tolist() == [1, 1] != parameter.tolist()


def test_without_data_there_is_nothing_to_update() -> None:
    lists = [[glasstorch.ones(2, device="meta")] for _ in range(3)]
    assert glasstorch._fused_sgd_(*lists, **{**SGD, "momentum": 0.9}) is None
