"""Is a function that is replaced also replaced where it is registered as a kernel?"""

from __future__ import annotations

import glasstorch as torch
from glasstorch.library import Library
from workbook.exercises.graft_kernel import graft_registered


def test_the_kernels_that_a_function_is_are_replaced_and_no_others() -> None:
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    def other(x: torch.Tensor) -> torch.Tensor:
        return x * 3

    with Library("grafted", "DEF") as library:
        for name, kernel in (("twice", twice), ("again", twice), ("other", other)):
            library.define(f"{name}(Tensor x) -> Tensor")
            library.impl(name, kernel, "CompositeImplicitAutograd")
        x = torch.ones(1)
        ops = torch.ops.grafted
        before = [op(x).item() for op in (ops.twice, ops.again, ops.other)]
        graft_registered({twice: lambda x: x * 20})
        after = [op(x).item() for op in (ops.twice, ops.again, ops.other)]
        # its kernels are others now: the library takes out what is there
        for operator in library._registered.operators:
            operator.kernels.clear()
        library._registered.kernels.clear()
    assert before == [2, 2, 3]
    assert after == [20, 20, 3]
