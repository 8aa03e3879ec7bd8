"""What shape and dtype do pooled tensors have, and which inputs are refused?

Reading order: `windows` (how many windows fit), `sliding`, `adaptive`, `fractional`, `unpooling`.

Mirrors: aten/src/ATen/native/Pool.h, AveragePool2d.cpp, DilatedMaxPool2d.cpp, AdaptiveAveragePooling.cpp,
    FractionalMaxPool2d.cpp, MaxUnpooling.cpp
"""
