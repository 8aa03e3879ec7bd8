"""What the tests of the optimizers share: the same steps with both libraries."""

from typing import Any

import numpy as np
import pytest

import glasstorch

# Steps are compared after each other, so that a difference cannot hide in a later one.
TOLERANCE = {"float32": 1e-6, "float64": 1e-14, "bfloat16": 5e-2, "complex128": 1e-13}


def agrees_with_torch(name: str, options: dict[str, Any], dtype: str) -> None:
    """Take twelve steps on two parameters with PyTorch's optimizer and with ours, along the same gradients."""
    oracle = pytest.importorskip("torch")
    random = np.random.default_rng(0)
    sizes = [(3, 4), (5,)]

    def numbers(size: tuple[int, ...]) -> np.ndarray:
        real = random.standard_normal(size)
        return real + 1j * random.standard_normal(size) if dtype.startswith("complex") else real

    starts = [numbers(size) for size in sizes]
    gradients = [[numbers(size) for size in sizes] for _ in range(12)]
    ours, theirs = (walk(library, name, options, dtype, starts, gradients) for library in (glasstorch, oracle))
    for step, (mine, expected) in enumerate(zip(ours, theirs, strict=True)):
        np.testing.assert_allclose(mine, expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype], err_msg=f"step {step}")


def walk(
    library: Any, name: str, options: dict[str, Any], dtype: str, starts: list[Any], gradients: list[list[Any]]
) -> list[np.ndarray]:
    """All parameters and all that is remembered of them, in one array for each step."""

    def tensor(array: np.ndarray) -> Any:
        return library.from_numpy(array.copy()).to(getattr(library, dtype))

    parameters = [tensor(start).requires_grad_() for start in starts]
    optimizer = getattr(library.optim, name)(parameters, **options)
    places = []
    for along in gradients:
        for parameter, gradient in zip(parameters, along, strict=True):
            parameter.grad = tensor(gradient)
        optimizer.step()
        remembered = [optimizer.state[p][key] for p in parameters for key in sorted(optimizer.state[p])]
        places.append(np.concatenate([_plain(t.detach()).reshape(-1) for t in [*parameters, *remembered]]))
    return places


def _plain(tensor: Any) -> np.ndarray:
    return (tensor if tensor.is_complex() else tensor.double()).numpy()
