"""What is a nested tensor of the jagged layout, and what do operators compute of it?

Reading order: `nested_int` (the size that is a symbol), `nested_tensor` (the class, and how one is made), `rules` (who
answers for an operator), then these by subject: `parts`, `pointwise`, `shapes`, `pieces`, `reductions`, `products`,
`layers`, `copies`; `sdpa` (attention); `functions` (what is answered before dispatch).

Mirrors: torch/nested/_internal
Differs: a rule computes on the values as autograd sees them, so that each gradient is that of the operators it calls.
"""
