"""Which sizes of a tensor become symbols, and what may be assumed of them?

Mirrors: torch/fx/experimental/symbolic_shapes.py (DimDynamic, Constraint, SymbolicContext and its kinds)
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any

from glasstorch.fx.experimental._symbols.ranges import ValueRanges
from glasstorch.fx.experimental._symbols.sources import Source


class ConstraintViolationError(RuntimeError):
    """A size that a program declared to be free turned out not to be."""

    is_for_the_program = True  # it says that a mark is wrong: no capture goes on without it


class DimDynamic(enum.Enum):
    """How a size is treated."""

    DYNAMIC = 0  # a symbol of its own
    DUCK = 1  # the symbol of the other sizes that are equal to it
    STATIC = 2  # a number
    UNBACKED = 3  # a symbol of which not even an example is known
    INFER_STRIDE = 4  # of a stride: computed from sizes and other strides where it can be
    OBLIVIOUS_SIZE = 5


@dataclass(frozen=True, slots=True)
class Constraint:
    """What a program has declared of a size."""

    warn_only: bool


@dataclass(frozen=True, slots=True)
class StrictMinMaxConstraint(Constraint):
    """Each number of a range must be possible."""

    vr: ValueRanges

    def render(self, source: Source) -> str:
        """The constraint in words."""
        return f"{self.vr.lower} <= {source.name} <= {self.vr.upper}"


@dataclass(frozen=True, slots=True)
class RelaxedUnspecConstraint(Constraint):
    """More than one number must be possible."""

    def render(self, source: Source) -> str:
        """The constraint in words."""
        return f"RelaxedUnspecConstraint({source.name})"


DimConstraint = StrictMinMaxConstraint | RelaxedUnspecConstraint | None


@dataclass(frozen=True, slots=True)
class SymbolicContext:
    """What is known of an input before symbols are made for it."""


@dataclass(frozen=True, slots=True)
class SymIntSymbolicContext(SymbolicContext):
    """The context of an int."""

    constraint: DimConstraint


@dataclass(frozen=True, slots=True)
class StatelessSymbolicContext(SymbolicContext):
    """How each size and stride of a tensor is treated; new symbols each time."""

    dynamic_sizes: list[DimDynamic]
    dynamic_strides: list[DimDynamic] = None  # type: ignore[assignment]  # filled in below
    constraint_sizes: list[DimConstraint] = None  # type: ignore[assignment]
    constraint_strides: list[DimConstraint] = None  # type: ignore[assignment]
    specialize_on: list[list[Any]] | None = None
    view_base_context: SymbolicContext | None = None
    shape_ids: dict[int, str | None] | None = None
    unbacked_bounds: dict[int, tuple[int | None, int | None]] | None = None

    def __post_init__(self) -> None:
        count = len(self.dynamic_sizes)
        for name, filler in (
            ("dynamic_strides", DimDynamic.INFER_STRIDE),
            ("constraint_sizes", None),
            ("constraint_strides", None),
        ):
            if getattr(self, name) is None:
                object.__setattr__(self, name, [filler] * count)
        if self.shape_ids or self.unbacked_bounds:
            raise NotImplementedError("StatelessSymbolicContext: shape_ids and unbacked_bounds are not in glasstorch")
        allowed = (DimDynamic.INFER_STRIDE, DimDynamic.DYNAMIC, DimDynamic.DUCK)
        if any(stride not in allowed for stride in self.dynamic_strides):
            raise AssertionError("dynamic_strides must only contain INFER_STRIDE, DYNAMIC, or DUCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatefulSymbolicContext(StatelessSymbolicContext):
    """A context that gives the same symbols to the same source again."""

    tensor_source: Source
    shape_env_to_source_to_symbol_cache: dict[int, dict[str, Any]] = field(default_factory=dict)
