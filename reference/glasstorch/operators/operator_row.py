"""What does the running library know about an operator's declaration?

Mirrors: what torchgen hands from native_functions.yaml to build/aten/src/ATen/RegisterSchema.cpp and to the kernels
Differs: one row of data for each operator; `generated/registry.py` lists them all.
"""

from __future__ import annotations

from typing import Final, NamedTuple

# How autocast calls an operator: CastPolicy in ATen/autocast_mode.h; `banned` raises an error.
CAST_POLICIES: Final = ("lower_precision_fp", "fp32", "fp32_set_opt_dtype", "fp32_append_dtype", "promote", "banned")
AUTOCAST_DEVICES: Final = ("cpu", "cuda")

# The key of a composite kernel that serves below autograd, and whose parts autograd records.
PARTS_RECORDED: Final = "CompositeExplicitAutograd, Autograd"


class OperatorRow(NamedTuple):
    """One operator of native_functions.yaml, the generated in-place and out= forms included."""

    schema: str  # without the namespace: `add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`
    line: int  # of native_functions.yaml
    shape: str | None = None  # module.function in operators/shapes
    composite: tuple[str, str] | None = None  # of gen/model.py's COMPOSITE_KEYS, and module.function
    functional: str | None = None  # of a generated form: the operator it was generated from
    alias_of: str | None = None  # the operator that this one is an alias of
    tags: tuple[str, ...] = ()  # names of dispatch/tags.py
    out: str | None = None  # of an out= form that has no kernel of its own: what writes there
    not_implemented: str | None = None  # the "derivative" or "second derivative" that is not implemented
    family: str = ""  # of operators/families.py
    autocast: tuple[tuple[str, str], ...] = ()  # device and policy, of AUTOCAST_DEVICES and CAST_POLICIES
    vmap: str | None = None  # module.function in func/rules
    inverse: str | None = None  # of a view: module.function in func

    @property
    def name(self) -> str:
        """`add.Tensor`"""
        return self.schema.partition("(")[0]
