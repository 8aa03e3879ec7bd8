"""What does an operator do where tensors have sizes and no data?

Reading order: `shapes` (every operator with a shape function, which is most of them); then what has none: `creation`,
`random`, `indexing`, `transformations`, `copies`; `refusals` (what has sizes that only data can tell).

Mirrors: torch/_meta_registrations.py, aten/src/ATen/RegisterMeta.cpp
"""
