"""Are numbers with a parameter for each place PyTorch's, bit for bit, and does the stream go on as PyTorch's does?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.core.random.torch_numbers import torch_module

DRAWS: dict[str, Callable[[Any, Any], Any]] = {
    "poisson": lambda t, x: t.poisson(60 * x),
    "poisson of many": lambda t, x: t.poisson(1e8 * x),
    "gamma": lambda t, x: t._standard_gamma(20 * x),
    "gamma below one": lambda t, x: t._standard_gamma(x),
    "dirichlet of two": lambda t, x: t._sample_dirichlet((0.01 * x + 1e-5).reshape(-1, 2)),
    **{
        f"{count} trials": lambda t, x, count=count: t.binomial(t.full_like(x, count), x)
        for count in (0, 5, 30, 1000, 10**6)
    },
    "trials, broadcast": lambda t, x: t.binomial(t.full_like(x[:, :1], 9).expand_as(x), x),
}
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "row-major": lambda x: x,
    "transposed": lambda x: x.t(),
    "with gaps": lambda x: x[::2, ::4],
    "empty": lambda x: x[:0],
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("draw", DRAWS)
def test_numbers_are_pytorchs(draw: str, layout: str, dtype: str) -> None:
    drawn = []
    for library in (pytest.importorskip("glasstorch"), torch_module()):
        x = library.linspace(0, 1, 640, dtype=getattr(library, dtype)).reshape(40, 16)
        library.manual_seed(3)
        result = DRAWS[draw](library, LAYOUTS[layout](x))
        after = (library.rand(1).item(), library.randn(1).item())
        drawn.append((result.tolist(), str(result.dtype).split(".")[-1], result.stride(), after))
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_poisson_numbers_of_half_types_are_pytorchs(dtype: str) -> None:
    drawn = []
    for library in (pytest.importorskip("glasstorch"), torch_module()):
        library.manual_seed(4)
        drawn.append(library.poisson(library.linspace(0, 300, 50, dtype=getattr(library, dtype))).tolist())
    assert drawn[0] == drawn[1]


def test_many_coordinates_sum_to_one_and_are_pytorchs_to_the_last_place() -> None:
    points = []
    for library in (pytest.importorskip("glasstorch"), torch_module()):
        library.manual_seed(5)
        points.append(library._sample_dirichlet(library.linspace(0.1, 5, 60, dtype=library.float64).reshape(3, 20)))
        assert points[-1].sum(-1).tolist() == pytest.approx([1, 1, 1], rel=1e-15)
    assert points[0].numpy() == pytest.approx(points[1].numpy(), rel=4e-16)


def test_a_generator_is_drawn_from_and_the_default_one_is_not(torch: Any) -> None:
    torch.manual_seed(0)
    untouched = torch.rand(1)
    torch.manual_seed(0)
    x = torch.full((2, 3), 4.0)
    generator = torch.Generator()
    for call in (
        lambda: torch.poisson(x, generator=generator),
        lambda: torch._standard_gamma(x, generator=generator),
        lambda: torch._sample_dirichlet(x, generator=generator),
        lambda: torch.binomial(x, x / 10, generator=generator),
    ):
        drawn = [call() for _ in range(2) if generator.manual_seed(8)]
        assert drawn[0].tolist() == drawn[1].tolist()
    assert torch.rand(1) == untouched


REFUSED: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda t: t.poisson(t.tensor([1.0, -1.0])), RuntimeError, "invalid Poisson rate, expected rate to be non-neg"),
    (lambda t: t.poisson(t.ones(2, dtype=t.int64)), NotImplementedError, "\"poisson_cpu\" not implemented for 'Long'"),
    (lambda t: t._standard_gamma(t.ones(2, dtype=t.float16)), NotImplementedError, '"gamma_cpu" not implemented for'),
    (lambda t: t._sample_dirichlet(t.ones(2).to(t.bfloat16)), NotImplementedError, '"dirichlet" not implemented for'),
    (lambda t: t.binomial(t.ones(2).half(), t.ones(2).half()), NotImplementedError, '"binomial_cpu" not implemented'),
    (lambda t: t.binomial(t.ones(2).long(), t.ones(2)), ValueError, "binomial only supports floating-point dtypes for"),
    (lambda t: t.binomial(t.ones(2), t.ones(2).double()), RuntimeError, "Found dtype Double but expected Float"),
    (lambda t: t._standard_gamma_grad(t.ones(2).half(), t.ones(2).half()), NotImplementedError, "_standard_gamma_grad"),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_no_parameter_is_refused(
    torch: Any, call: Callable[[Any], Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error) as refusal:
        call(torch)
    assert words in str(refusal.value)


def test_meta_tensors_give_sizes(torch: Any) -> None:
    x = torch.ones(2, 3, device="meta")
    for result in (torch.poisson(x), torch._standard_gamma(x)):
        assert (result.shape, result.device.type) == ((2, 3), "meta")
