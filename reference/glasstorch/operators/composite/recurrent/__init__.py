"""How are recurrent networks composed of other operators?

Reading order: `cells` (one step), `layers` (all steps of a layer), `networks` (layers in both directions, one above
the other), `sequences` (padding and packing).

Mirrors: aten/src/ATen/native/RNN.cpp, PackedSequence.cpp
"""
