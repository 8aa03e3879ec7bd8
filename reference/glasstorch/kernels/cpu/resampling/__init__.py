"""How are signals, images and volumes sampled anew on the CPU?

Reading order: `taps`, `upsampling`, `grids`.

Mirrors: aten/src/ATen/native/cpu/UpSampleKernel.cpp, GridSamplerKernel.cpp
"""
