"""Which operators exist, and what shapes do they give?

Reading order: `families` (how operators are grouped), `native_functions.yaml`, `derivatives.yaml`, `operator_row`,
`shapes/`, `generated/` (functions, methods, the registry), `direct` (calls that bypass the parser), `composite/`
(operators composed of others), `whereabouts` (where to find all of this); `gen/` is the generator, never imported at
run time.

Mirrors: aten/src/ATen/native/native_functions.yaml, tools/autograd/derivatives.yaml, torchgen
Differs: the generated code is Python, and committed.
"""
