"""What may a program ask of its own capture?

Mirrors: torch/_dynamo/comptime.py
Differs: no question about the state of a compilation is answered; each is refused by name.
"""

from __future__ import annotations

from typing import Any

QUESTIONS = (
    "assert_static", "breakpoint", "force_static", "get_local", "graph_break", "grad_enabled", "print", "print_bt",
    "print_disas", "print_graph", "print_guards", "print_locals", "print_value_stack",
    "print_value_stack_and_return", "sleep",
)  # fmt: skip


class Comptime:
    """What PyTorch calls while it captures a program."""

    def __call__(self, fn: Any, fallback_fn: Any = lambda: None) -> Any:
        """Outside of a capture, the fallback; it is never asked for inside."""
        return fallback_fn()

    def __getattr__(self, name: str) -> Any:
        if name in QUESTIONS:
            raise NotImplementedError(
                f"comptime.{name}: glasstorch tells nothing of a capture while it goes on; "
                "torch._dynamo.explain and torch.compiler.report tell afterwards"
            )
        raise AttributeError(f"comptime has no attribute {name!r}")


comptime = Comptime()
