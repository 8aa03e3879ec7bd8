"""How are convolutions computed on the CPU?

Reading order: `problem` (what is to be computed, and the ways to do it), `products`, `operators`.

Mirrors: aten/src/ATen/native/Convolution.cpp, ConvolutionMM2d.cpp, Im2Col.cpp
"""
