"""How many floating-point operations does a program take, module by module?

Mirrors: torch/utils/flop_counter.py (FlopCounterMode)
Differs: the table is written here, and needs no package `tabulate`.

    with FlopCounterMode(depth=2) as counter:   # prints a table at the end
        model(x).sum().backward()
    counter.get_total_flops()
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from glasstorch._python_dispatch import TorchDispatchMode
from glasstorch.calls.ops import ops
from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.dispatch.operator import Operator, keys_of
from glasstorch.dispatch.resolve import MATH_KERNEL, resolve
from glasstorch.nn.modules.module import Module
from glasstorch.utils._flop_formulas import addmm_flop as addmm_flop
from glasstorch.utils._flop_formulas import baddbmm_flop as baddbmm_flop
from glasstorch.utils._flop_formulas import bmm_flop as bmm_flop
from glasstorch.utils._flop_formulas import conv_backward_flop as conv_backward_flop
from glasstorch.utils._flop_formulas import conv_flop as conv_flop
from glasstorch.utils._flop_formulas import conv_flop_count as conv_flop_count
from glasstorch.utils._flop_formulas import flop_registry as flop_registry
from glasstorch.utils._flop_formulas import get_shape as get_shape
from glasstorch.utils._flop_formulas import mm_flop as mm_flop
from glasstorch.utils._flop_formulas import register_flop_formula as register_flop_formula
from glasstorch.utils._flop_formulas import sdpa_backward_flop as sdpa_backward_flop
from glasstorch.utils._flop_formulas import sdpa_backward_flop_count as sdpa_backward_flop_count
from glasstorch.utils._flop_formulas import sdpa_flop as sdpa_flop
from glasstorch.utils._flop_formulas import sdpa_flop_count as sdpa_flop_count
from glasstorch.utils._flop_formulas import shape_wrapper as shape_wrapper
from glasstorch.utils.module_tracker import GLOBAL, ModuleTracker

__all__ = ["FlopCounterMode", "register_flop_formula"]

HEADER = ("Module", "FLOP", "% Total")
suffixes = ["", "K", "M", "B", "T"]  # of thousands, millions ...


class FlopCounterMode:
    """In a `with` block, counts the floating-point operations of products of matrices and of convolutions.

    At the end a table is printed, unless `display` is False, of the modules down to `depth` (None: all). Formulas of
    further operators may be given in `custom_mapping`; for one with an attribute `_get_raw`, see register_flop_formula.
    """

    def __init__(
        self,
        mods: Module | list[Module] | None = None,
        depth: int | None = 2,
        display: bool = True,
        custom_mapping: Mapping[Any, Any] | None = None,
    ) -> None:
        if mods is not None:
            warnings.warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        self.flop_counts: defaultdict[str, defaultdict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self.depth = depth
        self.display = display
        self.mode: _CountingMode | None = None
        self.flop_registry = dict(flop_registry)
        for target, formula in (custom_mapping or {}).items():
            self.flop_registry[target] = formula if getattr(formula, "_get_raw", False) else shape_wrapper(formula)
        self.mod_tracker = ModuleTracker()

    def get_total_flops(self) -> int:
        """The sum over all operators."""
        return sum(self.flop_counts[GLOBAL].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """The counts by module (`Net.head`; "Global" for all) and operator (`torch.ops.aten.mm`)."""
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """The table of modules down to `depth`: what each takes, and its operators."""
        depth = self.depth if depth is None else depth
        total = self.get_total_flops()
        unit = get_suffix_str(total)
        levels = {module: module.count(".") for module in sorted(self.flop_counts) if module != GLOBAL}
        shown = [module for module, level in levels.items() if depth is None or level < depth]
        # All counts together are told only where no module has them all.
        tells_all = any(sum(self.flop_counts[module].values()) >= total for module in shown)
        rows: list[tuple[str, str, str]] = []
        if GLOBAL in self.flop_counts and not tells_all:
            rows += self._rows(GLOBAL, 0, total, unit)
        for module in shown:
            rows += self._rows(module, levels[module] + bool(rows and rows[0][0] == GLOBAL), total, unit)
        return _table(rows or [(GLOBAL, "0", "0%")])

    def _rows(self, module: str, indent: int, total: int, unit: str) -> Iterator[tuple[str, str, str]]:
        counts = self.flop_counts[module]
        named = [(module, sum(counts.values())), *((f" - {operator}", count) for operator, count in counts.items())]
        for name, count in named:
            yield " " * indent + name, convert_num_with_suffix(count, unit), convert_to_percent_str(count, total)

    def __enter__(self) -> Self:
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        self.mode = _CountingMode(self)
        self.mode.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        assert self.mode is not None, "FlopCounterMode was left without having been entered"
        self.mode.__exit__(None, None, None)
        self.mode = None
        self.mod_tracker.__exit__()
        if self.display:
            print(self.get_table(self.depth))

    def _count_flops(self, func_packet: Any, out: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if (formula := self.flop_registry.get(func_packet)) is not None:
            flops = formula(*args, **kwargs, out_val=out)
            for module in self.mod_tracker.parents:
                self.flop_counts[module][func_packet] += flops
        return out


class _CountingMode(TorchDispatchMode):
    """Sees every operator below autograd. One that consists of others is run as those, so that they are counted."""

    def __init__(self, counter: FlopCounterMode) -> None:
        self._counter = counter

    def __torch_dispatch__(
        self, func: Operator, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        named = dict(kwargs or {})
        packet = getattr(getattr(ops, func.namespace), func.qualified_overload.partition(".")[0])
        is_composite = func.has_kernel_for(DispatchKey.CompositeImplicitAutograd)
        if is_composite and packet not in self._counter.flop_registry:
            # It arrives whole where autograd's keys, at which it would have been taken apart, are off.
            arguments = func.bind(args, named)
            keys = keys_of(arguments) & active_keys.get()[1]
            if resolve(func, keys).choice.rule == MATH_KERNEL:
                with self:
                    return func.redispatch(keys, *arguments)
        return self._counter._count_flops(packet, func(*args, **named), args, named)


def get_suffix_str(number: int) -> str:
    """The unit in which a number has two to four digits before the point: 1,010,000 is 1010K."""
    return suffixes[max(0, min(len(suffixes) - 1, (len(str(number)) - 2) // 3))]


def convert_num_with_suffix(number: float, suffix: str) -> str:
    """The number in this unit, with three digits after the point."""
    return f"{number / 1000 ** suffixes.index(suffix):.3f}{suffix}"


def convert_to_percent_str(num: float, denom: float) -> str:
    """The share of a number in another, in per cent."""
    return f"{num / denom:.2%}" if denom else "0%"


def _table(rows: Sequence[tuple[str, str, str]]) -> str:
    """The rows under their header, the first column on the left, numbers on the right."""
    # As in PyTorch's table, a number without a unit loses the zeros after its point.
    cells = [(name, f"{float(count):g}" if count[-1].isdigit() else count, share) for name, count, share in rows]
    widths = [max(len(title) + 2, *(len(row[n]) for row in cells)) for n, title in enumerate(HEADER)]
    lines = [HEADER, tuple("-" * width for width in widths), *cells]
    return "\n".join(f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}" for a, b, c in lines)
