"""How do the operators compute on the CPU?

Reading order: `creation`, `random/`, `pointwise/`, `special/`, `reductions/`, `scans`, `statistics`, `sorting/`,
`searching`, `unique`, `indexing/`, `joining`, `transformations`, `copies`, `complex_numbers`, `matmul`, `linalg/`,
`distances`, `fft`, `resampling/`, `activation`, `embedding`, `normalization`, `padding`, `pooling/`, `softmax`,
`attention`, `recurrent`, `convolution/`, `loss/`, `foreach`, `nested`. These are the plain kernels, which define the
answers; `fast/` has what stands in front of them.

Mirrors: aten/src/ATen/native/cpu
Differs: NumPy's loops do the arithmetic.
"""
