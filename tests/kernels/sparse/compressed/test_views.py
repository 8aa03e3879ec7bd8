"""Are dimensions of tensors of the compressed layouts swapped and cut as in PyTorch, and what is refused?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.kernels.sparse.expressions import said

VIEWS = r"""
r.transpose(0, 1)
k.transpose(0, 1).layout
o.t()
p.transpose(1, 0)
m.transpose(1, 2)
m.transpose(0, 1)
r.transpose(0, 0).layout
m.t()
r.mT
r.select(0, 0)
r.select(1, 1)
k.select(0, 1)
o.select(0, 1)
p.select(1, 1)
m.select(0, 1)
m[0]
m[0, 1]
m.select(1, 1)
o.to_dense().to_sparse_bsr((1, 2)).select(1, 1)
r[5]
r[0, 0]
r[1, 1]
r[0, 1]
k[1, 1]
o[1, 1]
m[0, 1, 1]
r[-1]
r[None]
r[0, 0].layout
r.expand(2, 2)
r.unsqueeze(0)
r.squeeze()
r.permute(1, 0)
y.select(2, 1)
y.transpose(0, 1)
torch.ones(2, 2, 2, 3).to_sparse_csr(dense_dim=2).transpose(2, 3)
torch.ones(2, 3, 2, 2).to_sparse_csr().transpose(0, 1)
torch.arange(12.0).reshape(2, 6).to_sparse_bsr((1, 3)).t()
y.transpose(1, 2)
r.t_()
r.select(0, 3)
torch.select_copy(r, 0, 1)
""".strip().splitlines()


@pytest.mark.parametrize("expression", VIEWS)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


@pytest.mark.parametrize("layout", ["sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"])
@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.chunk(2),
        lambda x: x.narrow(0, 0, 1),
        lambda x: x.diagonal(),
        lambda x: x.unsqueeze(0),
        lambda x: x.view(4),
        lambda x: x.permute(1, 0),
        lambda x: x.__setitem__(0, 1),
    ],
    ids=["chunk", "narrow", "diagonal", "unsqueeze", "view", "permute", "an assignment"],
)
def test_a_view_and_an_assignment_are_refused_in_pytorchs_words(call: Any, layout: str, require: Any) -> None:
    told = []
    for library in (require("torch"), glasstorch):
        x = library.eye(2).to_sparse(
            layout=getattr(library, layout), **({"blocksize": (1, 1)} if "bs" in layout else {})
        )
        with pytest.raises((RuntimeError, TypeError)) as refused:
            call(x)
        told.append((refused.type.__name__, str(refused.value).split(". This could")[0].splitlines()[0].rstrip(".")))
    assert told[1][1] == told[0][1]
    assert issubclass(
        refused.type, {"TypeError": TypeError, "NotImplementedError": NotImplementedError}.get(told[0][0], RuntimeError)
    )


def test_the_rows_of_a_matrix_can_be_iterated_over(torch: Any) -> None:
    rows = [row.to_dense().tolist() for row in torch.eye(2).to_sparse_csr()]
    assert rows == [[1.0, 0.0], [0.0, 1.0]]
    assert [one.to_dense().tolist() for one in (torch.eye(2) * 3).to_sparse_csc().unbind(1)] == [[3.0, 0.0], [0.0, 3.0]]


@pytest.mark.parametrize("layout", ["sparse_csc", "sparse_bsc"])
def test_a_tensor_that_compresses_columns_is_added_to_itself_alone(torch: Any, layout: str) -> None:
    x = torch.eye(2).to_sparse(layout=getattr(torch, layout), **({"blocksize": (1, 1)} if "bs" in layout else {}))
    assert (x + x).to_dense().tolist() == [[2.0, 0.0], [0.0, 2.0]]
    with pytest.raises(RuntimeError, match="crow_indices expected sparse row compressed tensor layout but got Sparse"):
        x + x.clone()
