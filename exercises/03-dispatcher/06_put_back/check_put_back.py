"""Does each update reach the base, through all of its views and in the right order?"""

from typing import Any

import glasstorch as torch
from glasstorch import Tensor
from glasstorch.dispatch.operator import registry
from glasstorch.func.functional_tensor import View
from glasstorch.func.view_inverses import Views, inverse_of
from workbook.exercises.asking import Ask, expect

DEFAULTS = {"slice.Tensor": (0, None, None, 1)}


def step(name: str, *rest: Any) -> View:
    """A view operator with its arguments."""
    operator = registry.find(f"aten::{name}")
    rest = rest + DEFAULTS.get(name, ())[len(rest) :]
    return View(operator, rest, None, inverse_of(operator), Views(True))


def base() -> Tensor:
    return torch.arange(12.0).view(3, 4)


def after(ask: Ask, updates: list[tuple[Tensor, tuple[View, ...]]]) -> Any:
    value = ask("worked_in", base(), updates).value
    return value.tolist() if isinstance(value, Tensor) else value


def written(*writes: Any) -> Any:
    """The base after real writes, each `(path of functions, new values)`."""
    x = base()
    for path, values in writes:
        view = x
        for look in path:
            view = look(view)
        view.copy_(values)
    return x.tolist()


def test_nothing(ask: Ask) -> None:
    """the value of a base without updates"""
    expect(after(ask, []), base().tolist(), because="without updates the base keeps its value")


def test_the_base(ask: Ask) -> None:
    """the value after an update of the base itself, which has no views"""
    new = torch.ones(3, 4)
    expect(after(ask, [(new, ())]), new.tolist(), because="its path is empty, so the update is the new value")


def test_three_views(ask: Ask) -> None:
    """the value after an update through several views, one of which is a transpose"""
    piece = torch.tensor([50.0, 60])
    path = (step("t"), step("slice.Tensor", 0, 1), step("select.int", 0, 0))
    path = (*path, step("slice.Tensor", 0, 1))
    wanted = written(([lambda x: x.t(), lambda x: x[1:], lambda x: x[0], lambda x: x[1:]], piece))
    because = "put_back needs the tensor before the view, which the views before it make from the base"
    expect(after(ask, [(piece, path)]), wanted, because=because)


def test_two_updates(ask: Ask) -> None:
    """the value after two updates that share one element"""
    row, column = torch.full((4,), 7.0), torch.full((3,), 9.0)
    by_row, by_column = (step("select.int", 0, 1),), (step("select.int", 1, 2),)
    for updates, words in (
        ([(row, by_row), (column, by_column)], "the row first"),
        ([(column, by_column), (row, by_row)], "the column first"),
    ):
        wanted = written(*[([_look(path)], values) for values, path in updates])
        because = "the later update decides the shared element, and each keeps its other elements"
        expect(
            after(ask, updates), wanted, asked=f"the base after writes to a row and a column, {words}", because=because
        )


def _look(path: tuple[View, ...]) -> Any:
    dim, index = path[0].rest
    return lambda x: x.select(dim, index)


def test_the_base_is_not_written_to(ask: Ask) -> None:
    """the argument, unchanged by the call"""
    value = base()
    ask("worked_in", value, [(torch.zeros(4), (step("select.int", 0, 0),))])
    expect(value.tolist(), base().tolist(), asked="the base after the call", because="no tensor may be written to")
