"""Do functions refuse loose ints that their methods take?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.refusals import same_refusal

REFUSED: list[Callable[[Any, Any], Any]] = [
    lambda t, x: t.reshape(x, 6),
    lambda t, x: t.reshape(x, 3, 2),
    lambda t, x: t.permute(x, 1, 0),
    lambda t, x: t.flip(x, 0),
    lambda t, x: t.flip(x, t.tensor(0)),
    lambda t, x: t.tile(x, 2),
    lambda t, x: t.broadcast_to(x[0], 3),
    lambda t, x: t.expand_copy(x[0], 3),
    lambda t, x: t.permute_copy(x[0], 0),
]


@pytest.mark.parametrize("call", REFUSED)
def test_a_function_refuses_loose_ints_in_pytorchs_words(
    require: Callable[[str], Any], call: Callable[[Any, Any], Any]
) -> None:
    same_refusal(require("torch"), lambda t: call(t, t.ones(2, 3)))


def test_the_method_takes_them_and_the_function_a_list(torch: Any) -> None:
    x = torch.arange(6).reshape(2, 3)
    assert x.flip(0).tolist() == torch.flip(x, [0]).tolist() == torch.flip(x, dims=(0,)).tolist()
    assert x.permute(1, 0).shape == torch.permute(x, (1, 0)).shape == (3, 2)
    assert x.tile(2).shape == torch.tile(x, torch.Size([2])).shape == (2, 6)
    assert torch.view_copy(x.float(), torch.int32).dtype is torch.int32


def test_the_function_has_the_methods_name_and_text() -> None:
    assert glasstorch.flip.__name__ == "flip"
    assert glasstorch.flip.__doc__ == glasstorch.Tensor.flip.__doc__
