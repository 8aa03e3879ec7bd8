"""What shapes and dtypes do sorting and selection by rank return?

Reading order: `sort`, `selecting`.

Mirrors: aten/src/ATen/native/Sorting.cpp (TORCH_META_FUNC)
"""
