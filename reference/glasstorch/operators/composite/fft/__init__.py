"""Which Fourier transforms are made of other operators?

Reading order: `transforms`, `signal_borders` (a signal beyond its ends), `spectrograms`.

Mirrors: aten/src/ATen/native/SpectralOps.cpp
"""
