"""Do the kernels that are made for a number of arguments count what is written, and know what is viewed?"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from glasstorch.autograd import inplace_or_view
from glasstorch.core.keys import CPU_KEYS, DispatchKey
from glasstorch.dispatch.operator import Kernel, Operator, registry
from glasstorch.operators.gen.emit_inplace_or_view import NUMBERS

LIBRARY = Path(glasstorch.__file__).parent
MAKERS = {
    name: maker for name, maker in vars(inplace_or_view).items() if name.startswith(("writes_", "views_", "resizes_"))
}
FIXED = {name: NUMBERS.index(name.rpartition("_")[2]) for name in MAKERS if name.rpartition("_")[2] in NUMBERS}


class Written:
    """What a kernel asks of a tensor that it writes to, and in which order."""

    _shape: tuple[int, ...] = ()

    def __init__(self, told: list[str]) -> None:
        self.told = told
        self._storage = self.lazy = self

    def materialize(self) -> None:
        self.told.append("materialized")

    def bump_version(self) -> None:
        self.told.append("counted")


def made() -> list[tuple[Operator, Kernel]]:
    """The operators with an ADInplaceOrView kernel of the library's own."""
    kernels = [(o, o.kernels.get(DispatchKey.ADInplaceOrView)) for o in registry.operators.values() if o.family]
    return [(o, stack[0]) for o, stack in kernels if stack and not stack[0].by_user]


def table_of(told: list[str], result: object = "returned") -> Any:
    """A table whose only kernel says that it ran."""

    class Table(dict[int, Any]):
        def __missing__(self, keys: int) -> Any:
            def kernel(called_with: int, *arguments: object) -> object:
                assert (called_with, len(arguments)) == (keys, len(arguments))
                told.append(f"ran on {len(arguments)}")
                return result

            return kernel

    return Table()


@pytest.mark.parametrize("name", [name for name in FIXED if name.startswith(("writes_first_", "writes_last_"))])
def test_what_is_written_is_there_before_and_counted_after(name: str) -> None:
    told: list[str] = []
    many = FIXED[name]
    arguments: list[Any] = [None] * many
    arguments[0 if "first" in name else -1] = Written(told)
    assert MAKERS[name](table_of(told))(CPU_KEYS, *arguments) == "returned"
    assert told == ["materialized", f"ran on {many}", "counted"]


@pytest.mark.parametrize("name", [*(name for name in FIXED if name.startswith("writes_several_")), "writes_several"])
def test_several_tensors_are_each_counted(name: str) -> None:
    told: list[str] = []
    many = FIXED.get(name, 8)
    outs = [Written(told), Written(told)]
    arguments = [None] * (many - 2) + outs
    assert MAKERS[name](table_of(told), many - 2, many - 1)(CPU_KEYS, *arguments) == "returned"
    assert told == ["materialized"] * 2 + [f"ran on {many}"] + ["counted"] * 2


@pytest.mark.parametrize(("after", "counted"), [((2, 3), []), ((6,), ["counted"])])
def test_a_resize_is_counted_where_the_sizes_change(after: tuple[int, ...], counted: list[str]) -> None:
    told: list[str] = []
    resized = Written(told)
    resized._shape = (2, 3)

    class Table(dict[int, Any]):
        def __missing__(self, keys: int) -> Any:
            return lambda keys, self, *rest: setattr(self, "_shape", after)

    MAKERS["resizes_first_of_three"](Table())(CPU_KEYS, resized, None, None)
    assert told == ["materialized", *counted]


def test_only_more_than_seven_arguments_are_taken_as_they_come() -> None:
    open_ended = [o for o, kernel in made() if takes_any_number(kernel.function)]
    assert open_ended
    for operator in open_ended:
        assert len(operator.schema.arguments) > 7, operator


def takes_any_number(function: Any) -> bool:
    return bool(function.__code__.co_flags & inspect.CO_VARARGS)


@pytest.mark.parametrize("name", [name for name in FIXED if name.startswith("views_")])
def test_what_is_viewed_is_remembered(name: str) -> None:
    told: list[str] = []

    def remember(base: object, view: object) -> object:
        told.append(f"{view} of {base}")
        return "remembered"

    kernel = MAKERS[name](table_of(told, "view"), remember)
    assert kernel(CPU_KEYS, *("base", *[None] * (FIXED[name] - 1))) == "remembered"
    assert told == [f"ran on {FIXED[name]}", "view of base"]


def test_a_kernel_takes_the_arguments_of_its_operator() -> None:
    for operator, kernel in made():
        parameters = list(inspect.signature(kernel.function).parameters.values())[1:]
        if parameters[0].kind is not inspect.Parameter.VAR_POSITIONAL:
            assert len(parameters) == len(operator.schema.arguments), operator.name


def test_a_kernel_is_named_after_its_operator_and_registered_at_its_row() -> None:
    for operator, kernel in made():
        name = operator.qualified_overload
        assert kernel.function.__qualname__ == name.replace(".", "_")
        file, _, line = kernel.where.partition(":")
        row = (LIBRARY / file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
        assert row.startswith(f'row("{name}", '), kernel.where


def test_every_maker_makes_some_kernel() -> None:
    used = {kernel.function.__code__.co_qualname.partition(".")[0] for _, kernel in made()}
    assert used == set(MAKERS)
