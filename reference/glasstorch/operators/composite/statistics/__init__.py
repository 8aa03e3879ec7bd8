"""Which statistics are composed of other operators?

Reading order: `correlation`, `histograms`.

Mirrors: aten/src/ATen/native/Correlation.cpp, Histogram.cpp
"""
