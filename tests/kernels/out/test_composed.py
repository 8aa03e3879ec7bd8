"""Do operators that copy their results into out= refuse what PyTorch refuses, before they write?"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from typing import Any

import pytest

Geometry = tuple[tuple[int, ...], tuple[int, ...], int]  # sizes, strides, offset

CASES: dict[str, tuple[Geometry, Geometry, int, str | None]] = {  # input, out=, number of indices, refusal
    "the input itself": (((3,), (1,), 0), ((3,), (1,), 0), 3, "some elements of the input tensor"),
    "a part of the input": (((3,), (1,), 0), ((1,), (1,), 2), 1, "some elements of the input tensor"),
    "a part, to be resized": (((3,), (1,), 0), ((1,), (0,), 0), 2, "some elements of the input tensor"),
    "one place twice": (((3,), (1,), 4), ((2,), (0,), 0), 2, "more than one element"),
    "one place twice, to be resized": (((3,), (1,), 4), ((2,), (0,), 0), 1, "more than one element"),
    "memory beside": (((3,), (1,), 0), ((2,), (1,), 3), 2, None),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_take_writes_to_no_memory_that_is_read(require: Callable[[str], Any], name: str) -> None:
    source, written, count, refusal = CASES[name]
    for library in (require("glasstorch"), require("torch")):
        memory = library.arange(8.0)
        x, out = memory.as_strided(*source), memory.as_strided(*written)
        indices = library.zeros(count, dtype=library.int64)
        if refusal is None:
            assert library.take(x, indices, out=out) is out
            assert memory.tolist() == [0, 1, 2, 0, 0, 5, 6, 7]
            continue
        with pytest.raises(RuntimeError, match=refusal):
            library.take(x, indices, out=out)
        assert memory.tolist() == list(range(8))


# operator -> the call with as many out= tensors as it has results
SEVERAL: dict[str, Callable[..., Any]] = {
    "frexp": lambda torch, A, **out: torch.frexp(A[0], **out),
    "aminmax": lambda torch, A, **out: torch.aminmax(A, dim=0, **out),
    "max": lambda torch, A, **out: torch.max(A, 0, **out),
    "cummax": lambda torch, A, **out: torch.cummax(A, 0, **out),
    "sort": lambda torch, A, **out: torch.sort(A, 0, **out),
    "stable sort": lambda torch, A, **out: torch.sort(A, stable=True, **out),
    "topk": lambda torch, A, **out: torch.topk(A, 2, **out),
    "median": lambda torch, A, **out: torch.median(A, 0, **out),
    "mode": lambda torch, A, **out: torch.mode(A, 0, **out),
    "histogram": lambda torch, A, **out: torch.histogram(A, 3, **out),
    "linalg.cholesky_ex": lambda torch, A, **out: torch.linalg.cholesky_ex(A, **out),
    "linalg.inv_ex": lambda torch, A, **out: torch.linalg.inv_ex(A, **out),
    "linalg.slogdet": lambda torch, A, **out: torch.linalg.slogdet(A, **out),
    "linalg.eig": lambda torch, A, **out: torch.linalg.eig(A, **out),
    "linalg.eigh": lambda torch, A, **out: torch.linalg.eigh(A, **out),
    "linalg.qr": lambda torch, A, **out: torch.linalg.qr(A, **out),
    "linalg.svd": lambda torch, A, **out: torch.linalg.svd(A, **out),
    "linalg.solve_ex": lambda torch, A, **out: torch.linalg.solve_ex(A, A[:2].T, **out),
    "linalg.lu_factor": lambda torch, A, **out: torch.linalg.lu_factor(A, **out),
    "linalg.lu": lambda torch, A, **out: torch.linalg.lu(A, **out),
    "linalg.ldl_factor": lambda torch, A, **out: torch.linalg.ldl_factor(A, **out),
    "linalg.lstsq": lambda torch, A, **out: torch.linalg.lstsq(A, A[:2].T, **out),
    "geqrf": lambda torch, A, **out: torch.geqrf(A, **out),
}


def outs_for(torch: Any, name: str) -> tuple[Any, list[Any]]:
    """A matrix, and a tensor of sevens for each result of an operator on it."""
    A = torch.tensor([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
    return A, [torch.full(result.shape, 7, dtype=result.dtype) for result in SEVERAL[name](torch, A)]


@pytest.mark.parametrize("name", SEVERAL)
def test_nothing_is_written_where_the_last_of_several_is_refused(torch: Any, name: str) -> None:
    A, outs = outs_for(torch, name)
    outs[-1] = outs[-1].to(torch.bool)
    before = [out.tolist() for out in outs]
    with pytest.raises(RuntimeError, match=r"type|can't be cast"):
        SEVERAL[name](torch, A, out=tuple(outs))
    assert [out.tolist() for out in outs] == before


def test_nothing_is_written_where_the_last_of_several_overlaps_itself_or_is_elsewhere() -> None:
    import glasstorch as torch

    for last in (torch.zeros(1, dtype=torch.int64).expand(3), torch.zeros(3, dtype=torch.int64, device="meta")):
        values = torch.full((3,), 7.0)
        with pytest.raises(RuntimeError, match=r"more than one element|device cpu, but got meta"):
            torch.sort(torch.tensor([2.0, 1.0, 3.0]), out=(values, last))
        assert values.tolist() == [7, 7, 7]


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("name", ["linalg.cholesky_ex", "linalg.inv_ex", "linalg.qr"])
def test_factors_and_their_info_are_not_cast(torch: Any, name: str, at: int) -> None:
    A, outs = outs_for(torch, name)
    outs[at] = outs[at].to(torch.int16 if outs[at].dtype is torch.int32 else torch.float64)
    with pytest.raises(
        RuntimeError, match=r"Expected out tensor to have dtype (float, but got double|int, but got short)"
    ):
        SEVERAL[name](torch, A, out=tuple(outs))


@pytest.mark.parametrize("name", ["linalg.lstsq", "geqrf"])
def test_reflections_and_least_squares_are_cast(torch: Any, name: str) -> None:
    A, outs = outs_for(torch, name)
    wider = [out.to(torch.int16 if out.dtype is torch.int64 else torch.float64) for out in outs]
    SEVERAL[name](torch, A, out=tuple(wider))
    for out, result in zip(wider, SEVERAL[name](torch, A), strict=True):
        assert torch.allclose(out, result.to(out.dtype), atol=1e-5)
    wider[0] = wider[0].to(torch.bool)
    with pytest.raises(RuntimeError, match=r"Expected (a|solution) to be safely castable from Float dtype, but got \1"):
        SEVERAL[name](torch, A, out=tuple(wider))


WITH_OUT: dict[str, Callable[..., Any]] = {
    "var": lambda torch, x, out: torch.var(x, 0, out=out),
    "std": lambda torch, x, out: torch.std(x, 0, out=out),
    "nanmean": lambda torch, x, out: torch.nanmean(x, 0, out=out),
    "diff": lambda torch, x, out: torch.diff(x, out=out),
    "msort": lambda torch, x, out: torch.msort(x, out=out),
    "kron": lambda torch, x, out: torch.kron(x, torch.ones(2), out=out),
    "linalg.inv": lambda torch, x, out: torch.linalg.inv(x, out=out),
    "linalg.multi_dot": lambda torch, x, out: torch.linalg.multi_dot([torch.ones(2, 2), x], out=out),
    "slogdet": lambda torch, x, out: torch.linalg.slogdet(x, out=(out, torch.empty(0)))[0],
    "logsumexp": lambda torch, x, out: torch.logsumexp(x, 0, out=out),
}
KEPT: dict[str, Callable[..., Any]] = {
    "quantile": lambda torch, x, out: torch.quantile(x, 0.5, 0, out=out),
    "inner": lambda torch, x, out: torch.inner(torch.ones(2, 2), x, out=out),
    "nanquantile": lambda torch, x, out: torch.nanquantile(x, 0.5, 0, out=out),
    "tensordot": lambda torch, x, out: torch.tensordot(torch.ones(2, 2), x, 1, out=out),
    "linalg.cond": lambda torch, x, out: torch.linalg.cond(x, out=out),
    "linalg.norm": lambda torch, x, out: torch.linalg.norm(x, out=out),
    "linalg.matrix_norm": lambda torch, x, out: torch.linalg.matrix_norm(x, out=out),
    "linalg.pinv": lambda torch, x, out: torch.linalg.pinv(x, 1e-6, out=out),
    "linalg.tensorsolve": lambda torch, x, out: torch.linalg.tensorsolve(x, torch.ones(2), out=out),
    "linalg.tensorinv": lambda torch, x, out: torch.linalg.tensorinv(x, 1, out=out),
}


@pytest.mark.parametrize("name", WITH_OUT)
def test_a_gradient_that_out_does_not_keep_is_refused(require: Callable[[str], Any], name: str) -> None:
    for torch in (require("glasstorch"), require("torch")):
        out = torch.empty(0)
        with pytest.raises(RuntimeError, match=r"functions with out=\.\.\. arguments don't support automatic diff"):
            WITH_OUT[name](torch, torch.tensor([[3.0, 1.0], [1.0, 2.0]], requires_grad=True), out)
        with torch.no_grad():
            WITH_OUT[name](torch, torch.tensor([[3.0, 1.0], [1.0, 2.0]], requires_grad=True), out)
        assert not out.requires_grad


@pytest.mark.parametrize("name", KEPT)
def test_a_gradient_that_out_keeps_is_that_of_the_result(require: Callable[[str], Any], name: str) -> None:
    for torch in (require("glasstorch"), require("torch")):
        x = torch.tensor([[3.0, 1.0], [1.0, 2.0]], requires_grad=True)
        out = torch.empty(0)
        assert KEPT[name](torch, x, out) is out
        assert out.grad_fn.name().endswith("CopyBackwards")
        (kept,) = torch.autograd.grad(out.sum(), x)
        (wanted,) = torch.autograd.grad(KEPT[name](torch, x, None).sum(), x)
        assert torch.equal(kept, wanted)


WHOLE: dict[str, Callable[..., Any]] = {
    "cholesky_solve.out": lambda torch, x, out: torch.cholesky_solve(x, x, out=out),
    "dist.out": lambda torch, x, out: torch.ops.aten.dist.out(x, x, out=out),
    "_euclidean_dist.out": lambda torch, x, out: torch.ops.aten._euclidean_dist.out(x, x, out=out),
    "linalg_eigvals.out": lambda torch, x, out: torch.linalg.eigvals(x, out=out.to(torch.complex64)),
    "logsumexp.out": lambda torch, x, out: torch.logsumexp(x, 0, out=out),
    "linalg_pinv.atol_rtol_tensor_out": lambda torch, x, out: torch.linalg.pinv(
        x, atol=torch.zeros(()), rtol=torch.zeros(()), out=out
    ),
    "mvlgamma.out": lambda torch, x, out: torch.ops.aten.mvlgamma.out(x, 1, out=out),
    "norm.Scalar_out": lambda torch, x, out: torch.ops.aten.norm.Scalar_out(x, 2, out=out),
    "norm.ScalarOpt_dtype_out": lambda torch, x, out: torch.ops.aten.norm.ScalarOpt_dtype_out(
        x, 2, dtype=torch.float32, out=out
    ),
    "norm.dtype_out": lambda torch, x, out: torch.ops.aten.norm.dtype_out(
        x, 2, [0], False, dtype=torch.float32, out=out
    ),
    "norm.out": lambda torch, x, out: torch.ops.aten.norm.out(x, 2, [0], out=out),
    "sort.values": lambda torch, x, out: torch.sort(x, out=(out, torch.empty(0, dtype=torch.int64))),
}


def seen_in_mode(torch: Any, call: Callable[..., Any]) -> list[str]:
    """The operators that a TorchDispatchMode sees of a call."""
    seen = []

    class Log(import_module(f"{torch.__name__}.utils._python_dispatch").TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    x, out = torch.tensor([[3.0, 1.0], [1.0, 2.0]]), torch.empty(0)
    with Log():
        call(torch, x, out)
    return seen


@pytest.mark.parametrize("form", WHOLE)
def test_a_mode_sees_a_form_that_autograd_sees_as_one_operator(require: Callable[[str], Any], form: str) -> None:
    for torch in (require("glasstorch"), require("torch")):
        assert seen_in_mode(torch, WHOLE[form])[-1] == f"aten.{form}"


@pytest.mark.parametrize("name", [*WITH_OUT, *KEPT])
def test_a_leaf_that_requires_grad_is_not_written_to(require: Callable[[str], Any], name: str) -> None:
    x = [[3.0, 1.0], [1.0, 2.0]]
    for torch in (require("glasstorch"), require("torch")):
        sizes = {**WITH_OUT, **KEPT}[name](torch, torch.tensor(x), torch.empty(0)).shape
        out = torch.zeros(sizes, requires_grad=True)
        with pytest.raises(RuntimeError, match=r"out=|a leaf Variable that requires grad is being used in"):
            {**WITH_OUT, **KEPT}[name](torch, torch.tensor(x), out)
        assert not out.any()


@pytest.mark.parametrize("name", ["conj_physical", "linalg.eigvals", "softmax", "log_softmax"])
def test_forms_with_kernels_of_their_own_count_one_change(torch: Any, name: str) -> None:
    x, out = torch.eye(2), torch.empty((2, 2) if name != "linalg.eigvals" else 2)
    out = out.to(torch.complex64) if name == "linalg.eigvals" else out.clone()
    before = out._version
    attrgetter(name)(torch)(x, *([0] if "softmax" in name else []), out=out)
    assert out._version == before + 1
