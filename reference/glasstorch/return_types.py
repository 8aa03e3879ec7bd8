"""Which types do operators with named results return?

Mirrors: torch/return_types.py
Differs: re-exports of core/return_types.py.
"""

from glasstorch.core.return_types import aminmax as aminmax
from glasstorch.core.return_types import cummax as cummax
from glasstorch.core.return_types import cummin as cummin
from glasstorch.core.return_types import geqrf as geqrf
from glasstorch.core.return_types import histogram as histogram
from glasstorch.core.return_types import histogramdd as histogramdd
from glasstorch.core.return_types import kthvalue as kthvalue
from glasstorch.core.return_types import linalg_cholesky_ex as linalg_cholesky_ex
from glasstorch.core.return_types import linalg_eig as linalg_eig
from glasstorch.core.return_types import linalg_eigh as linalg_eigh
from glasstorch.core.return_types import linalg_inv_ex as linalg_inv_ex
from glasstorch.core.return_types import linalg_ldl_factor as linalg_ldl_factor
from glasstorch.core.return_types import linalg_ldl_factor_ex as linalg_ldl_factor_ex
from glasstorch.core.return_types import linalg_lstsq as linalg_lstsq
from glasstorch.core.return_types import linalg_lu as linalg_lu
from glasstorch.core.return_types import linalg_lu_factor as linalg_lu_factor
from glasstorch.core.return_types import linalg_lu_factor_ex as linalg_lu_factor_ex
from glasstorch.core.return_types import linalg_qr as linalg_qr
from glasstorch.core.return_types import linalg_slogdet as linalg_slogdet
from glasstorch.core.return_types import linalg_solve_ex as linalg_solve_ex
from glasstorch.core.return_types import linalg_svd as linalg_svd
from glasstorch.core.return_types import lu_unpack as lu_unpack
from glasstorch.core.return_types import max as max
from glasstorch.core.return_types import median as median
from glasstorch.core.return_types import min as min
from glasstorch.core.return_types import mode as mode
from glasstorch.core.return_types import nanmedian as nanmedian
from glasstorch.core.return_types import qr as qr
from glasstorch.core.return_types import slogdet as slogdet
from glasstorch.core.return_types import sort as sort
from glasstorch.core.return_types import svd as svd
from glasstorch.core.return_types import topk as topk
from glasstorch.core.return_types import triangular_solve as triangular_solve
