"""What do factory functions share across backends?

Reading order: `factories` (what every factory function checks), `ranges` (evenly spaced numbers), `windows`.

Mirrors: aten/src/ATen/native/TensorFactories.cpp, RangeFactories.cpp
"""
