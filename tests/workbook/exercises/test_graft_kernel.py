"""Is a function that is replaced also replaced where it is registered as a kernel or a decomposition?"""

from __future__ import annotations

import glasstorch as torch
from glasstorch.library import Library
from workbook.exercises.graft_kernel import graft_decomposed, graft_registered


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


def test_the_rows_that_a_decomposition_has_are_replaced_and_no_others() -> None:
    from glasstorch._decomp import decomposition_table as table
    from glasstorch.compiler.decompositions.elements import xlogy

    def mine(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x

    before = dict(table)
    graft_decomposed({xlogy: mine})
    changed = {operator.name for operator, function in table.items() if function is not before[operator]}
    assert changed == {"aten::xlogy.Tensor", "aten::xlogy.Scalar_Self", "aten::xlogy.Scalar_Other"}
    assert table[torch.ops.aten.xlogy.Tensor] is mine
    table.update(before)
