"""What do factory functions share across backends?

Reading order: `factories` (what every factory function checks), `ranges` (evenly spaced numbers), `windows`,
`known_memory` (what is in new memory, if a program asks for that).

Mirrors: aten/src/ATen/native/TensorFactories.cpp, RangeFactories.cpp
"""
