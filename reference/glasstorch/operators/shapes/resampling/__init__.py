"""What shape have tensors that are sampled anew, and which inputs are refused?

Reading order: `upsampling`, `grids`.

Mirrors: aten/src/ATen/native/UpSample.h, GridSamplerUtils.h
"""
