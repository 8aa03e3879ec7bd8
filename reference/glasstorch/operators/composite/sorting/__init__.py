"""Which operators of sorting and selection are composed of others?

Reading order: `sort`, `quantile`.

Mirrors: aten/src/ATen/native/Sorting.cpp
"""
