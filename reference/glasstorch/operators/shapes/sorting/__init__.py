"""What does sorting and picking by rank give?

Reading order: `sort`, `selecting`.

Mirrors: aten/src/ATen/native/Sorting.cpp (TORCH_META_FUNC)
"""
