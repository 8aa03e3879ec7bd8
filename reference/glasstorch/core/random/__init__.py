"""Where do random numbers come from?

Reading order: `engine` (the CPU's random bits), `mersenne_stream`, `philox` (a CUDA device's), `bounds`, `cephes` and
`fused` (arithmetic that matches PyTorch's), `draws` and `philox_draws` (from bits to numbers), `distributions`,
`single_draws` and `rejection` (numbers that need an unknown number of bits), `shuffle`, `generator` (the user's
object).

Mirrors: aten/src/ATen/core/MT19937RNGEngine.h, aten/src/ATen/core/PhiloxRNGEngine.h,
    aten/src/ATen/CPUGeneratorImpl.cpp, aten/src/ATen/core/DistributionsHelper.h
Differs: numbers are drawn for whole arrays.
"""
