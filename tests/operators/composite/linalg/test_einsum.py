"""Does einsum multiply as NumPy and PyTorch do, and does it refuse what they refuse?"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.operators.composite.linalg.einsum import Equation, parse

Require = Callable[[str], Any]
SIZES = {"i": 2, "j": 3, "k": 4, "l": 1, "m": 2}

# equation, sizes of the operands, PyTorch's message
REFUSED = [
    ("ij,jk->il", [(2, 3), (3, 4)], "output subscript l does not appear in the equation for any input operand"),
    ("ij,jk->ii", [(2, 3), (3, 4)], "output subscript i appears more than once in the output"),
    ("ij,jk", [(2, 3)], "fewer operands were provided than specified in the equation"),
    ("ij", [(2, 3), (3, 4)], "more operands were provided than specified in the equation"),
    ("i.j", [(2, 3)], "found '.' for operand 0 that is not part of any ellipsis"),
    ("......", [(2, 3)], "found '.' for operand 0 for which an ellipsis was already found"),
    ("ij->...j...", [(2, 3)], "found '.' for output but an ellipsis (...) was already found"),
    ("ij->.", [(2, 3)], "found '.' for output that is not part of any ellipsis (...)"),
    ("i1", [(2, 3)], "invalid subscript given at index 1 in the equation string, subscripts must be in [a-zA-Z]"),
    ("ij->i1", [(2, 3)], "invalid subscript given at index 5 in the equation string, subscripts must be in [a-zA-Z]"),
    ("ijk", [(2, 3)], "(3) does not match the number of dimensions (2) for operand 0 and no ellipsis was given"),
    ("ijk...", [(2, 3)], "(3) is more than the number of dimensions (2) for operand 0"),
    ("ij,jk", [(2, 3), (4, 4)], "subscript j has size 4 for operand 1 which does not broadcast with previously seen"),
    ("ii", [(2, 3)], "subscript i is repeated for operand 0 but the sizes don't match, 3 != 2"),
    ("...,...", [(2, 3), (2, 4)], "has size 4 which does not broadcast with previously seen ellipsis with size 3"),
]


def equation_at_random(random: random.Random) -> tuple[str, list[tuple[int, ...]]]:
    """An equation of one to four operands, and sizes that fit; a name may stand twice, a size may be 1."""
    terms, shapes = [], []
    for _ in range(random.randint(1, 4)):
        names = random.choices("ijklm", k=random.randint(0, 3))
        terms.append("".join(names))
        sizes = {name: 1 if random.random() < 0.1 else SIZES[name] for name in names}
        shapes.append(tuple(sizes[name] for name in names))
    used = sorted({name for term in terms for name in term})
    kept = random.sample(used, random.randint(0, len(used)))
    return ",".join(terms) + ("" if random.random() < 0.2 else "->" + "".join(kept)), shapes


def test_equations_at_random_give_what_pytorch_gives(require: Require) -> None:
    torch = require("torch")
    drawn = random.Random(7)
    for _ in range(150):
        equation, shapes = equation_at_random(drawn)
        numbers = np.random.default_rng(len(equation))
        arrays = [numbers.normal(size=shape) for shape in shapes]
        ours = glasstorch.einsum(equation, *(glasstorch.from_numpy(np.array(a)) for a in arrays))
        theirs = torch.einsum(equation, *(torch.from_numpy(np.array(a)) for a in arrays))
        assert tuple(ours.shape) == tuple(theirs.shape), (equation, shapes)
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-12, 1e-12, err_msg=f"{equation} {shapes}")


@pytest.mark.parametrize(("equation", "shapes", "message"), REFUSED, ids=lambda value: str(value)[:20])
def test_an_equation_that_does_not_fit_is_refused(equation: str, shapes: Any, message: str) -> None:
    with pytest.raises((ArgumentError, ShapeError)) as refused:
        glasstorch.einsum(equation, *map(glasstorch.ones, shapes))
    assert str(refused.value).startswith("einsum(): ")
    assert message in str(refused.value)


def test_the_messages_are_pytorchs(require: Require) -> None:
    torch = require("torch")
    for equation, shapes, message in REFUSED:
        with pytest.raises(RuntimeError) as refused:
            torch.einsum(equation, *map(torch.ones, shapes))
        assert message in str(refused.value)


def test_an_equation_is_parsed_with_spaces_and_ellipses() -> None:
    assert parse(" ...i j, jk", 2) == Equation([["...", "i", "j"], ["j", "k"]], None)
    assert parse("i,i->", 2) == Equation([["i"], ["i"]], [])


def test_lists_of_numbers_name_dimensions_too() -> None:
    x = glasstorch.arange(6.0).reshape(2, 3)
    y = glasstorch.einsum(x, [0, 51], x, [30, 51], [30, 0])
    assert y.tolist() == (x @ x.t()).t().tolist()
    assert glasstorch.einsum(x, [..., 1], [1, ...]).tolist() == x.t().tolist()
    with pytest.raises(ValueError, match=r"not within the valid range \[0, 52\)"):
        glasstorch.einsum(x, [0, 52])


def test_one_operand_alone_gives_a_view_of_it(torch: Any) -> None:
    x = torch.ones(2, 3)
    for equation in ("ij->ij", "ij", "ij->ji"):
        result = torch.einsum(equation, x)
        assert result is not x
        assert result.data_ptr() == x.data_ptr()


def test_integers_of_one_operand_are_added_as_int64(torch: Any) -> None:
    for shape in ((2, 3), (1, 1)):
        x = torch.ones(shape, dtype=torch.int32)
        assert torch.einsum("ij->", x).dtype is torch.int64
        assert torch.einsum("ij,ij->", x, x).dtype is torch.int32


def test_operands_may_come_as_one_list() -> None:
    x = glasstorch.ones(2, 3)
    assert glasstorch.einsum("ij,ij->", [x, x]).item() == 6


def test_nothing_to_multiply_is_refused() -> None:
    with pytest.raises(ValueError, match="must specify the equation string and at least one operand"):
        glasstorch.einsum("ij")


def test_a_path_says_which_operands_are_multiplied_first() -> None:
    x, y, z = (glasstorch.arange(6.0).reshape(shape) for shape in ((2, 3), (3, 2), (2, 3)))
    expected = (x @ y @ z).tolist()
    for path in ([0, 1, 0, 1], [1, 2, 0, 1], [0, 2, 0, 1]):
        assert glasstorch.ops.aten.einsum("ij,jk,kl->il", [x, y, z], path=path).tolist() == expected
    with pytest.raises(ArgumentError, match="cannot contract an operand with itself"):
        glasstorch.ops.aten.einsum("ij,jk,kl->il", [x, y, z], path=[1, 1, 0, 1])
    with pytest.raises(ArgumentError, match="operand index is out of bounds"):
        glasstorch.ops.aten.einsum("ij,jk,kl->il", [x, y, z], path=[0, 3, 0, 1])
    with pytest.raises(ArgumentError, match="to have size 4 but got 2"):
        glasstorch.ops.aten.einsum("ij,jk,kl->il", [x, y, z], path=[0, 1])
