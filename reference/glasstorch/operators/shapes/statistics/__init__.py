"""What do the statistics give that have shape functions?

Reading order: `histograms`.

Mirrors: aten/src/ATen/native/Histogram.cpp
"""
