"""Which statistics are made of other operators?

Reading order: `correlation`, `histograms`.

Mirrors: aten/src/ATen/native/Correlation.cpp, Histogram.cpp
"""
