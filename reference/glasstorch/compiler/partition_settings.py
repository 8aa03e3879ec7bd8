"""Which choices does the compiler of forward and backward leave to a program?

Mirrors: torch/_functorch/config.py
Differs: the settings that something here reads, as variables of a module; `patch` sets them for a while.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

cse = True  # nodes that compute the same are one
treat_parameters_as_free_to_save = True
max_dist_from_bw = 1000  # what is farther from the backward pass is not computed again
ban_recompute_used_far_apart = True
ban_recompute_long_fusible_chains = True
ban_recompute_materialized_backward = True
ban_recompute_not_in_allowlist = True
ban_recompute_reductions = True
recompute_views = False
aggressive_recomputation = False  # of these bans, only that of reductions holds


def patch(changes: str | dict[str, Any] | None = None, value: Any = None, **named: Any) -> AbstractContextManager[None]:
    """Settings that hold within a `with` block, or a function below the decorator."""
    wanted = {changes: value, **named} if isinstance(changes, str) else {**(changes or {}), **named}
    unknown = sorted(name for name in wanted if name not in _KNOWN)
    if unknown:
        raise AttributeError(f"torch._functorch.config has no setting {', '.join(unknown)} in glasstorch")
    return _patched(wanted)


@contextmanager
def _patched(wanted: dict[str, Any]) -> Iterator[None]:
    before = {name: globals()[name] for name in wanted}
    globals().update(wanted)
    try:
        yield
    finally:
        globals().update(before)


def _is_setting(value: Any) -> bool:
    return isinstance(value, bool | int) and not isinstance(value, Callable)  # type: ignore[arg-type]


_KNOWN = frozenset(name for name, value in globals().items() if not name.startswith("_") and _is_setting(value))
