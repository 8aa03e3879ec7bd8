"""Which kernel runs?

Reading order: `schema` (what a declaration says), `runtime_schema` (how a running program sees it), `schema_reader`,
`tags`, `active_keys` (keys that are switched on or off), `operator` (the table of kernels), `overload` (what a program
may ask of an operator), `resolve` (which kernel fills an entry of the table), `dump` (the entries as text), `explain`
(which registrations lead to them), `guards` (how a program switches keys), `undeclared` (operators that only have
kernels), `registrations` (what is registered), `tagged` (what a tag asks of a schema), `library` (how kernels are
registered), `fallback` (one kernel for all operators), `fast` (fast kernels in front of plain ones), `show` (the
kernels of every call as lines), `trace` (which kernels a call ran), `record` (how a call leaves a record in a
profile), `record_block` (how a piece of a program does), `mode_stack` (which modes are on), `python_fallback` (how a
call reaches `__torch_dispatch__`).

The order in which keys are tried is decided a room below, in `core/keys.py`.

Mirrors: aten/src/ATen/core/dispatch, c10/core/impl/LocalDispatchKeySet.h, torch/library.py
Differs: the table of an operator is a dict from whole key sets to kernels.
"""

from glasstorch.dispatch.trace import trace as trace

__all__ = ["trace"]
