"""Is autograd switched off for good in inference mode, and for nothing else?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

OUTSIDE = "Inplace update to inference tensor outside InferenceMode is not allowed"
NOT_SAVED = "Inference tensors cannot be saved for backward"


def made_inside(torch: Any) -> Any:
    with torch.inference_mode():
        return torch.zeros(3)


# What is made inside --------------------------------------------------------------------------------------------


def test_nothing_is_recorded_and_new_tensors_are_inference_tensors(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    with torch.inference_mode():
        y = x * 2
        assert (torch.is_inference_mode_enabled(), torch.is_grad_enabled()) == (True, False)
    assert (torch.is_inference_mode_enabled(), torch.is_grad_enabled()) == (False, True)
    assert (y.is_inference(), y.requires_grad, y.grad_fn, x.is_inference()) == (True, False, None, False)


@pytest.mark.parametrize("make", ["zeros", "meta", "number", "numpy", "clone", "strided"])
def test_every_way_to_make_a_tensor_gives_one(torch: Any, make: str) -> None:
    plain = torch.ones(3)
    with torch.inference_mode():
        made = {
            "zeros": lambda: torch.zeros(3),
            "meta": lambda: torch.zeros(3, device="meta"),
            "number": lambda: torch.tensor(1.0),
            "numpy": lambda: torch.from_numpy(plain.numpy()),
            "clone": lambda: plain.clone(),
            "strided": lambda: torch.empty_strided((2, 2), (1, 2)),
        }[make]()
    assert made.is_inference()


def test_a_view_takes_after_what_it_shows(torch: Any) -> None:
    plain, inference = torch.ones(3), made_inside(torch)
    with torch.inference_mode():
        of_plain, of_inference = plain[1:], inference[1:]
        pieces = plain.split(1)
        detached = plain.detach()
    assert (of_plain.is_inference(), of_plain._base is plain) == (False, True)
    assert (of_inference.is_inference(), of_inference._is_view()) == (True, False)
    assert [(p.is_inference(), p._is_view()) for p in pieces] == [(False, True)] * 3
    assert (detached.is_inference(), detached._is_view()) == (False, False)
    outside = inference[1:]
    assert (outside.is_inference(), outside._is_view()) == (True, False)
    assert [p.is_inference() for p in inference.unbind()] == [True] * 3


def test_a_parameter_may_be_made_inside(torch: Any) -> None:
    with torch.inference_mode():
        leaf = torch.ones(2, requires_grad=True)
    assert (leaf.is_inference(), leaf.requires_grad) == (True, True)
    (leaf + 2).sum().backward()
    assert leaf.grad.tolist() == [1.0, 1.0]


# In-place -------------------------------------------------------------------------------------------------------


def test_inside_everything_may_be_changed_in_place(torch: Any) -> None:
    inference, plain, leaf = made_inside(torch), torch.ones(3), torch.ones(3, requires_grad=True)
    view = leaf[1:]
    with torch.inference_mode():
        inference.add_(1)
        plain[1:].add_(1)
        leaf.add_(1)
        view.mul_(torch.tensor(2.0))
    assert (inference.tolist(), plain.tolist(), leaf.tolist()) == ([1.0] * 3, [1.0, 2.0, 2.0], [2.0, 4.0, 4.0])
    assert (plain._version, leaf._version) == (1, 2)


def test_outside_an_inference_tensor_may_not_be_changed(torch: Any) -> None:
    inference = made_inside(torch)
    for change in (
        lambda: inference.add_(1),
        lambda: inference[1:].add_(1),
        lambda: inference.copy_(torch.ones(3)),
        lambda: inference.__setitem__(0, 5.0),
        lambda: torch.add(torch.ones(3), 1, out=inference),
        lambda: torch.no_grad()(lambda: inference.add_(1))(),
    ):
        with pytest.raises(RuntimeError, match=OUTSIDE):
            change()


def test_an_inference_tensor_counts_no_versions(torch: Any) -> None:
    inference = made_inside(torch)
    with pytest.raises(RuntimeError, match=r"Inference tensors do not track version counter\."):
        inference._version  # noqa: B018


def test_a_view_made_inside_is_not_changed_where_that_is_recorded(torch: Any) -> None:
    leaf, plain = torch.ones(3, requires_grad=True), torch.ones(3)
    with torch.inference_mode():
        view, of_plain, pieces = leaf[1:], plain[1:], leaf.split(1)
    told = (
        "A view was created in inference mode and is being modified inplace in normal mode.*inside the inference_mode"
    )
    for change in (lambda: view.mul_(2), lambda: of_plain.mul_(leaf[1:]), lambda: pieces[0].mul_(2)):
        with pytest.raises(RuntimeError, match=told):
            change()
    assert of_plain.mul_(2).tolist() == [2.0, 2.0]


# Meeting autograd -----------------------------------------------------------------------------------------------


def test_an_inference_tensor_is_not_saved_for_backward(torch: Any) -> None:
    x, inference = torch.ones(3, requires_grad=True), made_inside(torch)
    with pytest.raises(RuntimeError, match=NOT_SAVED):
        x * inference
    assert (x + inference).requires_grad  # which saves nothing
    (x * inference.clone()).sum().backward()
    assert x.grad.tolist() == [0.0] * 3


def test_an_inference_tensor_is_not_made_to_require_grad(torch: Any) -> None:
    inference = made_inside(torch)
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor outside InferenceMode"):
        inference.requires_grad_()
    assert not inference.requires_grad_(False).requires_grad
    with torch.inference_mode():
        assert inference.requires_grad_().requires_grad


# What is detached from an inference tensor ----------------------------------------------------------------------


def detached(torch: Any, way: str, inference: Any) -> Any:
    return {
        "detach": lambda: inference.detach(),
        "data": lambda: inference.data,
        "parameter": lambda: torch.nn.Parameter(inference, requires_grad=False),
    }[way]()


@pytest.mark.parametrize("way", ["detach", "data", "parameter"])
def test_outside_it_counts_versions_of_its_own_and_may_be_written_to(torch: Any, way: str) -> None:
    inference = made_inside(torch)
    first, second = detached(torch, way, inference), detached(torch, way, inference)
    of_first = first.detach()
    first.add_(1)
    first.copy_(torch.ones(3))
    assert [t._version for t in (first, second, of_first)] == [2, 0, 0]
    assert [t.is_inference() for t in (first, second, of_first)] == [True, True, True]
    assert inference.tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match=OUTSIDE):
        inference.add_(1)
    with pytest.raises(RuntimeError, match=OUTSIDE):
        first[1:].add_(1)


@pytest.mark.parametrize("way", ["detach", "data", "parameter"])
def test_inside_it_counts_none(torch: Any, way: str) -> None:
    with torch.inference_mode():
        found = detached(torch, way, torch.zeros(3))
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        _ = found._version
    with pytest.raises(RuntimeError, match=OUTSIDE):
        found.add_(1)


@pytest.mark.parametrize("name", ["int32", "float32", "int16"])
def test_what_reads_the_bytes_as_a_dtype_is_a_new_tensor_of_the_mode(torch: Any, name: str) -> None:
    dtype = getattr(torch, name)
    inference, plain = made_inside(torch), torch.zeros(3)
    outside = inference.view(dtype)
    with torch.inference_mode():
        inside = [inference.view(dtype), plain.view(dtype)]
    assert (outside.is_inference(), outside._is_view(), outside._version) == (False, False, 0)
    assert [(t.is_inference(), t._is_view()) for t in inside] == [(True, False)] * 2
    outside.add_(1)
    assert (outside._version, outside[1:]._is_view()) == (1, True)
    with pytest.raises(RuntimeError, match=OUTSIDE):
        inside[1].add_(1)
    assert (plain._version, inference.view(dtype)[0].item()) == (0, 1)


def test_a_copy_from_a_tensor_that_requires_grad_is_recorded(torch: Any) -> None:
    w = torch.ones(3, requires_grad=True)
    found = made_inside(torch).detach()
    found.copy_(w)
    assert (found.is_inference(), found.requires_grad, found.is_leaf, found._version) == (True, True, False, 1)
    assert found.grad_fn.name() == "torch::autograd::CopyBackwards"
    (found + torch.zeros(3)).sum().backward()
    assert w.grad.tolist() == [1, 1, 1]


@pytest.mark.parametrize("recording", ["enable_grad", "no_grad", "inference_mode"])
def test_a_copy_into_an_inference_tensor_is_refused_outside_the_mode(torch: Any, recording: str) -> None:
    inference, w = made_inside(torch), torch.ones(3, requires_grad=True)
    with getattr(torch, recording)():
        if recording == "inference_mode":
            assert inference.copy_(w).tolist() == [1, 1, 1]
        else:
            with pytest.raises(RuntimeError, match=OUTSIDE):
                inference.copy_(w)
    assert not inference.requires_grad


def test_it_is_counted_inside_the_mode_where_an_ordinary_tensor_takes_part(torch: Any) -> None:
    found, ordinary = made_inside(torch).detach(), torch.ones(3)
    with torch.inference_mode():
        found.add_(1)
        assert found._version == 0
        found.add_(ordinary)
    assert found._version == 1


def test_examples_of_it_may_be_written_to(torch: Any) -> None:
    vmap = torch.func.vmap
    inference = made_inside(torch)
    assert vmap(lambda x: x.add_(1))(inference.detach()).tolist() == [1, 1, 1]
    assert vmap(lambda x: x.detach().add_(1))(inference).tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match=OUTSIDE):
        vmap(lambda x: x.add_(1))(inference)


def test_a_count_goes_on_where_the_data_become_an_inference_tensors(torch: Any) -> None:
    x = torch.ones(3)
    x.data = made_inside(torch)
    x.add_(1)
    assert (x.is_inference(), x._version) == (True, 1)


# The guard ------------------------------------------------------------------------------------------------------


def test_inside_it_can_be_ordinary_again(torch: Any) -> None:
    x, inference = torch.ones(1, requires_grad=True), made_inside(torch)
    with torch.inference_mode():
        with torch.inference_mode(False):
            y = x * 2
            assert (torch.is_inference_mode_enabled(), torch.is_grad_enabled()) == (False, True)
            with pytest.raises(RuntimeError, match=OUTSIDE):
                inference.exp_()
        with torch.enable_grad():
            z = x * 2
    assert (y.requires_grad, y.is_inference(), z.requires_grad, z.is_inference()) == (True, False, False, True)


def test_a_block_that_raises_puts_the_modes_back(torch: Any) -> None:
    with pytest.raises(ValueError), torch.inference_mode():
        raise ValueError
    assert (torch.ones(1, requires_grad=True) * 1).requires_grad
    assert not torch.ones(1).is_inference()


def test_functions_and_generators_can_be_decorated(torch: Any) -> None:
    def made() -> bool:
        return bool(torch.ones(1).is_inference())

    def twice() -> Iterator[bool]:
        yield made()
        yield made()

    assert [torch.inference_mode()(made)(), torch.inference_mode(made)(), torch.inference_mode(False)(made)()] == [
        True, True, False,
    ]  # fmt: skip
    steps = torch.inference_mode()(twice)()
    assert [next(steps), made(), next(steps)] == [True, False, True]


def test_an_inference_tensor_may_be_changed_by_an_ordinary_one_inside_the_mode(torch: Any) -> None:
    y = torch.full((2,), 3.0)
    with torch.inference_mode():
        x = torch.ones(2).mul_(y)
    assert x.is_inference()
    assert x.tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        x.mul_(y)


def test_a_view_made_inside_requires_grad_as_its_base_does_and_has_no_node(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    with torch.inference_mode():
        view, of_leaf = y[1:], x[1:]
        again = view.view(2, 1)
    assert not view.is_inference()
    assert [t.requires_grad for t in (view, of_leaf, again)] == [True, True, True]
    assert (view * 3).requires_grad
    assert view.grad_fn is None
    (again * 3).sum().backward()
    assert x.grad is None


def test_a_view_made_after_the_mode_is_recorded(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    with torch.inference_mode():
        y.view(3)
    view = y[1:]
    assert view.grad_fn.name() == "SliceBackward0"
    view.sum().backward()
    assert x.grad.tolist() == [0, 2, 2]


def test_a_tensor_made_inside_may_be_used_where_it_is_not_saved(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    with torch.inference_mode():
        constant = torch.ones(3)
    (x + constant).sum().backward()
    assert x.grad.tolist() == [1, 1, 1]
    assert not constant.clone().is_inference()
    assert constant.view(-1).is_inference()
    assert not constant.to(torch.float64).is_inference()
    assert torch.nn.Parameter(constant, requires_grad=False).is_inference()


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")  # PyTorch's own use of it
def test_no_tangents_are_followed_inside(torch: Any) -> None:
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(2), torch.ones(2))
        with torch.inference_mode():
            assert forward_ad.unpack_dual(dual * 2).tangent is None
