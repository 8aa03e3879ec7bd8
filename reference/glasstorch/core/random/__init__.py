"""Where do random numbers come from?

Reading order: `engine` (the CPU's random bits), `mersenne_stream`, `philox` (a CUDA device's), `bounds`, `cephes` and
`fused` (arithmetic as PyTorch's), `draws` and `philox_draws` (bits become numbers), `distributions`, `shuffle`,
`generator` (what a program holds).

Mirrors: aten/src/ATen/core/MT19937RNGEngine.h, aten/src/ATen/core/PhiloxRNGEngine.h,
    aten/src/ATen/CPUGeneratorImpl.cpp, aten/src/ATen/core/DistributionsHelper.h
Differs: numbers are drawn for whole arrays.
"""
