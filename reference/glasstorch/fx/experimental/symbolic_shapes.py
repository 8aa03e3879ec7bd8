"""How is a program captured for all sizes at once?

Mirrors: torch/fx/experimental/symbolic_shapes.py
Differs: the code is in _symbols/, by what it does. sympy is needed, and is imported with this module.
"""

from __future__ import annotations

from importlib.util import find_spec

from glasstorch.core.unknown_names import refuse_unknown_names

if find_spec("sympy") is None:
    raise ModuleNotFoundError(
        'symbolic sizes need sympy, which is not installed: pip install "glasstorch[compile]"', name="sympy"
    )

from glasstorch.fx.experimental._symbols.checking import SYMPY_INTERP as SYMPY_INTERP
from glasstorch.fx.experimental._symbols.contexts import Constraint as Constraint
from glasstorch.fx.experimental._symbols.contexts import ConstraintViolationError as ConstraintViolationError
from glasstorch.fx.experimental._symbols.contexts import DimConstraint as DimConstraint
from glasstorch.fx.experimental._symbols.contexts import DimDynamic as DimDynamic
from glasstorch.fx.experimental._symbols.contexts import RelaxedUnspecConstraint as RelaxedUnspecConstraint
from glasstorch.fx.experimental._symbols.contexts import StatefulSymbolicContext as StatefulSymbolicContext
from glasstorch.fx.experimental._symbols.contexts import StatelessSymbolicContext as StatelessSymbolicContext
from glasstorch.fx.experimental._symbols.contexts import StrictMinMaxConstraint as StrictMinMaxConstraint
from glasstorch.fx.experimental._symbols.contexts import SymbolicContext as SymbolicContext
from glasstorch.fx.experimental._symbols.contexts import SymIntSymbolicContext as SymIntSymbolicContext
from glasstorch.fx.experimental._symbols.env import ShapeEnv as ShapeEnv
from glasstorch.fx.experimental._symbols.errors import GuardOnDataDependentSymNode as GuardOnDataDependentSymNode
from glasstorch.fx.experimental._symbols.errors import PendingUnbackedSymbolNotFound as PendingUnbackedSymbolNotFound
from glasstorch.fx.experimental._symbols.node import SymNode as SymNode
from glasstorch.fx.experimental._symbols.questions import constrain_range as constrain_range
from glasstorch.fx.experimental._symbols.questions import constrain_unify as constrain_unify
from glasstorch.fx.experimental._symbols.questions import create_contiguous as create_contiguous
from glasstorch.fx.experimental._symbols.questions import expect_true as expect_true
from glasstorch.fx.experimental._symbols.questions import free_symbols as free_symbols
from glasstorch.fx.experimental._symbols.questions import free_unbacked_symbols as free_unbacked_symbols
from glasstorch.fx.experimental._symbols.questions import guard_bool as guard_bool
from glasstorch.fx.experimental._symbols.questions import guard_float as guard_float
from glasstorch.fx.experimental._symbols.questions import guard_int as guard_int
from glasstorch.fx.experimental._symbols.questions import guard_or_false as guard_or_false
from glasstorch.fx.experimental._symbols.questions import guard_or_true as guard_or_true
from glasstorch.fx.experimental._symbols.questions import guard_scalar as guard_scalar
from glasstorch.fx.experimental._symbols.questions import guard_size_oblivious as guard_size_oblivious
from glasstorch.fx.experimental._symbols.questions import guarding_hint_or_throw as guarding_hint_or_throw
from glasstorch.fx.experimental._symbols.questions import has_free_symbols as has_free_symbols
from glasstorch.fx.experimental._symbols.questions import has_free_unbacked_symbols as has_free_unbacked_symbols
from glasstorch.fx.experimental._symbols.questions import has_guarding_hint as has_guarding_hint
from glasstorch.fx.experimental._symbols.questions import has_static_value as has_static_value
from glasstorch.fx.experimental._symbols.questions import has_symbolic_sizes_strides as has_symbolic_sizes_strides
from glasstorch.fx.experimental._symbols.questions import is_concrete_bool as is_concrete_bool
from glasstorch.fx.experimental._symbols.questions import is_concrete_float as is_concrete_float
from glasstorch.fx.experimental._symbols.questions import is_concrete_int as is_concrete_int
from glasstorch.fx.experimental._symbols.questions import is_nested_int as is_nested_int
from glasstorch.fx.experimental._symbols.questions import is_symbolic as is_symbolic
from glasstorch.fx.experimental._symbols.questions import optimization_hint as optimization_hint
from glasstorch.fx.experimental._symbols.questions import statically_known_false as statically_known_false
from glasstorch.fx.experimental._symbols.questions import statically_known_true as statically_known_true
from glasstorch.fx.experimental._symbols.questions import sym_and as sym_and
from glasstorch.fx.experimental._symbols.questions import sym_eq as sym_eq
from glasstorch.fx.experimental._symbols.questions import sym_or as sym_or
from glasstorch.fx.experimental._symbols.relations import canonical as canonicalize_bool_expr
from glasstorch.fx.experimental._symbols.stacks import ShapeGuard as ShapeGuard
from glasstorch.fx.experimental._symbols.stacks import SLoc as SLoc

__all__ = [
    "SYMPY_INTERP", "ShapeEnv", "StatefulSymbolicContext", "StatelessSymbolicContext", "SymIntSymbolicContext",
    "SymbolicContext", "canonicalize_bool_expr", "create_contiguous", "free_symbols", "guard_float", "guard_int",
    "guard_or_false", "guard_or_true", "guard_scalar", "guard_size_oblivious", "guarding_hint_or_throw",
    "has_free_symbols", "has_free_unbacked_symbols", "has_static_value", "has_symbolic_sizes_strides",
    "is_concrete_bool", "is_concrete_float", "is_concrete_int", "is_nested_int", "optimization_hint",
    "statically_known_false", "statically_known_true", "sym_and", "sym_eq", "sym_or",
]  # fmt: skip

__getattr__ = refuse_unknown_names(__name__)
