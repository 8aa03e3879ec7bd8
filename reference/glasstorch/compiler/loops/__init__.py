"""How does a graph of operators become loops, and loops become machine code?

Reading order: `settings` (what can be chosen), `ir` (buffers, loops), `build` (makes loops), `pointwise`, `reductions`,
`scans`, `composed` (which loops an operator is), `folding` (what is known beforehand), `lower` (from a graph to loops),
`nest` and `schedule` (which loops run as one), `elementary.h` and `cpp_text` (their text in C++), `numpy_blocks` (their
form where there is no compiler), `symbol_text` (how sizes are written that are symbols), `cuda_prelude.h` and
`cuda_text` (their text for a CUDA device), `reuse` (what is written over), `products` (which products of matrices are
computed in blocks), `wrapper` (the Python around them), `cache` (keeps machine code), `artifacts` (takes it to another
machine), `machine_code` (compiles and loads it), `cuda_launch` (the same for a device), `backend` (all of it, in
order).

Mirrors: torch/_inductor/
"""
