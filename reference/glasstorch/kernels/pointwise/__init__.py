"""How is a pointwise operator computed, on every backend at once?

Reading order: `formulas` (the table: one line for each operator), `activation` (its rows for the functions between
layers), `expression` (how such a line is read),
`vocabulary` (how each backend spells the functions in it), `numpy_loops` and `cuda_text` (what is written from it for
the CPU and for CUDA; `jit/codegen/formulas.py` writes the steps of fused loops), `dtypes`.

Mirrors: torch/_refs and torch/_inductor/lowering.py, where an operator is defined once for several backends;
    aten/src/ATen/native/cuda/jit_utils.cpp (one expression, compiled as a kernel)
"""
