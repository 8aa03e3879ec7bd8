"""What computes the functions of `torch.nn.functional`, kind by kind?

Each calls an operator, and has PyTorch's Python signature: strings such as "mean" are converted to the operator's
numbers here. `nn/functional.py` gathers them.

Reading order: `reduction`, `tuples`, `linear`, `convolution`, `activation`, `dropout`, `padding`, `choice`,
`pooling`, `resampling`, `embedding`, `normalization`, `loss`, `class_loss`, `chunked_loss`, `linear_cross_entropy`,
`pair_loss`, `distance`, `attention`.

Mirrors: torch/nn/functional.py
Differs: a file for each kind of layer.
"""
