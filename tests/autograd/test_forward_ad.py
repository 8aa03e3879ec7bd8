"""How does a user ask for tangents, and what are the rules of a dual level, as in PyTorch?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch

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


def _calls(torch: Any) -> dict[str, Any]:
    fw, x = torch.autograd.forward_ad, torch.ones(2)
    return {
        "exit 0": lambda: fw.exit_dual_level(level=0),
        "exit -1": lambda: fw.exit_dual_level(level=-1),
        "exit text": lambda: fw.exit_dual_level(level="a"),
        "exit number": lambda: fw.exit_dual_level(0),
        "dual at 0": lambda: fw.make_dual(x, x, level=0),
        "dual at 1": lambda: fw.make_dual(x, x, level=1),
        "dual at -1": lambda: fw.make_dual(x, x, level=-1),
        "dual at text": lambda: fw.make_dual(x, x, level="a"),
        "dual at float": lambda: fw.make_dual(x, x, level=0.0),
        "dual of None": lambda: fw.make_dual(x, None, level=0),
        "dual of a number": lambda: fw.make_dual(1.0, x, level=0),
        "unpack at 0": lambda: fw.unpack_dual(x, level=0),
        "unpack at 1": lambda: fw.unpack_dual(x, level=1),
        "unpack a dual at 1": lambda: fw.unpack_dual(fw.make_dual(x, x), level=1),
        "unpack at text": lambda: fw.unpack_dual(x, level="a"),
        "unpack a number": lambda: fw.unpack_dual(3),
        "enabled by text": lambda: fw._set_fwd_grad_enabled("a"),
        "enabled by a number": lambda: fw._set_fwd_grad_enabled(1),
    }


def outcome(call: Any) -> str:
    try:
        return str(call())
    except (AttributeError, RuntimeError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("name", _calls(glasstorch))
@pytest.mark.parametrize("inside", [False, True])
def test_misuse_is_refused_in_the_same_words(name: str, inside: bool, require: Any) -> None:
    def told(torch: Any) -> str:
        fw = torch.autograd.forward_ad
        if not inside:
            return outcome(_calls(torch)[name])
        fw.enter_dual_level()
        try:
            return outcome(_calls(torch)[name])
        finally:
            if name != "exit 0":  # which has ended it
                fw.exit_dual_level()

    assert told(glasstorch) == told(require("torch"))


@pytest.mark.parametrize("level", [False, 0.0])
def test_a_number_of_another_kind_names_no_level(torch: Any, level: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level(), pytest.raises(TypeError, match=f"must be int, not {type(level).__name__}"):
        fw.exit_dual_level(level=level)


def test_whether_tangents_are_followed_is_set_at_once_and_put_back(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw._set_fwd_grad_enabled(False):
        assert not fw._is_fwd_grad_enabled()
        with fw._set_fwd_grad_enabled(True):
            assert fw._is_fwd_grad_enabled()
        assert not fw._is_fwd_grad_enabled()
    assert fw._is_fwd_grad_enabled()
    fw._set_fwd_grad_enabled(False)
    assert not fw._is_fwd_grad_enabled()
    fw._set_fwd_grad_enabled(True)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'mode'"):
        fw._set_fwd_grad_enabled(True)(lambda: 0)()
