"""What is done with sparse tensors on meta, in PyTorch and here."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any


def _dense(t: Any) -> Any:
    return t.tensor([[0.0, 1, 0, 2], [3, 0, 0, 0], [0, 0, 4, 5], [6, 0, 0, 7]])


def _compressed(of: str, blocks: bool) -> Callable[[Any], Any]:
    def make(t: Any) -> Any:
        starts, plain = ([0, 1], [0]) if blocks else ([0, 1, 2], [0, 1])
        values = t.ones(1, 2, 2) if blocks else t.ones(2)
        make_it = getattr(t, f"sparse_{of}_tensor")
        return make_it(t.tensor(starts), t.tensor(plain), values, (2, 2), device="meta", check_invariants=False)

    return make


# name -> how a tensor on meta is made
WAYS_TO_MAKE: dict[str, Callable[[Any], Any]] = {
    **{of: _compressed(of, of.startswith("bs")) for of in ("csr", "csc", "bsr", "bsc")},
    "csr of parts on meta": lambda t: t.sparse_csr_tensor(
        t.tensor([0, 1, 2], device="meta"),
        t.tensor([0, 1], device="meta"),
        t.ones(2, device="meta"),
        (2, 2),
        check_invariants=False,
    ),
    "csr of lists": lambda t: t.sparse_csr_tensor(
        [0, 1, 2], [0, 1], [1.0, 2], (2, 2), device="meta", check_invariants=False
    ),
    "coo": lambda t: t.sparse_coo_tensor(
        t.tensor([[0, 1], [0, 1]]), t.ones(2), (2, 2), device="meta", check_invariants=False
    ),
    "coo of parts on meta": lambda t: t.sparse_coo_tensor(
        t.tensor([[0, 1], [0, 1]], device="meta"), t.ones(2, device="meta"), (2, 2), check_invariants=False
    ),
    "coo of lists": lambda t: t.sparse_coo_tensor(
        [[0, 1], [0, 1]], [1.0, 2], (2, 2), device="meta", check_invariants=False
    ),
    "coo of a size": lambda t: t.sparse_coo_tensor((2, 2), device="meta", check_invariants=False),
    "coo of vectors": lambda t: t.sparse_coo_tensor(
        t.tensor([[0, 1]]), t.ones(2, 3), (2, 3), device="meta", check_invariants=False
    ),
    "empty csr": lambda t: t.empty((2, 3), layout=t.sparse_csr, device="meta"),
    "empty coo": lambda t: t.empty((2, 3), layout=t.sparse_coo, device="meta"),
    "zeros csr": lambda t: t.zeros((2, 3), layout=t.sparse_csr, device="meta"),
    "zeros coo": lambda t: t.zeros((2, 3), layout=t.sparse_coo, device="meta"),
    "empty bsr": lambda t: t.empty((2, 4), layout=t.sparse_bsr, device="meta"),
    "csr moved": lambda t: _dense(t).to_sparse_csr().to("meta"),
    "bsr moved": lambda t: _dense(t).to_sparse_bsr((2, 2)).to("meta"),
    "coo moved": lambda t: _dense(t).to_sparse().to("meta"),
    "like a csr": lambda t: t.empty_like(_dense(t).to_sparse_csr(), device="meta"),
    "like a coo": lambda t: t.empty_like(_dense(t).to_sparse(), device="meta"),
    "zeros like a csr": lambda t: t.zeros_like(_dense(t).to_sparse_csr(), device="meta"),
    "zeros like a coo": lambda t: t.zeros_like(_dense(t).to_sparse(), device="meta"),
}

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "device and layout": lambda t, x: (x.is_meta, str(x.device), str(x.layout), x.numel(), x._nnz()),
    "dimensions": lambda t, x: (x.sparse_dim(), x.dense_dim()),
    "keys": lambda t, x: str(t._C._dispatch_keys(x)),
    "values": lambda t, x: x.values(),
    "indices": lambda t, x: x.indices(),
    "_indices": lambda t, x: (x._indices(), x._values()),
    "crow_indices": lambda t, x: x.crow_indices(),
    "ccol_indices": lambda t, x: x.ccol_indices(),
    "col_indices": lambda t, x: x.col_indices(),
    "row_indices": lambda t, x: x.row_indices(),
    "is_coalesced": lambda t, x: x.is_coalesced(),
    "clone": lambda t, x: x.clone(),
    "detach": lambda t, x: x.detach(),
    "empty_like": lambda t, x: t.empty_like(x),
    "zeros_like": lambda t, x: t.zeros_like(x),
    "ones_like": lambda t, x: t.ones_like(x),
    "added": lambda t, x: x + x,
    "doubled": lambda t, x: x * 2,
    "neg": lambda t, x: -x,
    "sin": lambda t, x: x.sin(),
    "relu": lambda t, x: x.relu(),
    "to_dense": lambda t, x: x.to_dense(),
    "to_sparse": lambda t, x: x.to_sparse(),
    "sum": lambda t, x: x.sum(),
    "another dtype": lambda t, x: (x.double(), x.to(t.float16)),
    "where it is": lambda t, x: x.to("meta") is x,
    "copy_": lambda t, x: x.copy_(x),
    "zero_": lambda t, x: x.zero_(),
    "t": lambda t, x: (x.t(), x.transpose(0, 1)),
    "requires_grad_": lambda t, x: x.requires_grad_(),
    "sparse_resize_": lambda t, x: x.sparse_resize_((4, *x.shape[1:]), x.sparse_dim(), x.dense_dim()),
    "sparse_resize_and_clear_": lambda t, x: x.sparse_resize_and_clear_((4, 4), 2, 0),
    "new_zeros": lambda t, x: (x.new_zeros(2, 2), x.new_empty((2, 2))),
    "cpu": lambda t, x: x.cpu(),
    "item": lambda t, x: x.item(),
}


def told(t: Any, way: str, operation: Callable[[Any, Any], Any]) -> str:
    """What comes out as a text: a tensor as it prints, an error by its class and the first words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(operation(t, WAYS_TO_MAKE[way](t)))
        except (RuntimeError, TypeError, IndexError) as error:
            words = str(error).splitlines()[0].split(". This could")[0].split(" This could")[0]
            return f"{type(error).__name__}: {words.rstrip('. ')}"
