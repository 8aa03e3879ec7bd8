"""How do the operators compute on the CPU?

Reading order: `blocks` (arrays processed block by block); then the families: `creation`, `random/`, `pointwise/`,
`special/`, `reductions/`, `scans`, `statistics/`, `sorting/`, `searching`, `unique`, `indexing/`, `joining`,
`transformations/`, `copies`, `complex_numbers`, `matmul/`, `linalg/`, `distances`, `fft`, `softmax`, `loss`.

Mirrors: aten/src/ATen/native/cpu
Differs: NumPy's loops do the arithmetic.
"""
