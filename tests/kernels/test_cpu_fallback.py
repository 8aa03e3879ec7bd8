"""Does the fallback write back what the CPU changed, and return what the schema says?"""

from __future__ import annotations

import pytest

import glasstorch as torch
from glasstorch.dispatch.library import Library
from tests.outside import DEVICE, bare_device, evaluated

SETUP = (
    DEVICE
    + """
from torch.library import Library
a = torch.tensor([[3.0, 1.0, 2.0]]).attic()
b = a.clone()
out = torch.empty(0, device=NAME), torch.empty(0, dtype=torch.int64, device=NAME)
lib = Library("house", "DEF")
lib.define("window(Tensor(a) x) -> Tensor(a)")
lib.impl("window", lambda x: x[0], "CPU")
lib.define("count(Tensor x) -> int")
lib.impl("count", lambda x: x.numel(), "CPU")
lib.define("pair(Tensor x, Tensor[] rest, Device? device=None) -> (Tensor, Tensor[])")
lib.impl("pair", lambda x, rest, device=None: (x + 1, [one + (1 if one.is_cpu else 5) for one in rest]), "CPU")
lib.define("bump_(Tensor(a!) x, Tensor(b!)[] rest) -> ()")
lib.impl("bump_", lambda x, rest: (x.add_(1), [one.mul_(2) for one in rest])[1:0] or None, "CPU")

def bumped():
    x, rest = a.clone(), [a.clone(), a.clone()]
    torch.ops.house.bump_(x, rest)
    return x.tolist(), [one.tolist() for one in rest]

def written():
    x = a.clone()
    view, version = x[0], x._version
    same = x.neg_() is x
    return same, view.tolist(), x._version - version

def through_leaf():
    x = a.clone().requires_grad_()
    x.sort(1).values.mul(torch.tensor([1.0, 10.0, 100.0]).attic()).sum().backward()
    return x.grad.tolist()
"""
)
EXPECTED = {
    "a.sort(1)": "torch.return_types.sort(\nvalues=tensor([[1., 2., 3.]], device='attic:0'),\nindices=tensor([[1, 2, "
    "0]], device='attic:0'))",
    "torch.sort(a, 1, out=out)[1] is out[1], out[0].tolist()": "(True, [[1.0, 2.0, 3.0]])",
    "written()": "(True, [-3.0, -1.0, -2.0], 1)",
    "through_leaf()": "[[100.0, 1.0, 10.0]]",
    "torch.ops.house.count(a)": "3",
    "torch.ops.house.pair(a, [a, a])": "(tensor([[4., 2., 3.]], device='attic:0'), [tensor([[4., 2., 3.]], "
    "device='attic:0'), tensor([[4., 2., 3.]], device='attic:0')])",
    "bumped()": "([[4.0, 2.0, 3.0]], [[[6.0, 2.0, 4.0]], [[6.0, 2.0, 4.0]]])",
    "[one.tolist() for one in torch._foreach_add([a, a], 1)]": "[[[4.0, 2.0, 3.0]], [[4.0, 2.0, 3.0]]]",
    "torch.arange(3, device='attic:1')": "tensor([0, 1, 2], device='attic:1')",
    "torch.cat([a, a]).shape, a.nonzero().device": "(torch.Size([2, 3]), device(type='attic', index=0))",
    "b.index_put_((torch.tensor([0]), torch.tensor([1])), torch.tensor(7.0)).tolist()": "[[3.0, 7.0, 2.0]]",
    "torch.ops.house.window(a)": "RuntimeError: The operator house::window appears to be a view operator, but it has "
    "no implementation for the backend \"attic:0\". View operators don't support since the tensor's storage cannot be "
    "shared across devices.",
    "backend_registration.cpu_fallback(torch.ops.house.window.default, a)": "tensor([3., 1., 2.], device='attic:0')",
}


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    return evaluated({text: text for text in EXPECTED}, SETUP)


@pytest.mark.parametrize("text", EXPECTED)
def test_results_are_on_the_device_and_arguments_are_written(text: str, found: dict[str, list[str]]) -> None:
    assert found[text][0] == EXPECTED[text]


def test_a_view_that_is_copied_is_announced(found: dict[str, list[str]]) -> None:
    assert found["backend_registration.cpu_fallback(torch.ops.house.window.default, a)"][1] == (
        "The operator house::window appears to be a view operator, but it has no implementation for the backend "
        "\"attic:0\". View operators don't support falling back to run on the CPU, since the tensor's storage cannot "
        "be shared across devices."
    )


# On a device in this process, which has no other kernels -------------------------------------------------------------


def test_here_results_are_on_the_device() -> None:
    with bare_device() as name:
        x = torch.tensor([[3.0, 1.0, 2.0]]).to(name)
        assert x.device.type == name
        values, places = x.sort(1)
        assert (values.device, places.device) == (x.device, x.device)
        assert values.tolist() == [[1.0, 2.0, 3.0]]
        assert (x @ x.t()).tolist() == [[14.0]]
        assert [part.device.type for part in torch._foreach_add([x, x], 1)] == [name, name]
        assert torch.equal(x, x)
        assert torch.arange(3, device=name).tolist() == [0, 1, 2]


def test_here_arguments_are_written() -> None:
    with bare_device() as name:
        x = torch.tensor([1.0, 2.0]).to(name)
        view = x[1:]
        assert x.neg_() is x
        assert view.tolist() == [-2.0]
        out = torch.empty(0, device=name), torch.empty(0, dtype=torch.int64, device=name)
        values, places = torch.sort(x, out=out)
        assert values is out[0]
        assert places is out[1]
        assert places.tolist() == [1, 0]
        many = [x.clone(), x.clone()]
        torch._foreach_mul_(many, 2)
        assert [one.tolist() for one in many] == [[-2.0, -4.0]] * 2


def test_here_a_view_is_announced_or_refused() -> None:
    with bare_device() as name, Library("here", "DEF") as house:
        house.define("window(Tensor(a) x) -> Tensor(a)")
        house.impl("window", lambda x: x[:1], "CPU")
        x = torch.tensor([1.0, 2.0]).to(name)
        operator = torch.ops.here.window.default
        with pytest.warns(UserWarning, match="appears to be a view operator"):
            assert operator(x).tolist() == [1.0]
        with pytest.raises(RuntimeError, match="appears to be a view operator"):
            torch.utils.backend_registration.cpu_fallback(operator, x, error_on_views=True)


def test_here_a_gradient_is_computed() -> None:
    with bare_device() as name:
        x = torch.tensor([0.5, 2.0]).to(name).requires_grad_()
        (x * x).sum().backward()
        assert x.grad.device.type == name
        assert x.grad.tolist() == [1.0, 4.0]
