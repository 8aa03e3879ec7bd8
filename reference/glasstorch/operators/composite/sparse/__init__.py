"""Which operators of sparse tensors are composed of other operators, by layout?

Reading order: `coo` (and what all sparse layouts share: their names in errors, when a conversion is refused),
`compressed` (CSR, CSC, BSR and BSC).

Mirrors: aten/src/ATen/native/sparse, aten/src/ATen/native/TensorConversions.cpp
"""
