"""Are products of matrices of the compressed layouts PyTorch's, with their gradients, and what is refused?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.kernels.sparse.expressions import said

PRODUCTS = r"""
r @ r2
r @ k2
r @ o2
r @ p2
r @ c2
r @ d2
k @ r2
k @ k2
k @ o2
k @ p2
k @ c2
k @ d2
o @ r2
o @ k2
o @ o2
o @ p2
o @ c2
p @ r2
p @ k2
p @ o2
p @ p2
p @ c2
p @ d2
c @ r2
c @ k2
c @ o2
c @ p2
d @ r2
d @ k2
d @ o2
torch.addmm(e, r, r2)
torch.addmm(e, r, k2)
torch.addmm(e, r, o2)
torch.addmm(e, r, p2)
torch.addmm(e, r, c2)
torch.addmm(e, r, d2)
torch.addmm(e, k, r2)
torch.addmm(e, k, k2)
torch.addmm(e, k, o2)
torch.addmm(e, k, p2)
torch.addmm(e, k, c2)
torch.addmm(e, k, d2)
torch.addmm(e, o, r2)
torch.addmm(e, o, k2)
torch.addmm(e, o, o2)
torch.addmm(e, o, p2)
torch.addmm(e, o, c2)
torch.addmm(e, p, r2)
torch.addmm(e, p, k2)
torch.addmm(e, p, o2)
torch.addmm(e, p, p2)
torch.addmm(e, p, c2)
torch.addmm(e, p, d2)
torch.addmm(e, c, r2)
torch.addmm(e, c, k2)
torch.addmm(e, c, o2)
torch.addmm(e, c, p2)
torch.addmm(e, d, r2)
torch.addmm(e, d, k2)
torch.addmm(e, d, o2)
torch.addmm(r, r, r2).layout
torch.addmm(r, r, k2).layout
torch.addmm(r, r, o2).layout
torch.addmm(r, r, p2).layout
torch.addmm(r, r, c2).layout
torch.addmm(r, r, d2).layout
torch.addmm(k, k, r2).layout
torch.addmm(k, k, k2).layout
torch.addmm(k, k, o2).layout
torch.addmm(k, k, p2).layout
torch.addmm(k, k, c2).layout
torch.addmm(k, k, d2).layout
torch.addmm(o, o, r2).layout
torch.addmm(o, o, k2).layout
torch.addmm(o, o, o2).layout
torch.addmm(o, o, p2).layout
torch.addmm(o, o, c2).layout
torch.addmm(o, o, d2).layout
torch.addmm(p, p, r2).layout
torch.addmm(p, p, k2).layout
torch.addmm(p, p, o2).layout
torch.addmm(p, p, p2).layout
torch.addmm(p, p, c2).layout
torch.addmm(p, p, d2).layout
torch.addmm(c, c, r2).layout
torch.addmm(c, c, k2).layout
torch.addmm(c, c, o2).layout
torch.addmm(c, c, p2).layout
torch.addmm(d, d, r2).layout
torch.addmm(d, d, k2).layout
torch.addmm(d, d, o2).layout
torch.addmm(e, r, d2, beta=2, alpha=3)
torch.addmm(e, d, b2)
torch.addmm(e, r, e[:1])
torch.addmm(e[0], r, e)
torch.addmm(torch.ones(3, 3), r, e)
torch.addmm(e, r, e.double())
torch.addmm(e, r, r2, beta=0)
torch.mm(r, e[0])
torch.mv(r, e[0])
torch.mv(k, e[0])
torch.mv(p, e[0])
torch.addmv(e[0], r, e[1], beta=2, alpha=3)
torch.bmm(m, torch.stack([e, e]))
torch.matmul(m, torch.stack([e, e]))
torch.baddbmm(torch.stack([e, e]), m, torch.stack([e, e]))
torch.mm(r, torch.zeros(2, 2).to_sparse_csr())
torch.mm(torch.zeros(2, 2).to_sparse_csr(), e)
torch.mm(r, e, out=torch.empty(2, 2))
torch.mm(r, r2, out=torch.empty(2, 2).to_sparse_csr())
torch.sparse.sampled_addmm(r, e, e)
torch.sparse.sampled_addmm(r, e, e, beta=2, alpha=3)
torch.sparse.sampled_addmm(k, e, e)
torch.sparse.sampled_addmm(r, e, T([[1.]]))
torch.sparse.sampled_addmm(r, e, r)
torch.sparse.sampled_addmm(m, torch.stack([e, e]), torch.stack([e, e]))
torch.sparse.sampled_addmm(r, e, e, out=torch.zeros(2, 2).to_sparse_csr())
torch.sparse.mm(r, e)
torch.sparse.mm(r, e, 'sum')
torch.sparse.mm(r, e, 'mean')
torch.sparse.mm(r, e, 'amax')
torch.sparse.mm(r, e, 'amin')
torch.sparse.mm(r, e, 'prod')
torch.sparse.mm(k, e, 'sum')
torch.sparse.mm(torch.zeros(2, 2).to_sparse_csr(), e, 'amax')
torch.sparse.mm(r, r2)
torch.sparse.addmm(e, r, e)
torch.triangular_solve(e, r, upper=False)
torch.nn.functional.linear(e, r)
torch.nn.functional.linear(e, r, e[0])
""".strip().splitlines()

GRADIENTS = r"""
gradient(lambda x: x@e, r)
gradient(lambda x: r@x, e)
gradient(lambda x: x@r, e)
gradient(lambda x: e@x, r)
gradient(lambda x: k@x, e)
gradient(lambda x: x@e, k)
gradient(lambda x: torch.sparse.mm(x, e), r)
gradient(lambda x: torch.sparse.mm(r, x), e)
gradient(lambda x: torch.sparse.mm(x, e, 'sum'), r)
gradient(lambda x: torch.sparse.mm(r, x, 'mean'), e)
gradient(lambda x: torch.sparse.mm(x, e, 'amax'), r)
gradient(lambda x: torch.sparse.addmm(x, r, e), e)
gradient(lambda x: torch.sparse.addmm(e, x, e), r)
gradient(lambda x: torch.addmm(e, x, e), r)
gradient(lambda x: torch.addmm(e, r, x), e)
gradient(lambda x: torch.addmm(x, r, e), e)
gradient(lambda x: torch.sparse.sampled_addmm(x, e, e), r)
gradient(lambda x: torch.sparse.sampled_addmm(r, x, e), e)
gradient(lambda x: x.sin(), r)
gradient(lambda x: x.abs(), r)
gradient(lambda x: x.relu(), r)
gradient(lambda x: x*2, r)
gradient(lambda x: x*r2, r)
gradient(lambda x: x+r2, r)
gradient(lambda x: x+e, r)
gradient(lambda x: x+r, e)
gradient(lambda x: x.sum(), r)
gradient(lambda x: x.sum(1, keepdim=True), r)
gradient(lambda x: x.t(), r)
gradient(lambda x: torch.mv(x, e[0]), r)
gradient(lambda x: torch.mv(r, x), e[0])
gradient(lambda x: r@(x@r2), e)
gradient(lambda x: x@r2, r)
gradient(lambda x: x.neg(), r)
""".strip().splitlines()


@pytest.mark.parametrize("expression", [*PRODUCTS, *GRADIENTS])
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


@pytest.mark.parametrize("name", ["sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"])
def test_large_products_are_those_of_strided_matrices(name: str) -> None:
    glasstorch.manual_seed(0)
    blocksize = (2, 3) if "bs" in name else None
    x, y = glasstorch.randn(12, 18, dtype=glasstorch.float64), glasstorch.randn(18, 7, dtype=glasstorch.float64)
    x = x * (glasstorch.rand(12, 18) < 0.3)
    sparse = x.to_sparse(layout=getattr(glasstorch, name), blocksize=blocksize)
    if name != "sparse_bsc":
        assert glasstorch.allclose(sparse @ y, x @ y)
        assert glasstorch.allclose(sparse @ y[:, 0], x @ y[:, 0])
    if name != "sparse_bsr":
        assert glasstorch.allclose(x.t() @ sparse, x.t() @ x)


def test_a_sparse_product_has_its_columns_in_order() -> None:
    glasstorch.manual_seed(1)
    x = glasstorch.randn(30, 40) * (glasstorch.rand(30, 40) < 0.2)
    y = glasstorch.randn(40, 20) * (glasstorch.rand(40, 20) < 0.2)
    made = x.to_sparse_csr() @ y.to_sparse_csr()
    glasstorch._validate_sparse_csr_tensor_args(made.crow_indices(), made.col_indices(), made.values(), made.shape)
    assert glasstorch.allclose(made.to_dense(), x @ y, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats_are_multiplied(dtype: str) -> None:
    x = glasstorch.tensor([[1.0, 0.0], [2.0, 3.0]], dtype=getattr(glasstorch, dtype))
    made = x.to_sparse_csr() @ x
    assert (made.dtype, made.tolist()) == (x.dtype, [[1.0, 0.0], [8.0, 9.0]])


def test_oblong_blocks_are_multiplied() -> None:
    """PyTorch refuses them: its library has squares only."""
    x = glasstorch.arange(1.0, 13.0).reshape(2, 6)
    assert (x.to_sparse_bsr((1, 3)) @ x.t()).tolist() == (x @ x.t()).tolist()
    assert (x.t() @ x.to_sparse_bsc((2, 3))).tolist() == (x.t() @ x).tolist()


@pytest.mark.filterwarnings("ignore:torch.triangular_solve is deprecated")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("transpose", [False, True])
def test_a_triangular_system_is_solved(dtype: str, upper: bool, transpose: bool) -> None:
    glasstorch.manual_seed(2)
    a = glasstorch.randn(5, 5, dtype=getattr(glasstorch, dtype)) + 4 * glasstorch.eye(
        5, dtype=getattr(glasstorch, dtype)
    )
    b = glasstorch.randn(5, 2, dtype=a.dtype)
    theirs = glasstorch.triangular_solve(b, a, upper, transpose).solution
    for sparse in (a.to_sparse_csr(), a.to_sparse_csc()):
        solution = glasstorch.triangular_solve(b, sparse, upper, transpose).solution
        assert solution.dtype is b.dtype
        assert glasstorch.allclose(solution, theirs, atol=1e-5)
