"""Are the results on the device, are arguments written to, and are the right tensors returned?"""

import warnings
from typing import Any

from glasstorch.core.private_use import registered
from glasstorch.dispatch.operator import registry
from workbook.book.example_programs import example
from workbook.exercises.asking import Ask, Raises, expect


def outside_device() -> Any:
    """The program with the device, which can be loaded once in a process."""
    brought = getattr(registered.module, "program", None)
    if brought is None:
        brought = example("outside_device")
        registered.module.program = brought
    return brought


torch = outside_device().torch


def there(numbers: Any) -> Any:
    """A tensor on the device of examples/outside_device.py."""
    return torch.tensor(numbers).attic()


def came_of(ask: Ask, name: str, *args: Any, **named: Any) -> Any:
    """The result of the function for a call of an operator."""
    operator = registry.find(name)
    return ask("computed_on_cpu", operator, operator.bind(args, named), False).value


def seen(value: Any) -> Any:
    """The device and the elements of a tensor, or of each tensor of a list."""
    if isinstance(value, list | tuple):
        return [seen(one) for one in value]
    return (value.device.type, value.tolist()) if isinstance(value, torch.Tensor) else value


def test_a_result(ask: Ask) -> None:
    """the device and the elements of a result"""
    x = there([3.0, 1.0, 2.0])
    for asked, came, wanted in (
        ("the result of abs", came_of(ask, "aten::abs", there([-1.0, 2.0])), ("attic", [1.0, 2.0])),
        ("the result of cat for two tensors", came_of(ask, "aten::cat", [x, x], 0), ("attic", [3.0, 1.0, 2.0] * 2)),
        ("the result of arange with device=attic", came_of(ask, "aten::arange", 3, device=torch.device("attic")),
         ("attic", [0, 1, 2])),
        ("the result of equal", came_of(ask, "aten::equal", x, x.clone()), True),
    ):  # fmt: skip
        expect(seen(came), wanted, asked=asked, because="results belong on the device of the arguments")


def test_several_results(ask: Ask) -> None:
    """the names, devices and elements of two results"""
    came = came_of(ask, "aten::sort", there([3.0, 1.0, 2.0]), 0)
    found = (getattr(type(came), "__name__", ""), seen(came))
    wanted = ("sort", [("attic", [1.0, 2.0, 3.0]), ("attic", [1, 2, 0])])
    expect(found, wanted, asked="the results of sort", because="several results are a tuple of the CPU's type")


def test_written_arguments(ask: Ask) -> None:
    """the arguments that an operator writes to, and its results"""
    x = there([1.0, 2.0])
    view = x[1:]
    same = came_of(ask, "aten::neg_", x) is x
    many = [there([1.0]), there([2.0])]
    nothing = came_of(ask, "aten::_foreach_mul_.Scalar", many, 3)
    expect(
        (same, x.tolist(), view.tolist(), nothing, [one.tolist() for one in many]),
        (True, [-1.0, -2.0], [-2.0], None, [[3.0], [6.0]]),
        asked="whether neg_ returns its argument; that argument; a view of it; the result and tensors of _foreach_mul_",
        because="an argument is written to in its own memory, whether it is a result or not",
    )


def test_outs(ask: Ask) -> None:
    """the results of an operator that writes to two of its arguments"""
    values, places = torch.empty(0, device="attic"), torch.empty(0, dtype=torch.int64, device="attic")
    came = came_of(ask, "aten::sort.values", there([3.0, 1.0]), 0, values=values, indices=places)
    found = (came[0] is values, came[1] is places, values.tolist(), places.tolist())
    because = "a result marked with `!` is the argument with the same mark, which also gets the result's sizes"
    expect(
        found, (True, True, [1.0, 3.0], [1, 0]), asked="whether the results are `values` and `indices`", because=because
    )


def test_a_view(ask: Ask) -> None:
    """an error for an operator that returns a view, with error_on_views=True"""
    with torch.library.Library("house", "DEF") as house, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        house.define("window(Tensor(a) x) -> Tensor(a)")
        house.impl("window", lambda x: x[:1], "CPU")
        operator = registry.find("house::window")
        came = ask("computed_on_cpu", operator, operator.bind((there([1.0, 2.0]),), {}), True)
        expect(came, Raises(RuntimeError, "view operator"), because="a result that is moved cannot share memory")
