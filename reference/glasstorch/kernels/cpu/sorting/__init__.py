"""How are elements sorted and selected by rank on the CPU?

Reading order: `ordering` (a stable order from fast sorts), `sort`, `selecting` (by rank), `equal_elements` (which of
several equal elements is returned).

Mirrors: aten/src/ATen/native/Sorting.cpp, cpu/SortingKernel.cpp
"""
