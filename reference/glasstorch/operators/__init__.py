"""Which operators exist, and what shapes do they give?

Reading order: `native_functions.yaml`, `derivatives.yaml`, `arguments`, `signature` and `parser` (what a Python call
means), `shapes/`, `composite/` (operators made of operators), `indexing`, `operator_row`, `generated/` (functions,
methods, the registry), `whereabouts` (where is all that for one operator?); `gen/` is the generator, never imported at
run time.

Mirrors: aten/src/ATen/native/native_functions.yaml, tools/autograd/derivatives.yaml, torchgen
Differs: Python is generated, and committed.
"""
