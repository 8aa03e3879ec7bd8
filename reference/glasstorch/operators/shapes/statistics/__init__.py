"""What shapes and dtypes do statistics have?

Reading order: `histograms`.

Mirrors: aten/src/ATen/native/Histogram.cpp
"""
