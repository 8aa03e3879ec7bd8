"""Does `functionalize` make of `resize_` and `set_` what PyTorch's does?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.dispatch.operator import registry

Require = Callable[[str], Any]
Program = Callable[[Any, Any], Any]


def smaller_and_written(torch: Any, x: Any) -> Any:
    y = x.clone()
    y.resize_(1, 2).add_(1)
    return y


def from_nothing(torch: Any, x: Any) -> Any:
    return torch.empty(0).resize_(2, 3).fill_(3)


def view_of_what_was_resized(torch: Any, x: Any) -> Any:
    y = x.clone()
    view = y.view(-1)
    y.resize_(2)
    return view


def base_of_what_was_resized(torch: Any, x: Any) -> Any:
    y = x.clone()
    y.view(-1).resize_(2).mul_(5)
    return y


def larger_than_its_base(torch: Any, x: Any) -> Any:
    return x.clone().view(-1).resize_(9)


def row_over_its_end(torch: Any, x: Any) -> Any:
    return x[0].resize_(5)


def larger_and_filled(torch: Any, x: Any) -> Any:
    y = x.clone()
    view = y[0]
    y.resize_(3, 4).fill_(2)
    view.add_(1)
    return [y, view]


def larger_without_a_view(torch: Any, x: Any) -> Any:
    y = x.clone()
    y[0].add_(1)
    return y.resize_(3, 4).fill_(2)


def argument_made_larger(torch: Any, x: Any) -> Any:
    return x.resize_(4, 4).fill_(7)


def argument_made_smaller(torch: Any, x: Any) -> Any:
    return x.resize_(1)


def alias_of_the_argument(torch: Any, x: Any) -> Any:
    y = torch.zeros(3)
    y.set_(x)
    y.add_(1)
    return y


def set_to_nothing(torch: Any, x: Any) -> Any:
    return torch.zeros(3).set_()


def argument_set(torch: Any, x: Any) -> Any:
    return x.set_(torch.ones(2))


def view_of_what_was_set(torch: Any, x: Any) -> Any:
    y = torch.zeros(3)
    view = y.view(3)
    y.set_(x)
    return view


PROGRAMS: dict[str, Program] = {
    "the same sizes": lambda torch, x: x.resize_(2, 3) + 1,
    "the same sizes of a view": lambda torch, x: x.view(6).resize_(2, 3) + 1,
    "other sizes": lambda torch, x: x.clone().resize_(3, 2).add_(1),
    "sizes of another": lambda torch, x: x.clone().resize_as_(torch.zeros(3, 2)),
    "a memory format": lambda torch, x: x.clone().resize_(1, 2, 1, 3, memory_format=torch.channels_last),
    **{
        program.__name__: program
        for program in (
            smaller_and_written,
            from_nothing,
            view_of_what_was_resized,
            base_of_what_was_resized,
            larger_than_its_base,
            row_over_its_end,
            larger_and_filled,
            larger_without_a_view,
            argument_made_larger,
            argument_made_smaller,
            alias_of_the_argument,
            set_to_nothing,
            argument_set,
            view_of_what_was_set,
        )
    },
}


def told(torch: Any, program: Program, remove: str) -> list[Any]:
    """What a functionalized program returns or raises, and what becomes of its argument."""
    x = torch.arange(6.0).view(2, 3)
    try:
        made = torch.func.functionalize(lambda x: program(torch, x), remove=remove)(x)
    except RuntimeError as error:
        return [str(error), x.tolist()]
    return [*(one.tolist() for one in (made if isinstance(made, list) else [made])), tuple(x.shape), x.tolist()]


@pytest.mark.parametrize("remove", ["mutations", "mutations_and_views"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_change_of_storage_is_replayed_as_in_pytorch(name: str, remove: str, require: Require) -> None:
    assert told(glasstorch, PROGRAMS[name], remove) == told(require("torch"), PROGRAMS[name], remove)


@pytest.mark.parametrize("name", ["resize_", "set_.source_Tensor"])
def test_the_key_has_a_kernel_of_its_own(name: str) -> None:
    """As in PyTorch; nearly all other operators have the fallback."""
    assert glasstorch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", "Functionalize")
    assert registry.find(f"aten::{name}").kernels


def test_a_tensor_from_outside_is_not_set_to_one_inside_nor_the_reverse(require: Require) -> None:
    def refusals(torch: Any) -> list[str]:
        outside, said = torch.ones(2), []
        for program in (lambda x: x.clone().set_(outside), lambda x: outside.set_(x)):
            with pytest.raises(RuntimeError) as refused:
                torch.func.functionalize(program)(torch.ones(2))
            said.append(str(refused.value)[:70])
        return said

    assert refusals(glasstorch) == refusals(require("torch"))
