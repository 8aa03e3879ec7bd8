"""Do tangents travel with a computation as PyTorch's do: through views, in-place operators, and with the graph?"""

from __future__ import annotations

import math
from typing import Any

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")  # PyTorch's own use of it


def tangent(torch: Any, tensor: Any) -> Any:
    return torch.autograd.forward_ad.unpack_dual(tensor).tangent


def dual(torch: Any, values: Any, along: Any) -> Any:
    return torch.autograd.forward_ad.make_dual(
        torch.tensor(values, dtype=torch.float64), torch.tensor(along, dtype=torch.float64)
    )


@pytest.fixture(autouse=True)
def level(torch: Any) -> Any:
    with torch.autograd.forward_ad.dual_level():
        yield


def test_the_product_rule(torch: Any) -> None:
    x, y = dual(torch, [2.0, 3.0], [1.0, 0.0]), dual(torch, [5.0, 7.0], [0.0, 1.0])
    assert tangent(torch, x * y).tolist() == [5.0, 3.0]
    assert tangent(torch, x * 4).tolist() == [4.0, 0.0]
    assert tangent(torch, x.detach() * x).tolist() == [2.0, 0.0]


def test_a_detached_tensor_has_no_tangent(torch: Any) -> None:
    x = dual(torch, [2.0], [1.0])
    assert tangent(torch, x.detach()) is None
    assert tangent(torch, x.data) is None


def test_a_result_of_integers_has_none(torch: Any) -> None:
    x = dual(torch, [2.0, 1.0], [1.0, 1.0])
    assert tangent(torch, x.argmax()) is None
    assert tangent(torch, x > 1) is None
    values, indices = x.sort()
    assert tangent(torch, values).tolist() == [1.0, 1.0]
    assert tangent(torch, indices) is None


def test_a_view_has_a_view_of_the_tangent(torch: Any) -> None:
    x = dual(torch, [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]])
    row = x[1]
    assert tangent(torch, row).tolist() == [7.0, 8.0]
    tangent(torch, row).zero_()
    assert tangent(torch, x).tolist() == [[5.0, 6.0], [0.0, 0.0]]


def test_a_change_in_place_changes_the_tangent(torch: Any) -> None:
    x = dual(torch, [2.0, 3.0], [1.0, 1.0])
    y = x.sin()
    y.copy_(x)
    y.mul_(x)
    assert tangent(torch, y).tolist() == [4.0, 6.0]
    y.zero_()
    assert tangent(torch, y).tolist() == [0.0, 0.0]


def test_what_is_written_into_a_view_shows_in_its_base(torch: Any) -> None:
    base = torch.zeros(2, 2, dtype=torch.float64)
    base[0].copy_(dual(torch, [1.0, 2.0], [3.0, 4.0]))
    assert tangent(torch, base).tolist() == [[3.0, 4.0], [0.0, 0.0]]
    assert tangent(torch, base[0]).tolist() == [3.0, 4.0]


def test_out_is_refused(torch: Any) -> None:
    x = dual(torch, [1.0], [1.0])
    with pytest.raises(NotImplementedError, match="forward AD with sin_out that does not support it because it is an"):
        torch.sin(x, out=torch.empty(1, dtype=torch.float64))


def test_tangents_are_differentiated_backward(torch: Any) -> None:
    x = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    d = torch.autograd.forward_ad.make_dual(x, torch.ones_like(x))
    along = tangent(torch, d**3)  # 3 x²
    assert along.tolist() == [12.0]
    (second,) = torch.autograd.grad(along, x)
    assert second.tolist() == [12.0]  # 6 x


def test_gradients_have_tangents(torch: Any) -> None:
    x = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    d = torch.autograd.forward_ad.make_dual(x, torch.ones_like(x))
    (gradient,) = torch.autograd.grad(d**3, d, create_graph=True)
    assert gradient.tolist() == [12.0]
    assert tangent(torch, gradient).tolist() == [12.0]


