"""How are the plain kernels made fast?

A module stands in front of the plain file or folder of its name, and each of its functions in front of a plain function
that it names: blocks that stay in cache, strips of whole lines, tables of all values, sampled functions, threads, and
short paths for the arguments that most calls have.

Reading order: `thresholds` (from which sizes each of them pays), `blocks`, `iterator`, `halves`; then the families:
`pointwise/`, `special/`, `reductions`, `scans`, `statistics`, `sorting`, `searching`, `indexing`, `joining`,
`transformations`, `copies`, `matmul`, `linalg`, `distances`, `fft`, `softmax`, `attention`, `activation`,
`convolution`, `pooling`, `resampling`, `normalization`, `recurrent`, `loss`, `foreach`.

Without this folder everything gives the plain kernels' results: Note [Plain and fast] (dispatch/fast.py).

Mirrors: what aten/src/ATen/native/cpu compiles for each kind of vector instructions
Differs: NumPy's loops have the vectors; what is left to do is to keep intermediates in cache and to call NumPy rarely.
"""
