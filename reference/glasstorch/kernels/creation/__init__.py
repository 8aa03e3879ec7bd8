"""What do the backends share that make new tensors?

Reading order: `factories` (what every factory function checks), `ranges` (the numbers that are counted), `windows`.

Mirrors: aten/src/ATen/native/TensorFactories.cpp, RangeFactories.cpp
"""
