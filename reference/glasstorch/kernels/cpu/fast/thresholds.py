"""From which sizes does each fast path pay?

Each row is one number, its unit, and what it decides. All were measured on x86-64 with 2 MB of second-level cache a
core; the benchmark of the function that reads a row shows what it is worth. Read as `thresholds.NAME` when a kernel
runs, so that another value can be tried.

Mirrors: at::internal::GRAIN_SIZE (aten/src/ATen/Parallel.h) and the constants of aten/src/ATen/native/cpu
"""

from __future__ import annotations

# Blocks, in elements
BLOCK = 1 << 15  # a few arrays of this size fit into the second-level cache
WIDE_BLOCK = 1 << 14  # of a block that is copied first, mostly to a dtype of twice the size
STRIP = 1 << 16  # of a strip of whole lines: lines may be long, and reads across them should come in runs

# Scans
SCAN_BY_ROWS_FROM = 16  # inner elements: adding one row to the running totals pays
SCAN_TURNED_FROM = 256  # lines: transposing them, and one NumPy call a column, pays
SCAN_TURNED_BLOCK = 1 << 16  # elements that are transposed at a time
SCAN_TURNED_COLUMNS = 64  # columns of them
RUNNING_EXTREMUM_WHOLE_UP_TO = 1 << 20  # elements: cumulative extrema need no strips
COMPLEX_SCAN_SPLIT_FROM = 64  # elements of a line of complex numbers: it is split, if there are no more lines than that

# Half precision, in elements
HALF_TABLE_FROM = 1 << 18  # a table of a function's 65,536 values pays
HALF_BLOCKS_FROM = 1 << 13  # a dozen calls a block are faster than NumPy's conversion

# Softmax
SOFTMAX_TRANSPOSED_UP_TO = 64  # size of the dimension: a block is transposed
SOFTMAX_SHARED_MAXIMUM_WITHIN = 4.0  # difference of maxima: rows subtract one maximum, exponentials lose no digits

# Distances
CDIST_BATCHED_FROM = 16  # matrices per block: a batch is processed together

# Fourier transforms
FFT_THREADS_FROM = 1 << 15  # elements: several threads are faster than one

# Products of matrices
INTEGERS_DIRECT_UP_TO = 1 << 13  # multiplications of integers: two conversions to float64 do not pay
