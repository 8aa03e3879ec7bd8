"""How does a program add an operator of its own, with everything that operators have?

Reading order: `schemas` (what of a schema decides what may be registered), `infer_schema` (a schema from a function's
annotations), `by_name` (what a name given by a user stands for), `fake_impl` (a kernel that computes no elements),
`autograd` (a gradient as two functions), `autocast`, `custom_ops` (a function as an operator), `registration`
(the same, piece by piece, for an operator that exists), `schema_check` (does a call do what the schema says?),
`opcheck` (is everything registered as it should be?).

A user meets these as `torch.library`.

Mirrors: torch/_library, torch/library.py
"""
