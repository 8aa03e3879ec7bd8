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

# Pointwise loops, in elements
TWO_THREADS_FROM = 1 << 18  # two threads share a loop
CHOICE_OF_BITS_FROM = (1 << 11) + 1  # selecting by arithmetic is faster than NumPy's `where`

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

# Reductions
SUMMED_AT_ONCE_UP_TO = 1 << 14  # numbers: NumPy adds them faster than their layout is analysed
SUMMED_ROWS = 256  # rows that are added one after another before their sum is added to other sums
SUMMED_PIECE = 1024  # contiguous numbers that are added before their sum is added to other sums
LANES = 1 << 10  # rows, or partial products, that one NumPy call advances together
PRODUCT_BLOCK = 1 << 17  # elements of a block in which rows are multiplied pairwise
MULTIPLIED_IN_TURN_UP_TO = 16  # elements of a row that are multiplied one after another

# Indexing
COPY_BELOW_RATIO = 4  # a non-contiguous tensor is copied, unless it is this many times larger than the result
ROUNDS_FROM_WIDTH = 16  # contiguous elements of a slice: slices are processed in rounds
ROUNDS_BELOW_WIDTH = 256  # elements of a slice: each target that is left is reduced by itself
ROUND_FROM = 24  # slices: a round is cheaper than one target after another
ROUNDS_UP_TO_REPEATS = 40  # slices per target: rounds are cheaper than one target after another

# Sorting
ARGSORT_UP_TO = 1 << 10  # elements: NumPy's stable argsort is used

# Special functions and division
SAMPLED_FROM = 1 << 10  # float32 numbers: lines between samples are faster than SciPy's function
NAN_CHECKED_EVERY = 64  # degrees of a recurrence between checks whether all remaining values are NaN, and stay so
DIVISION_IN_DOUBLE_FROM = 512  # float32 numbers: a dozen NumPy calls are faster than the one that calls fmod

# Softmax
SOFTMAX_ROWS = 1 << 18  # elements of a block of whole rows: fewer blocks, each of which makes a scratch array
SOFTMAX_TRANSPOSED_UP_TO = 32  # size of the dimension: a block is transposed
SOFTMAX_SHARED_MAXIMUM_WITHIN = 4.0  # difference of maxima: rows subtract one maximum, exponentials lose no digits

# Normalization, in elements
NORMALIZED_BLOCK = 1 << 17  # a block of rows, its distances from the mean and its result
NORMALIZED_BY_A_THREAD = 1 << 19  # of what a thread gets at least
NORMALIZED_COLUMNS_FROM = 256  # of a row: NumPy adds the columns as fast as BLAS
NORMALIZED_PLACES_FROM = 16  # of a channel: NumPy's loops along them are long enough

# Resampling, in elements
GRID_BY_IMAGES_FROM = 1 << 12  # that are read of an image: its calls of NumPy pay

# Distances
CDIST_BATCHED_FROM = 16  # matrices per block: a batch is processed together

# Fourier transforms
FFT_THREADS_FROM = 1 << 15  # elements: several threads are faster than one

# Products of matrices
OUTER_COLUMNS_FROM = 16  # columns of products of columns and rows: NumPy multiplies them faster than BLAS does
INTEGERS_DIRECT_UP_TO = 1 << 13  # multiplications of integers: two conversions to float64 do not pay

# Linear algebra
MATRICES_TOGETHER_TO = 16  # rows and columns up to which a batch is processed as a whole
MATRICES_TOGETHER_FROM = 16  # matrices from which it is
MATRICES_IN_BLOCK = 1024  # matrices eliminated at a time: they stay in cache
GATHERED_TO = 512  # elements of a matrix up to which the results for many are collected, and copied by one call

# Convolutions
CONVOLUTION_BLOCK = 1 << 17  # elements of the columns that are multiplied at a time: they stay in cache
CONVOLUTION_COLUMNS = 256  # columns of them at least: fewer do not pay for arranging the weight once more
CONVOLUTION_SIDE_BY_SIDE_BELOW = 24  # elements of a row of the result: several images are laid side by side
CONVOLUTION_RUN = 1 << 9  # elements of a row of those, at most
CONVOLUTION_LAID_UP_TO = 1 << 17  # elements of a weight whose gradient is computed as its transpose
CONVOLUTION_TILE = 1 << 13  # elements of a matrix that are transposed at a time
CONVOLUTION_TRANSFORMED_UP_TO = 1 << 24  # elements of all images and kernels whose Fourier transforms are kept at once

# Steps of optimizers, in elements
STEP_BLOCK = 1 << 15  # of a block: six arrays of single precision fit into the second-level cache
STEP_GATHERED_UP_TO = 1 << 11  # of a parameter that is copied into a block with others, and back
