"""How do the operators compute in main memory?

Reading order: `creation`, `copies`, `random`, `pointwise` and what stands beside it, `reductions`, `matmul`, `joining`,
`transformations`, `triangles`, `indexing`, `accumulation`, `index_along`, `scattering`, `placing`, `loss`.

Mirrors: aten/src/ATen/native/cpu
Differs: NumPy's loops do the arithmetic.
"""
