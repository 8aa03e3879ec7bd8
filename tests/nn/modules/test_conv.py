"""Are layers that slide a kernel made, printed and refused as PyTorch's?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import assert_same

Require = Callable[[str], Any]


def sizes_of(layer: Any, *sizes: int, **options: Any) -> Callable[[Any], Any]:
    """A program: the sizes of what a layer makes of ones."""

    def program(torch: Any) -> Any:
        return list(layer(torch.nn)(torch.ones(*sizes), **options).shape)

    return program


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "printed": lambda t: [
        repr(layer)
        for layer in (
            t.nn.Conv1d(2, 4, 3, stride=2, padding=1, dilation=2, groups=2, bias=False),
            t.nn.Conv2d(1, 2, (3, 2), padding="same", padding_mode="circular"),
            t.nn.ConvTranspose3d(2, 4, 3, stride=2, output_padding=(1, 0, 1)),
            t.nn.Fold(4, 2, stride=(1, 2)),
            t.nn.Unfold((2, 3), padding=1),
        )
    ],
    "attributes": lambda t: [
        str(getattr(layer, name))
        for layer in (t.nn.Conv2d(2, 4, 3, padding="same", dilation=2), t.nn.ConvTranspose1d(2, 4, 3, 2))
        for name in (*layer.__constants__, "transposed", "_reversed_padding_repeated_twice")
    ],
    "no groups": lambda t: t.nn.Conv2d(2, 2, 1, groups=0),
    "groups that do not divide the input": lambda t: t.nn.Conv2d(3, 2, 1, groups=2),
    "groups that do not divide the result": lambda t: t.nn.Conv2d(2, 3, 1, groups=2),
    "same, in steps": lambda t: t.nn.Conv2d(2, 2, 3, stride=2, padding="same"),
    "transposed, reflected": lambda t: t.nn.ConvTranspose2d(2, 2, 3, padding_mode="reflect"),
    "no kernel": lambda t: t.nn.functional.conv2d(t.ones(1, 1, 2, 2), t.ones(1, 1, 3, 3)),
    "other channels": sizes_of(lambda n: n.Conv2d(3, 2, 1), 1, 2, 4, 4),
    "too few dimensions": sizes_of(lambda n: n.Conv1d(3, 2, 1), 4),
    "a single image": sizes_of(lambda n: n.Conv2d(2, 3, 3, padding=1), 2, 4, 5),
    "chosen size": sizes_of(lambda n: n.ConvTranspose2d(2, 3, 3, stride=2), 1, 2, 4, 4, output_size=[10, 9]),
    "chosen size with all dimensions": sizes_of(
        lambda n: n.ConvTranspose2d(2, 3, 3, stride=2), 1, 2, 4, 4, output_size=[1, 3, 10, 9]
    ),
    "a size out of reach": sizes_of(lambda n: n.ConvTranspose2d(2, 3, 3, stride=2), 1, 2, 4, 4, output_size=[12, 9]),
    "sizes of too few dimensions": sizes_of(lambda n: n.ConvTranspose2d(2, 3, 3), 1, 2, 4, 4, output_size=[6]),
    "columns that do not fit": sizes_of(lambda n: n.Fold(4, 2), 1, 4, 8),
    "columns of no kernel": sizes_of(lambda n: n.Fold(4, 2), 1, 3, 9),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_pytorch(name: str, require: Require) -> None:
    assert_same(PROGRAMS[name], require("torch"))


@pytest.mark.parametrize("arguments", [{"padding": "full"}, {"padding_mode": "ones"}], ids=str)
def test_unknown_padding_is_refused(arguments: dict[str, str], require: Require) -> None:
    # The accepted names are printed as a set, whose order PyTorch leaves to chance.
    assert_same(lambda torch: torch.nn.Conv2d(1, 1, 1, **arguments), require("torch"), words=False)
