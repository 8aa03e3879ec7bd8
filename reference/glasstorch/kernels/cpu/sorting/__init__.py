"""How are elements put in order and picked by rank on the CPU?

Reading order: `ordering` (a stable order from fast sorts), `sort`, `selecting` (by rank), `equal_elements` (which of
several equal elements is picked).

Mirrors: aten/src/ATen/native/Sorting.cpp, cpu/SortingKernel.cpp
"""
