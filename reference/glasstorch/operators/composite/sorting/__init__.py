"""Which ways of sorting and picking by rank are made of others?

Reading order: `sort`, `quantile`.

Mirrors: aten/src/ATen/native/Sorting.cpp
"""
