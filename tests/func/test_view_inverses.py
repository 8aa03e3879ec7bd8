"""Is the base that an inverse gives the one that a write through the view would leave?"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import glasstorch as torch
from glasstorch import Tensor
from glasstorch.func.functional_tensor import functional, inside, sync

View = Callable[[Tensor], Tensor]

# Views whose elements share no memory.
VIEWS: dict[str, View] = {
    "alias": lambda x: torch.ops.aten.alias(x),
    "detach": lambda x: x.detach(),
    "view": lambda x: x.view(4, 6),
    "view to one": lambda x: x.view(-1),
    "view.dtype": lambda x: x.view(torch.int32),
    "_reshape_alias": lambda x: torch.ops.aten._reshape_alias(x, [6, 4], [4, 1]),
    "select": lambda x: x.select(1, -1),
    "slice": lambda x: x[:, 1:3],
    "slice with a step": lambda x: x[:, :, ::2],
    "slice from the end": lambda x: x[-1:],
    "empty slice": lambda x: x[:, 3:1],
    "split": lambda x: x.split(2, 1)[1],
    "split, last piece": lambda x: x.split(3, 2)[1],
    "split_with_sizes": lambda x: x.split_with_sizes([1, 2, 1], 2)[1],
    "unbind": lambda x: x.unbind(1)[2],
    "transpose": lambda x: x.transpose(0, -1),
    "t": lambda x: x[0].t(),
    "permute": lambda x: x.permute(2, 0, 1),
    "permute from the end": lambda x: x.permute(-1, -3, -2),
    "unsqueeze": lambda x: x.unsqueeze(-1),
    "squeeze": lambda x: x[:1, :, :1].squeeze(),
    "squeeze.dim": lambda x: x[:1].squeeze(0),
    "squeeze.dim of another size": lambda x: x.squeeze(0),
    "squeeze.dims": lambda x: x[:1, :, :1].squeeze((0, -1)),
    "expand of nothing": lambda x: x.expand(2, 3, 4),
    "diagonal": lambda x: x.diagonal(1, 1, 2),
    "unfold": lambda x: x.unfold(2, 2, 2),
    "as_strided": lambda x: x.as_strided((2, 2), (12, 3), 2),
    "chain": lambda x: x[1].t()[1:].select(1, 2),
}
COMPLEX: dict[str, View] = {
    "view_as_real": lambda z: torch.view_as_real(z),
    "real": lambda z: z.real,
    "imag of the conjugate": lambda z: z.conj().imag,
    "conj": lambda z: z.conj(),
    "_neg_view": lambda z: torch._neg_view(z),
}


@pytest.mark.parametrize("views", [True, False], ids=["views", "copies"])
@pytest.mark.parametrize("name", [*VIEWS, *COMPLEX])
def test_it_is_what_a_write_leaves(name: str, views: bool) -> None:
    torch.manual_seed(0)
    view = VIEWS.get(name) or COMPLEX[name]
    x = torch.randn(2, 3, 4, dtype=torch.float32 if name in VIEWS else torch.complex64)
    eager, wrapper = x.clone(), functional(x.clone())
    torch._enable_functionalization(reapply_views=views)
    try:
        view(wrapper).mul_(3)
        sync(wrapper)
    finally:
        torch._disable_functionalization()
    view(eager).mul_(3)
    assert torch.equal(inside(wrapper).value, eager)
