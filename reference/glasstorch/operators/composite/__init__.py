"""Which operators are made of other operators?

One plain function for each, without dispatch keys. `native_functions.yaml` names it under `dispatch:`, and this
package registers what is named:
CompositeImplicitAutograd where the parts differentiate themselves, CompositeExplicitAutograd where the whole has a
formula.

Mirrors: aten/src/ATen/native (kernels under CompositeImplicitAutograd and CompositeExplicitAutograd)
Differs: nothing in substance.
"""

from importlib import import_module

from glasstorch.dispatch.library import KernelTable
from glasstorch.operators.generated.registry import OPERATORS, name_of


def register_composites() -> None:
    """Register the composite kernel of every operator that names one."""
    tables = {
        key: KernelTable(key, calls_operators=True, takes_keys=False)
        for key in ("CompositeImplicitAutograd", "CompositeExplicitAutograd")
    }
    for schema, _line, _shape, composite, _functional in OPERATORS:
        if composite is not None:
            key, path = composite
            module, _, name = path.partition(".")
            function = getattr(import_module(f"{__name__}.{module}"), name)
            code = function.__code__
            tables[key].add(name_of(schema).removeprefix("aten::"), function,
            f"{code.co_filename}:{code.co_firstlineno}")


register_composites()
