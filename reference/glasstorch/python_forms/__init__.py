"""Which Python functions and methods are more than a call of one operator?

Reading order: `indexing`, `conversion` and `conversion_methods`, `tensor_types`, `cuda_tensor_types`,
`sparse_tensor_types`, `fact_functions`, `layouts`, `norm`, `lu`, `unique`, `nonzero`, `stft`, `range`, `unravel`,
`contraction` (of einsum), `python_functions` (apply_, map_), `namespace`, `protocols` (bool, len ...), `reflected`
(operators), `places`, `gradients`, `pickling`, `subclasses`, `sparse_tensors`, `compressed_tensors`, `old_methods`.

Mirrors: torch/functional.py, torch/_tensor.py, torch/csrc/autograd/python_variable_indexing.cpp,
    tools/autograd/templates/python_variable_methods.cpp
Differs: each form is a file.
"""
