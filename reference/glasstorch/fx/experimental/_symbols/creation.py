"""Which symbols stand for the sizes, strides and offset of a tensor?

Mirrors: torch/fx/experimental/symbolic_shapes.py (ShapeEnv.create_symbol, ShapeEnv.create_symintnode,
    ShapeEnv.create_symbolic_sizes_strides_storage_offset, ShapeEnv.create_unbacked_symint)

Equal sizes get one symbol (duck shaping: a batch is one size wherever it appears), so that programs need fewer guards.
0 and 1 are numbers: with 1 a size broadcasts, and with 0 there is nothing to compute, which no other size does.
"""

from __future__ import annotations

import hashlib
import logging
import math
from typing import Any

import sympy

from glasstorch._tensor import Tensor
from glasstorch.core.symbols import SymBool, SymFloat, SymInt
from glasstorch.fx.experimental._symbols.contexts import (
    ConstraintViolationError,
    DimConstraint,
    DimDynamic,
    StatefulSymbolicContext,
    StatelessSymbolicContext,
    StrictMinMaxConstraint,
)
from glasstorch.fx.experimental._symbols.node import SymNode
from glasstorch.fx.experimental._symbols.ranges import ANY, ValueRanges
from glasstorch.fx.experimental._symbols.sources import ConstantSource, Source, TensorProperty, TensorPropertySource
from glasstorch.fx.experimental._symbols.state import State

Sizes = tuple[Any, ...]
log = logging.getLogger("glasstorch.fx.experimental.symbolic_shapes")


