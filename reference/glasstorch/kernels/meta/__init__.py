"""What do operators compute for meta tensors, which have sizes but no data?

Reading order: `shapes` (every operator with a shape function, which is most of them); then those without one:
`creation`, `random`, `indexing`, `transformations`, `copies`, `foreach`, `nested`; `refusals` (operators whose result
sizes depend on data), `decomposed` (those that the kernel for all backends serves).

Mirrors: torch/_meta_registrations.py, aten/src/ATen/RegisterMeta.cpp
"""
