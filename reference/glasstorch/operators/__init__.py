"""Which operators exist, and what shapes do they give?

Reading order: `families` (which belong together), `native_functions.yaml`, `derivatives.yaml`, `operator_row`,
`shapes/`, `generated/` (functions, methods, the registry), `direct` (past the parser), `composite/` (operators made
of operators), `whereabouts` (where is all that for one operator?); `gen/` is the generator, never imported at run
time.

Mirrors: aten/src/ATen/native/native_functions.yaml, tools/autograd/derivatives.yaml, torchgen
Differs: Python is generated, and committed.
"""
