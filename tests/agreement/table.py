"""What does every operator compute? One row each, read by every oracle.

A row says it with NumPy. Its calls hold the cases that matter: broadcasting, sizes 0 and 1, other layouts in memory,
mixed dtypes. The rows stand in a file for each family of operators. `test_coverage.py` says which operators may do
without a row, and why.
"""

from __future__ import annotations

from tests.agreement.rows import (
    activation,
    aliases,
    attention,
    calculus,
    complex_numbers,
    convolution,
    copies,
    creation,
    distances,
    dropout,
    embedding,
    fft,
    indexing,
    joining,
    linalg,
    loss,
    matmul,
    normalization,
    padding,
    pointwise,
    pooling,
    recurrent,
    reductions,
    resampling,
    scans,
    searching,
    softmax,
    sorting,
    special,
    statistics,
    transformations,
    views,
)
from tests.agreement.samples import Row

OWN: tuple[Row, ...] = (
    *creation.ROWS,
    *pointwise.ROWS,
    *special.ROWS,
    *reductions.ROWS,
    *scans.ROWS,
    *statistics.ROWS,
    *calculus.ROWS,
    *sorting.ROWS,
    *searching.ROWS,
    *indexing.ROWS,
    *views.ROWS,
    *joining.ROWS,
    *transformations.ROWS,
    *padding.ROWS,
    *resampling.ROWS,
    *copies.ROWS,
    *complex_numbers.ROWS,
    *matmul.ROWS,
    *linalg.ROWS,
    *distances.ROWS,
    *fft.ROWS,
    *activation.ROWS,
    *dropout.ROWS,
    *softmax.ROWS,
    *attention.ROWS,
    *recurrent.ROWS,
    *embedding.ROWS,
    *normalization.ROWS,
    *pooling.ROWS,
    *convolution.ROWS,
    *loss.ROWS,
)
ROWS: tuple[Row, ...] = (*OWN, *aliases.rows_of_aliases(OWN))