def test_without_recording_there_are_tangents_all_the_same(torch: Any) -> None:
    x = dual(torch, [2.0], [1.0])
    with torch.no_grad():
        y = x * x
    assert tangent(torch, y).tolist() == [4.0]
    assert not y.requires_grad


def test_a_complex_tensor(torch: Any) -> None:
    x = torch.autograd.forward_ad.make_dual(torch.tensor([1 + 2j]), torch.tensor([1j]))
    assert tangent(torch, x * x).tolist() == [(-4 + 2j)]
    assert tangent(torch, x.abs()).tolist() == pytest.approx([2 / 5**0.5])
    assert tangent(torch, x.real).tolist() == [0.0]
    assert tangent(torch, torch.view_as_real(x)).tolist() == [[0.0, 1.0]]


def test_an_operator_without_a_rule_is_named(torch: Any) -> None:
    x = dual(torch, [[1.0, 2.0]], [[1.0, 1.0]])
    with pytest.raises(NotImplementedError, match="Trying to use forward AD with _cdist_forward that does not support"):
        torch.cdist(x, x, p=1.5)


def one_sided(torch: Any, name: str, left: Any, right: Any) -> list[list[float]]:
    """The tangents of an operator of two tensors, of which only the first, and then only the second, has one."""
    function = getattr(torch, name)
    x, y = (torch.tensor(one, dtype=torch.float64) for one in (left, right))
    return [
        [round(number, 6) for number in tangent(torch, result).tolist()]
        for result in (function(dual(torch, left, [1.0] * len(left)), y), function(x, dual(torch, right, [1.0])))
    ]


def test_an_argument_without_a_tangent_adds_nothing_even_where_its_factor_is_infinite(torch: Any) -> None:
    infinite = math.inf
    assert one_sided(torch, "mul", [infinite, 2.0], [3.0]) == [[3.0, 3.0], [infinite, 2.0]]
    assert one_sided(torch, "mul", [4.0, 2.0], [infinite]) == [[infinite, infinite], [4.0, 2.0]]
    assert one_sided(torch, "div", [1.0, 2.0], [0.0])[0] == [infinite, infinite]
    assert one_sided(torch, "pow", [-2.0, -1.0, 0.0], [2.0])[0] == [-4.0, -2.0, 0.0]
    assert one_sided(torch, "pow", [0.0, 2.0], [-1.0]) == [[-infinite, -0.25], [-infinite, 0.346574]]
    assert one_sided(torch, "hypot", [infinite, 3.0], [4.0])[1] == [0.0, 0.8]


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_a_tangent_that_is_alone_is_expanded_to_the_result_and_has_its_dtype(torch: Any, name: str) -> None:
    x = torch.autograd.forward_ad.make_dual(torch.ones(3), torch.full((3,), 2.0))
    y = torch.ones(2, 3, dtype=torch.float64)
    for result, sign in (
        (getattr(torch, name)(x, y), 1),
        (getattr(torch, name)(y, x), {"sub": -1, "div": -1}.get(name, 1)),
    ):
        found = tangent(torch, result)
        assert (found.dtype, tuple(found.shape), found.stride()) == (torch.float64, (2, 3), (3, 1))
        assert found.tolist() == [[2.0 * sign] * 3] * 2
    tangent(torch, x + y).zero_()
    assert tangent(torch, x).tolist() == [2.0] * 3


def test_a_tangent_is_stored_as_its_tensor_is(torch: Any) -> None:
    base = torch.autograd.forward_ad.make_dual(torch.tensor([1 + 2j, 3j]), torch.tensor([1 + 1j, 2j]))
    found = tangent(torch, base**2)
    assert not found.is_conj()
    torch.testing.assert_close(torch.view_as_real(found)[1], torch.tensor([-12.0, 0.0]))
    mirrored = torch.autograd.forward_ad.make_dual(torch.tensor([1 + 2j]).conj(), torch.tensor([3 + 4j]))
    assert tangent(torch, mirrored).is_conj()
    assert tangent(torch, mirrored).tolist() == [3 + 4j]
    assert tangent(torch, mirrored.conj()).tolist() == [3 - 4j]
