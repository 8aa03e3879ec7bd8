"""Are running totals and places of extrema loops, and do they give what the library's own kernels give?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch as torch
from glasstorch._inductor.compile_fx import compile_fx
from glasstorch.compiler.loops import backend
from tests.compiler.loops.test_backend import check, graph, without_compiler

NAN, INF = torch.nan, torch.inf
torch.manual_seed(0)
PLAIN = torch.randn(3, 7, 4)
STRANGE = PLAIN.clone()
STRANGE[0, 1], STRANGE[1, :, 2], STRANGE[2], STRANGE[0, 5] = NAN, INF, -INF, NAN
TIES = torch.randint(0, 3, (6, 9))

SCANS: dict[str, Callable[[Any, int], Any]] = {
    "cumsum": lambda x, dim: x.cumsum(dim),
    "cumprod": lambda x, dim: x.cumprod(dim),
    "cummax": lambda x, dim: x.cummax(dim),
    "cummin": lambda x, dim: x.cummin(dim),
    "logcumsumexp": lambda x, dim: x.logcumsumexp(dim) if x.is_floating_point() else x,
    "places": lambda x, dim: (x.argmax(dim), x.argmin(dim, keepdim=True), x.argmax(), *x.max(dim), *x.min(dim, True)),
    "turned": lambda x, dim: (x.flip(dim) * 2, x.flip(0, -1)),
    "among others": lambda x, dim: (x.float().exp().cumsum(dim).log() * 2 + x.float().sum(dim, keepdim=True),),
}
INPUTS = {
    "plain": PLAIN,
    "strange": STRANGE,
    "ties": TIES,
    "transposed": STRANGE.transpose(0, 2),
    "half": PLAIN.half(),
}


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("name", SCANS)
def test_scan(name: str, dim: int) -> None:
    def program(*values: Any) -> list[Any]:
        found = [SCANS[name](value, dim) for value in values]
        return [leaf for one in found for leaf in (one if isinstance(one, tuple) else (one,))]

    compiled = check(program, *INPUTS.values())
    assert "aten" not in compiled.source_code


@pytest.mark.parametrize("name", SCANS)
def test_scan_in_numpy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "compiled", without_compiler)
    monkeypatch.setattr(backend, "tell_once", lambda why: None)
    for value in INPUTS.values():
        check(lambda x: SCANS[name](x, -1), value)


def test_what_comes_before_and_after_a_scan_of_rows_stays_in_the_cache() -> None:
    compiled = graph(lambda x: x.exp().cumsum(1).log(), torch.randn(6, 10))
    (kernel,) = compiled.kernels
    assert kernel.groups[0].phases == [0, 1, 2]
    assert len(kernel.parameters) == 2
    assert compiled.cpp_code.count("#pragma omp simd") == 2  # the scan takes one element after the other


def test_a_long_row_is_scanned_apart_from_what_is_gathered() -> None:
    x = torch.randn(40000)
    compiled = check(lambda x: ((x * x).cumsum(0), x.sum()), x)
    assert len(compiled.kernels[0].groups) > 1
    assert any("cannot be divided between threads" in line for line in compiled.fusion)


def test_the_gradient_of_a_scan_is_one_that_runs_backwards() -> None:
    x = torch.randn(4, 6, requires_grad=True)
    weights = torch.randn(4, 6)
    (wanted,) = torch.autograd.grad((x.cumsum(1).logcumsumexp(0) * weights).sum(), x)
    run = compile_fx(lambda x: [x.cumsum(1).logcumsumexp(0)], [x])
    (found,) = torch.autograd.grad((run(x)[0] * weights).sum(), x)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
