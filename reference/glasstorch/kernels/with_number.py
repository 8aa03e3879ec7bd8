"""How do the forms that write take a number in the place of a tensor?

Those of `operators/composite/with_number.py`: `add_.Scalar` is `add_.Tensor` with the number as a tensor. The out=
forms that PyTorch's generator writes copy the result (`out/copied.py`).

Mirrors: aten/src/ATen/native/BinaryOps.cpp (add_, sub_, mul_, div_, remainder_ and remainder_out with a Scalar)
"""

from __future__ import annotations

from glasstorch.dispatch.library import KernelTable
from glasstorch.dispatch.tags import Tag
from glasstorch.operators.composite.with_number import of_tensors, with_number
from glasstorch.operators.generated.registry import OPERATORS

COMPOSED = KernelTable("CompositeExplicitAutograd", calls_operators=True, takes_keys=False)
WITH_NUMBER = {row.name for row in OPERATORS if row.composite is not None and row.composite[1] == "with_number.second"}

for row in OPERATORS:
    if row.functional in WITH_NUMBER and Tag.generated.name not in row.tags:
        COMPOSED.add(row.name, with_number(of_tensors(row.name)))
