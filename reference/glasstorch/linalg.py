"""Which linear algebra functions are there?

Mirrors: torch/linalg/__init__.py
Differs: only the functions whose operators exist.
"""

from __future__ import annotations

from glasstorch.core.errors import LinAlgError as LinAlgError
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.operators.generated.functions import linalg_cholesky as cholesky
from glasstorch.operators.generated.functions import linalg_cholesky_ex as cholesky_ex
from glasstorch.operators.generated.functions import linalg_cond as cond
from glasstorch.operators.generated.functions import linalg_cross as cross
from glasstorch.operators.generated.functions import linalg_det as det
from glasstorch.operators.generated.functions import linalg_diagonal as diagonal
from glasstorch.operators.generated.functions import linalg_eig as eig
from glasstorch.operators.generated.functions import linalg_eigh as eigh
from glasstorch.operators.generated.functions import linalg_eigvals as eigvals
from glasstorch.operators.generated.functions import linalg_eigvalsh as eigvalsh
from glasstorch.operators.generated.functions import linalg_householder_product as householder_product
from glasstorch.operators.generated.functions import linalg_inv as inv
from glasstorch.operators.generated.functions import linalg_inv_ex as inv_ex
from glasstorch.operators.generated.functions import linalg_ldl_factor as ldl_factor
from glasstorch.operators.generated.functions import linalg_ldl_factor_ex as ldl_factor_ex
from glasstorch.operators.generated.functions import linalg_ldl_solve as ldl_solve
from glasstorch.operators.generated.functions import linalg_lstsq as lstsq
from glasstorch.operators.generated.functions import linalg_lu as lu
from glasstorch.operators.generated.functions import linalg_lu_factor as lu_factor
from glasstorch.operators.generated.functions import linalg_lu_factor_ex as lu_factor_ex
from glasstorch.operators.generated.functions import linalg_lu_solve as lu_solve
from glasstorch.operators.generated.functions import linalg_matmul as matmul
from glasstorch.operators.generated.functions import linalg_matrix_exp as matrix_exp
from glasstorch.operators.generated.functions import linalg_matrix_norm as matrix_norm
from glasstorch.operators.generated.functions import linalg_matrix_power as matrix_power
from glasstorch.operators.generated.functions import linalg_matrix_rank as matrix_rank
from glasstorch.operators.generated.functions import linalg_multi_dot as multi_dot
from glasstorch.operators.generated.functions import linalg_norm as norm
from glasstorch.operators.generated.functions import linalg_pinv as pinv
from glasstorch.operators.generated.functions import linalg_qr as qr
from glasstorch.operators.generated.functions import linalg_slogdet as slogdet
from glasstorch.operators.generated.functions import linalg_solve as solve
from glasstorch.operators.generated.functions import linalg_solve_ex as solve_ex
from glasstorch.operators.generated.functions import linalg_solve_triangular as solve_triangular
from glasstorch.operators.generated.functions import linalg_svd as svd
from glasstorch.operators.generated.functions import linalg_svdvals as svdvals
from glasstorch.operators.generated.functions import linalg_tensorinv as tensorinv
from glasstorch.operators.generated.functions import linalg_tensorsolve as tensorsolve
from glasstorch.operators.generated.functions import linalg_vander as vander
from glasstorch.operators.generated.functions import linalg_vecdot as vecdot
from glasstorch.operators.generated.functions import linalg_vector_norm as vector_norm

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

__getattr__ = refuse_unknown_names(__name__)
