"""How are the statistics computed on the CPU that have kernels of their own?

Reading order: `histograms`.

Mirrors: aten/src/ATen/native/Histogram.cpp, cpu/HistogramKernel.cpp, SummaryOps.cpp
"""
