"""How is it computed for tensors whose rows or columns are compressed (CSR, CSC, BSR, BSC)?

Reading order: `tensors` (what every kernel asks about such a tensor), `conversion` (from and to all other layouts);
then, by family: `creation`, `copies`, `pointwise`, `reductions`, `views`, `matmul`,
`reduced_products`.

Mirrors: aten/src/ATen/native/sparse (SparseCsrTensor.cpp, SparseCsrTensorMath.cpp), aten/src/ATen/native/mkl
Differs: one key for all four layouts, as in PyTorch; `torch.layout` tells them apart. SciPy multiplies.
"""
