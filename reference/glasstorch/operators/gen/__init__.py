"""How do the declarations become Python files? Never imported when the library runs.

Reading order: `model` (the declarations), `formulas` (what a derivative needs saved), then one file for each
thing that is emitted: `emit_registry`, `emit_functions`, `emit_methods`, `emit_public`, `emit_autograd`,
`emit_forward`, `emit_inplace_or_view`; last `__main__` (`python -m glasstorch.operators.gen` writes all of them,
`--check` says whether what is committed is fresh) and `regenerate` (one operator again, with another formula).

Mirrors: torchgen, tools/autograd
Differs: the output is Python, formatted, committed, and meant to be read.
"""
