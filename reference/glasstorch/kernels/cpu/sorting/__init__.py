"""How are elements sorted and selected by rank on the CPU?

Reading order: `sort`, `equal_elements` (which of several equal elements is selected), `selecting` (by rank).

Mirrors: aten/src/ATen/native/Sorting.cpp, cpu/SortingKernel.cpp
"""
