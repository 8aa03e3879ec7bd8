"""How does a user ask for tangents, and what are the rules of a dual level, as in PyTorch?"""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")  # PyTorch's own use of it


def test_a_dual_tensor_is_taken_apart(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    x, t = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    with fw.dual_level() as level:
        assert level == 0
        dual = fw.make_dual(x, t)
        primal, tangent = fw.unpack_dual(dual)
        assert primal.tolist() == [1.0, 2.0]
        assert tangent is t
        assert primal.data_ptr() == dual.data_ptr() == x.data_ptr()
        assert fw.unpack_dual(x).tangent is None
        assert type(fw.unpack_dual(dual)).__name__ == "UnpackedDualTensor"


def test_tangents_end_with_their_level(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(torch.ones(2), torch.ones(2))
        assert fw.unpack_dual(dual).tangent is not None
    assert fw.unpack_dual(dual).tangent is None
    with fw.dual_level():
        assert fw.unpack_dual(dual).tangent is None


def test_a_tangent_is_copied_where_its_strides_differ(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        tangent = torch.arange(6.0).view(3, 2).t()
        dual = fw.make_dual(torch.zeros(2, 3), tangent)
        kept = fw.unpack_dual(dual).tangent
        assert kept.stride() == (3, 1)
        assert kept.tolist() == tangent.tolist()
        assert kept.data_ptr() != tangent.data_ptr()


def test_the_levels_of_a_tensor_do_not_nest(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported at the moment"):
            fw.enter_dual_level()
        with pytest.raises(RuntimeError, match="level that was not the last one that was created"):
            fw.exit_dual_level(level=3)
    with pytest.raises(RuntimeError, match="Dual level must be a positive number"):
        fw.exit_dual_level()


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda t: (t.ones(2), t.ones(3)), RuntimeError, "different size than that of the original Tensor"),
        (lambda t: (t.ones(2, dtype=t.int64), t.ones(2)), ValueError, "Expected primal to be floating point"),
        (lambda t: (t.ones(2), t.ones(2, dtype=t.int64)), ValueError, "Expected tangent to be floating point"),
    ],
)
def test_a_tangent_that_does_not_fit_is_refused(torch: Any, make: Any, error: Any, words: str) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level(), pytest.raises(error, match=words):
        fw.make_dual(*make(torch))


def test_a_tensor_has_one_tangent(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(torch.ones(2), torch.ones(2))
        with pytest.raises(RuntimeError, match="already has a forward gradient at the same level 0"):
            fw.make_dual(dual, torch.ones(2))
        with pytest.raises(RuntimeError, match="Setting a forward grad that itself has a forward gradient"):
            fw.make_dual(torch.ones(2), dual)


def test_outside_of_a_level_nothing_is_dual(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="no level exists, make sure to enter_dual_level"):
        fw.make_dual(x, x)
    primal, tangent = fw.unpack_dual(x)
    assert primal is x
    assert tangent is None


def test_a_level_can_be_entered_by_hand(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    fw.enter_dual_level()
    try:
        dual = fw.make_dual(torch.tensor([3.0]), torch.tensor([1.0]))
        assert fw.unpack_dual(dual * dual).tangent.tolist() == [6.0]
    finally:
        fw.exit_dual_level()


@pytest.mark.parametrize("requires_grad", [False, True])
def test_the_value_of_a_dual_tensor_can_have_another_tangent(torch: Any, requires_grad: bool) -> None:
    forward_ad = torch.autograd.forward_ad
    x = torch.tensor([1.0, 2.0], requires_grad=requires_grad)
    with forward_ad.dual_level():
        square = forward_ad.make_dual(x, torch.ones(2)) ** 2
        value, tangent = forward_ad.unpack_dual(square)
        assert forward_ad.unpack_dual(value).tangent is None
        assert forward_ad.unpack_dual(value[1:]).tangent is None
        other = forward_ad.make_dual(value, tangent * 3)
        assert forward_ad.unpack_dual(other).tangent.tolist() == [6, 12]
        assert forward_ad.unpack_dual(square[1:]).tangent.tolist() == [4]


def test_a_dual_tensor_prints_its_tangent(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(torch.arange(2.0), torch.ones(2))
        assert repr(dual) == "tensor([0., 1.], tangent=tensor([1., 1.]))"
        assert repr(dual[1]) == "tensor(1., tangent=1.0)"
        assert repr(fw.make_dual(dual.detach().requires_grad_() * 2, torch.ones(2))) == (
            "tensor([0., 2.], grad_fn=<ViewBackward0>, tangent=tensor([1., 1.]))"
        )
        wide = fw.make_dual(torch.ones(2, 12), torch.ones(2, 12))
        assert repr(wide).splitlines()[-2:] == [
            "       tangent=tensor([[1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.],",
            "        [1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.]]))",
        ]
    assert repr(dual) == "tensor([0., 1.])"
