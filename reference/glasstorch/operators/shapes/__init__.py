"""What shape, dtype and strides does an operator's result have?

One function for each rule; `native_functions.yaml` names it in `shape:`. It takes all arguments of the operator in
schema order, checks them (with PyTorch's errors), and returns a `Result`, or a tuple of them. Nothing is computed.

Reading order: `result`, `promotion`, `scalars`; then the families: `random`, `pointwise/`, `special`, `reductions/`,
`scans`, `statistics/`, `sorting/`, `searching`, `indexing/`, `joining`, `transformations/`, `complex_numbers`,
`matmul`, `linalg/`, `distances`, `fft`, `resampling/`, `activation`, `embedding`, `normalization`, `padding`,
`pooling/`, `softmax`, `attention`, `recurrent`, `convolution`, `loss/`.

Mirrors: TORCH_META_FUNC in aten/src/ATen/native (structured kernels), torch/_meta_registrations.py
Differs: pure functions of the arguments.
"""
