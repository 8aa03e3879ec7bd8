"""How are statistics with their own kernels computed on the CPU?

Reading order: `histograms`.

Mirrors: aten/src/ATen/native/Histogram.cpp, cpu/HistogramKernel.cpp, SummaryOps.cpp
"""
