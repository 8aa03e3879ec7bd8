"""How are windows of tensors reduced to one element each on the CPU?

Reading order: `places` (which elements a window reads), `maxima`, `averages`, `unpooling`.

Mirrors: aten/src/ATen/native/DilatedMaxPool2d.cpp, AveragePool2d.cpp, AdaptiveAveragePooling.cpp,
    FractionalMaxPool2d.cpp, MaxUnpooling.cpp, cpu/MaxPoolKernel.cpp, cpu/AvgPoolKernel.cpp
"""
