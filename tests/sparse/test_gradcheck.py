"""Does gradcheck take functions of sparse tensors, and does it find a wrong gradient among them?"""

from __future__ import annotations

from typing import Any

import pytest

BLOCKS = {"sparse_bsr": (1, 2), "sparse_bsc": (2, 1)}
LAYOUTS = ["sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"]


@pytest.fixture
def check(torch: Any) -> Any:
    return torch.sparse.as_sparse_gradcheck(torch.autograd.gradcheck)


def leaf(torch: Any, layout: str) -> Any:
    x = torch.tensor([[1.0, 0.0], [-2.0, 3.0]], dtype=torch.float64)
    return x.to_sparse(layout=getattr(torch, layout), blocksize=BLOCKS.get(layout)).requires_grad_()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("masked", [False, True])
def test_a_conversion_is_checked(torch: Any, check: Any, layout: str, masked: bool) -> None:
    assert check(lambda x: x.to_dense(masked_grad=masked), leaf(torch, layout), masked=masked)


@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr"])
def test_a_sparse_output_is_checked(torch: Any, check: Any, layout: str) -> None:
    assert check(lambda x: x * 2, (leaf(torch, layout),), masked=True)


def test_a_product_is_checked(torch: Any, check: Any) -> None:
    y = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True)
    assert check(torch.sparse.mm, (leaf(torch, "sparse_csr"), y), masked=True)


def test_a_wrong_gradient_is_found(torch: Any, check: Any) -> None:
    class Wrong(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.to_dense()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return (grad * 3).to_sparse_csr()

    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        check(Wrong.apply, leaf(torch, "sparse_csr"), masked=True)
