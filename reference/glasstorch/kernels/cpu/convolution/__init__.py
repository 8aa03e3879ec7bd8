"""How are convolutions computed on the CPU?

Reading order: `problem` (what is to be computed), `products`, `ways` (which can be asked what they would
cost), `operators`.

Mirrors: aten/src/ATen/native/Convolution.cpp, ConvolutionMM2d.cpp, Im2Col.cpp
"""