class Creation(State):
    """The part of an environment that makes symbols."""

    def create_symbol(
        self,
        val: float,
        source: Source,
        dynamic_dim: DimDynamic = DimDynamic.DUCK,
        constraint_dim: DimConstraint = None,
        positive: bool | None = True,
        do_not_specialize_zero_one: bool = False,
        symbolic_context: Any = None,
    ) -> Any:
        """The expression for a number of this value: a symbol, or the number where it is to be one."""
        if isinstance(constraint_dim, StrictMinMaxConstraint) and constraint_dim.vr.is_singleton():
            dynamic_dim = DimDynamic.STATIC
            if constraint_dim.vr.lower != val:
                raise ConstraintViolationError(
                    f"Static shape constraint of {constraint_dim.vr.lower} does not match input size of {val}, "
                    f"for {source.name}"
                )
            constraint_dim = None
        if not isinstance(symbolic_context, StatefulSymbolicContext):
            return self._new_symbol(val, source, dynamic_dim, constraint_dim, positive, do_not_specialize_zero_one)
        known = symbolic_context.shape_env_to_source_to_symbol_cache.setdefault(id(self), {})
        if source.name not in known:
            known[source.name] = self._new_symbol(
                val, source, dynamic_dim, constraint_dim, positive, do_not_specialize_zero_one
            )
        return known[source.name]

    def _new_symbol(
        self,
        val: float,
        source: Source,
        dynamic_dim: DimDynamic,
        constraint: DimConstraint,
        positive: bool | None,
        any_number: bool,
    ) -> Any:
        if dynamic_dim is DimDynamic.UNBACKED:
            unknown = self.create_unbacked_symint().node.expr
            self._constrain_range_for_size(unknown)
            self.unbacked_inputs.add(unknown)
            return unknown
        if positive and val < 0:
            raise AssertionError(f"positive set for negative value: {val}")
        if constraint is not None:
            dynamic_dim = DimDynamic.DYNAMIC
        if dynamic_dim is DimDynamic.STATIC:
            return sympy.sympify(val)
        if val in (0, 1) and type(val) is int and self.specialize_zero_one and not any_number:
            return sympy.Integer(val)
        duck = dynamic_dim is DimDynamic.DUCK and self.duck_shape
        if duck and val in self.val_to_var:
            symbol = self.val_to_var[val]
        else:
            symbol = self._fresh(val, source, positive, any_number)
            if duck:
                self.val_to_var[val] = symbol
            if isinstance(constraint, StrictMinMaxConstraint):
                self.var_to_range[symbol] = self.var_to_range[symbol] & constraint.vr
            if val not in (within := self.var_to_range[symbol]):
                raise ConstraintViolationError(f"{val} not in range [{within.lower}, {within.upper}]")
            log.info("create_symbol %s = %s for %s %s", symbol, val, source.name, self.var_to_range[symbol])
        self.source_to_var[source.name] = symbol
        self.var_to_sources[symbol].append(source)
        return symbol

    def _fresh(self, val: float, source: Source, positive: bool | None, any_number: bool) -> Any:
        number = int(hashlib.sha256(source.name.encode()).hexdigest(), 16) % 100
        while number in self.unique_ids:
            number += 1
        self.unique_ids.add(number)
        if type(val) is float:
            symbol = sympy.Symbol(f"zf{number}", positive=positive, real=True)
            self.backed_var_to_val[symbol], self.var_to_range[symbol] = sympy.Float(val), ANY
        else:
            symbol = sympy.Symbol(f"s{number}", positive=positive, integer=True)
            self.backed_var_to_val[symbol] = sympy.Integer(val)
            least = 2 if self.specialize_zero_one and not any_number else 0
            self.var_to_range[symbol] = ValueRanges(least, math.inf) if positive else ANY
        self.var_to_sources[symbol] = []
        return symbol

    def create_symintnode(self, sym: Any, *, hint: Any, source: Source | None = None) -> Any:
        """An expression as a `SymInt`; a number as an int."""
        if sym.is_Integer:
            if hint is not None and int(sym) != hint:
                raise AssertionError(f"int(sym)={int(sym)} != hint={hint}")
            return int(sym)
        if any(s not in self.backed_var_to_val for s in sym.free_symbols):
            hint = None
        return SymInt(SymNode(sym, self, int, hint))

    def create_symfloatnode(self, sym: Any, *, hint: Any, source: Source | None = None) -> Any:
        """An expression as a `SymFloat`; a number as a float."""
        return float(sym) if sym.is_Number else SymFloat(SymNode(sym, self, float, hint))

    def create_symboolnode(self, sym: Any) -> SymBool:
        """A condition as a `SymBool`."""
        return SymBool(SymNode(sym, self, bool, None))

    def create_unspecified_symbol(
        self,
        val: float,
        source: Source,
        dynamic_dim: DimDynamic = DimDynamic.DUCK,
        constraint_dim: DimConstraint = None,
        symbolic_context: Any = None,
    ) -> Any:
        """A symbol for an argument that is no size: it may be negative, 0 or 1."""
        return self.create_symbol(
            val,
            source,
            dynamic_dim,
            constraint_dim,
            positive=None,
            do_not_specialize_zero_one=True,
            symbolic_context=symbolic_context,
        )

    def create_unspecified_symint_and_symbol(
        self, value: int, source: Source, dynamic_dim: DimDynamic, **options: Any
    ) -> Any:
        """An argument that is an int as a `SymInt`."""
        return self.create_symintnode(
            self.create_unspecified_symbol(value, source, dynamic_dim), hint=value, source=source
        )

    # Numbers that depend on elements ----------------------------------------------------------------------------

    def create_unbacked_symint(self, source: Source | None = None) -> SymInt:
        """An int without a hint: no example of its value is known."""
        symbol = sympy.Symbol(f"u{self.unbacked_symint_counter}", integer=True)
        self.unbacked_symint_counter += 1
        self.pending_fresh_unbacked_symbols.append(symbol)
        self.var_to_range[symbol] = ANY
        return SymInt(SymNode(symbol, self, int, None))

    def create_unbacked_symfloat(self) -> SymFloat:
        """A float without a hint: no example of its value is known."""
        symbol = sympy.Symbol(f"zuf{self.unbacked_symfloat_counter}", real=True)
        self.unbacked_symfloat_counter += 1
        self.pending_fresh_unbacked_symbols.append(symbol)
        self.var_to_range[symbol] = ANY
        return SymFloat(SymNode(symbol, self, float, None))

    def create_unbacked_symbool(self) -> SymBool:
        """A condition without a hint: that an int between 0 and 1 is 1."""
        symbol = sympy.Symbol(f"u{self.unbacked_symint_counter}", integer=True)
        self.unbacked_symint_counter += 1
        self.pending_fresh_unbacked_symbols.append(symbol)
        self.var_to_range[symbol] = ValueRanges(0, 1)
        return SymBool(SymNode(sympy.Eq(symbol, 1), self, bool, None))

    def is_unbacked_symint(self, symbol: Any) -> bool:
        """Whether a symbol stands for a number that depends on elements."""
        return symbol not in self.backed_var_to_val

    # Tensors ----------------------------------------------------------------------------------------------------

    def create_symbolic_sizes_strides_storage_offset(
        self, ex: Tensor, source: Source | None, *, symbolic_context: Any = None
    ) -> tuple[Sizes, Sizes, Any]:
        """Sizes, strides and offset for the fake form of a tensor, with symbols for those that may vary."""
        if source is None:
            source = ConstantSource(f"__meta_utils_unknown_tensor{self.unnamed}")
            self.unnamed += 1
        return self._create_symbolic_sizes_strides_storage_offset(
            ex._shape, ex.strides(), ex._offset, [False] * ex.dim(), source, symbolic_context=symbolic_context
        )

    def _create_symbolic_sizes_strides_storage_offset(
        self,
        ex_size: Sizes,
        ex_stride: Sizes,
        ex_storage_offset: int,
        is_dim_dynamic: Any,
        source: Source,
        *,
        symbolic_context: Any = None,
    ) -> tuple[Sizes, Sizes, Any]:
        context = symbolic_context or StatelessSymbolicContext([DimDynamic.DUCK] * len(ex_size))
        all_static = all(kind is DimDynamic.STATIC for kind in context.dynamic_sizes)

        def property_of(kind: TensorProperty, i: int | None = None) -> TensorPropertySource:
            return TensorPropertySource(source, kind, i)

        sizes = [
            self.create_symbol(
                size,
                property_of(TensorProperty.SIZE, i),
                context.dynamic_sizes[i],
                context.constraint_sizes[i],
                do_not_specialize_zero_one=False,
                symbolic_context=context,
            )
            for i, size in enumerate(ex_size)
        ]
        strides = self._symbolic_strides(ex_size, ex_stride, sizes, context, property_of, all_static)
        offset = self.create_symbol(
            ex_storage_offset,
            property_of(TensorProperty.STORAGE_OFFSET),
            DimDynamic.STATIC if all_static else DimDynamic.DUCK,
            symbolic_context=context,
        )
        return (
            tuple(self.create_symintnode(e, hint=hint) for e, hint in zip(sizes, ex_size, strict=True)),
            tuple(self.create_symintnode(e, hint=hint) for e, hint in zip(strides, ex_stride, strict=True)),
            self.create_symintnode(offset, hint=ex_storage_offset),
        )

    def _symbolic_strides(
        self, ex_size: Sizes, ex_stride: Sizes, sizes: list[Any], context: Any, property_of: Any, all_static: bool
    ) -> list[Any]:
        """Strides from the smallest up: one that is a size times a smaller stride is that product."""
        strides: list[Any] = [None] * len(sizes)
        products: dict[int, Any] = {}
        last = len(sizes) - 1
        for value, negative in sorted((stride, -i) for i, stride in enumerate(ex_stride)):
            i, kind = -negative, context.dynamic_strides[-negative]
            steps_over_next = i != last and value == ex_size[i + 1] * ex_stride[i + 1]
            if value in (0, 1) and not steps_over_next:
                strides[i] = sympy.Integer(value)
            elif kind is DimDynamic.INFER_STRIDE and value in products:
                strides[i] = products[value]
            else:
                if kind is DimDynamic.INFER_STRIDE:
                    kind = DimDynamic.STATIC if all_static else DimDynamic.DUCK
                constraint, where = context.constraint_strides[i], property_of(TensorProperty.STRIDE, i)
                strides[i] = self.create_symbol(value, where, kind, constraint, symbolic_context=context)
            products[ex_size[i] * value] = sizes[i] * strides[i]
        return strides
