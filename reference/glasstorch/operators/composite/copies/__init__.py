"""Which copies and conversions are composed of other operators?

Reading order: `conversions`, `type_queries`.

Mirrors: aten/src/ATen/native/TensorConversions.cpp, TypeProperties.cpp
"""
