"""Which operators are composed of other operators?

Each is one plain function without dispatch keys. `native_functions.yaml` names it under `dispatch:`, and this package
registers what is named: CompositeImplicitAutograd where the parts differentiate themselves, CompositeExplicitAutograd
where the composite has its own formula, both of "CompositeExplicitAutograd, Autograd" where modes and backends see
one operator and autograd sees the parts, CompositeExplicitAutogradNonFunctional for the copying forms of views. A
function whose first parameter is `keys` receives the key set of its own call and redispatches on it, which is faster
than calling operators anew.

Reading order: `aliases` (second names), `with_number` (a number in place of a tensor); then the families: `creation`,
`random`, `pointwise`, `special`, `reductions`, `statistics/`, `calculus`, `sorting/`, `indexing`, `views/`, `joining/`,
`transformations/`, `padding`, `copies/`, `complex_numbers`, `matmul`, `linalg/`, `distances`, `fft/`, `resampling`,
`activation`, `dropout`, `embedding`, `normalization`, `pooling`, `softmax`, `attention/`, `recurrent/`, `convolution`,
`loss/`, `foreach`, `sparse/`.

Mirrors: aten/src/ATen/native (kernels under CompositeImplicitAutograd and CompositeExplicitAutograd)
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from glasstorch.dispatch.library import KernelTable, place
from glasstorch.dispatch.schema import FunctionSchema
from glasstorch.operators.composite.aliases import same_as
from glasstorch.operators.generated.registry import OPERATORS
from glasstorch.operators.operator_row import PARTS_RECORDED, OperatorRow

# Where autograd has recorded the parts, or has nothing to record, nothing is to be kept from the operators called.
PARTS = KernelTable("CompositeExplicitAutograd", calls_operators=False, takes_keys=False)


def register_composites() -> None:
    """Register the composite kernel of every operator that names one."""
    plain, redispatching = (
        {
            key: KernelTable(key, calls_operators=not takes_keys, takes_keys=takes_keys)
            for key in (
                "CompositeImplicitAutograd",
                "CompositeExplicitAutograd",
                "CompositeExplicitAutogradNonFunctional",
            )
        }
        for takes_keys in (False, True)
    )
    for row in OPERATORS:
        if row.composite is not None:
            key, path = row.composite
            function = composite_kernel(row, path)
            code = function.__code__
            tables = redispatching if code.co_varnames[:1] == ("keys",) else plain
            table = PARTS if key == PARTS_RECORDED else tables[key]
            table.add(row.name, function, place(code.co_filename, code.co_firstlineno))


def composite_kernel(row: OperatorRow, path: str) -> Callable[..., Any]:
    """The function that a row names, or the kernel that a maker makes from what the row declares."""
    if row.alias_of is not None:
        return same_as(row.alias_of)
    function = composite_function(path)
    makes_kernels = function.__code__.co_varnames[:1] == ("schema",)
    return function(FunctionSchema.parse(row.schema)) if makes_kernels else function


def composite_function(path: str) -> Callable[..., Any]:
    """The function that a declaration names: `views.pieces.narrow`."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"{__name__}.{module}"), name)  # type: ignore[no-any-return]


register_composites()
