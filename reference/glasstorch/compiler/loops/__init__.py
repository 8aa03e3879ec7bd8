"""How does a graph of operators become loops, and loops become machine code?

Reading order: `ir` (buffers, loops), `build` (makes loops), `pointwise`, `reductions`, `composed` (which loops an
operator is), `lower` (from a graph to loops), `nest` and `schedule` (which loops run as one), `elementary.h` and
`cpp_text` (their text in C++), `numpy_blocks` (their form where there is no compiler), `wrapper` (the Python around
them), `machine_code` (compiles and keeps them), `backend` (all of it, in order).

Mirrors: torch/_inductor/
"""
