"""How do the declarations become Python files, and C++ headers? Never imported when the library runs.

Reading order: `model` (the declarations), `formulas` (what a derivative needs saved), then one file for each
thing that is emitted: `emit_registry`, `emit_functions`, `emit_methods`, `emit_public`, `emit_stubs`,
`emit_autograd`, `emit_forward`, `emit_inplace_or_view`, `emit_cpp` (headers of C++); last `__main__`, which writes all
of them (`python -m glasstorch.operators.gen`) or says whether what is committed is fresh (`--check`), and `regenerate`
(one operator again, with another formula).

Mirrors: torchgen, tools/autograd
Differs: the output is mostly Python, formatted, committed, and meant to be read.
"""
