"""Are backward passes right after writes to what was saved, where such writes are allowed?"""

from __future__ import annotations

from typing import Any

import pytest


def allowed(torch: Any) -> Any:
    return torch.autograd.graph.allow_mutation_on_saved_tensors()


def test_a_saved_tensor_is_copied_when_it_is_written_to(torch: Any) -> None:
    with allowed(torch) as context:
        x = torch.ones(2, 3, requires_grad=True)
        y = x.clone()
        out = (y**2).sum()
        assert len(context.cloned) == 0
        y.sin_()
        assert len(context.cloned) == 1
        out.backward()
        assert len(context.cloned) == 0, "the node has let go of it"
    assert x.grad.tolist() == [[2, 2, 2], [2, 2, 2]]


def test_without_the_block_the_write_is_an_error(torch: Any) -> None:
    y = torch.ones(2, requires_grad=True).clone()
    out = (y**2).sum()
    with allowed(torch):
        y.sin_()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            out.backward()


def test_writes_of_all_kinds_are_seen(torch: Any) -> None:
    with allowed(torch):
        x = torch.full((4,), 3.0, requires_grad=True)
        y = x * 1
        first, exponential = y * y, y.exp()
        y.view(2, 2).mul_(5)  # through a view
        second = y * y
        torch.add(torch.ones(4), 1, out=y.detach())  # as out=
        third = y * y
        torch._foreach_mul_([y.detach()], 2.0)  # in a list
        exponential.add_(1)
        (first.sum() + second.sum() + third.sum()).backward()
    assert x.grad.tolist() == [6 + 150 + 20] * 4


def test_a_result_that_a_node_saved_may_be_written_to(torch: Any) -> None:
    with allowed(torch):
        x = torch.ones(2, requires_grad=True)
        y = x.exp()
        y.add_(1)
        z = y * y
        y.mul_(3)
        z.sum().backward(retain_graph=True)
        found = x.grad.clone()
        x.grad = None
        z.sum().backward()
        assert torch.equal(x.grad, found)
        e = torch.ones(2).exp()
        assert torch.allclose(found, 2 * (e + 1) * e)


def test_a_tensor_is_copied_once_for_all_nodes(torch: Any) -> None:
    with allowed(torch) as context:
        y = torch.ones(2, requires_grad=True).clone()
        outs = [y * 2 for _ in range(3)] + [y**2, y**3]
        y.sin_()
        y.cos_()
        assert len(context.cloned) == 1
        assert len(outs) == 5


def test_a_graph_ends_with_its_block(torch: Any) -> None:
    with allowed(torch) as context:
        out = (torch.ones(2, requires_grad=True).clone() ** 2).sum()
        assert len(context.sid_to_tid) == 1
    assert len(context.sid_to_tid) == len(context.original) == 0
    message = "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was"
    with pytest.raises(AssertionError, match=message):
        out.backward()
    with allowed(torch), pytest.raises(AssertionError, match=message):
        out.backward()


def test_blocks_do_not_nest(torch: Any) -> None:
    with allowed(torch), pytest.raises(RuntimeError, match="contexts cannot be nested"), allowed(torch):
        pass
    with allowed(torch), pytest.raises(RuntimeError, match=r"^no hooks$"):
        torch.autograd.graph.disable_saved_tensors_hooks("no hooks").__enter__()


def test_a_write_to_a_part_of_what_was_saved_is_seen() -> None:
    import glasstorch  # PyTorch knows a storage by the address of a tensor's first element, and misses this write

    with allowed(glasstorch):
        x = glasstorch.ones(3, requires_grad=True)
        y = x.clone()
        out = y * y
        with glasstorch.no_grad():
            y[1:].mul_(5)
        out.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2, 2, 2]
