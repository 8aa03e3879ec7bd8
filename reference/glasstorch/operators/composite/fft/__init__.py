"""Which Fourier transforms are composed of other operators?

Reading order: `transforms`, `signal_borders` (padding of signals), `spectrograms`.

Mirrors: aten/src/ATen/native/SpectralOps.cpp
"""
