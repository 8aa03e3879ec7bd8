"""Does the kernel for all backends stand at meta where PyTorch registers a decomposition there?"""

from __future__ import annotations

from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.operator import registry
from glasstorch.dispatch.resolve import KERNEL, choose
from glasstorch.dispatch.tags import Tag
from glasstorch.kernels.meta.decomposed import FOR_ALL
from glasstorch.operators.generated.registry import OPERATORS


def test_it_is_the_kernel_for_all_backends_by_itself() -> None:
    found = 0
    for row in OPERATORS:
        operator = registry.find(f"aten::{row.name}")
        alias = next((key for key in FOR_ALL if operator.kernels.get(key)), None)
        if Tag.decomposed_on_meta.name in row.tags and alias is not None:
            choice = choose(operator, DispatchKey.Meta)
            assert choice.rule == KERNEL, row.name
            assert choice.kernel is not None
            found += choice.kernel.function is operator.kernels[alias][-1].function
    assert found > 200
