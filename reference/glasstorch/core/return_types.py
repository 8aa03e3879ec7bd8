"""What do operators with several named results return?

Mirrors: torch/csrc/utils/structseq.cpp, torch/return_types.py
Differs: subclasses of tuple written out, where PyTorch makes struct sequences from the schemas. The out= forms
    return the same types; PyTorch has further ones (`max_out`).
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


class NamedResults(tuple[Any, ...]):
    """A tuple whose elements also have names.

    >>> max((3.0, 1)).indices
    1
    >>> max((3.0, 1))
    torch.return_types.max(
    values=3.0,
    indices=1)
    """

    __slots__ = ()
    fields: ClassVar[tuple[str, ...]] = ()

    n_fields: ClassVar[int] = 0  # as a struct sequence of C says it
    n_sequence_fields: ClassVar[int] = 0
    n_unnamed_fields: ClassVar[int] = 0

    def __init_subclass__(cls) -> None:
        cls.n_fields = cls.n_sequence_fields = len(cls.fields)
        for position, name in enumerate(cls.fields):
            setattr(cls, name, property(itemgetter(position)))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self),)

    def __repr__(self) -> str:
        lines = ",\n".join(f"{name}={value!r}" for name, value in zip(self.fields, self, strict=True))
        return f"torch.return_types.{type(self).__name__}(\n{lines})"


class max(NamedResults):
    """The largest elements along a dimension and their indices."""

    __slots__ = ()
    fields = ("values", "indices")
    values: Tensor
    indices: Tensor


class min(NamedResults):
    """The smallest elements along a dimension and their indices."""

    __slots__ = ()
    fields = ("values", "indices")
    values: Tensor
    indices: Tensor


class sort(NamedResults):
    """The elements sorted along a dimension and the indices they had."""

    __slots__ = ()
    fields = ("values", "indices")
    values: Tensor
    indices: Tensor


def _named(name: str, *fields: str) -> type[NamedResults]:
    """A type of results with these field names."""
    members = {"__slots__": (), "fields": fields, "__module__": __name__, "__doc__": f"{', '.join(fields)}."}
    return type(name, (NamedResults,), members)


frexp = _named("frexp", "mantissa", "exponent")
histogram = _named("histogram", "hist", "bin_edges")
histogramdd = _named("histogramdd", "hist", "bin_edges")
topk = _named("topk", "values", "indices")
kthvalue = _named("kthvalue", "values", "indices")
median = _named("median", "values", "indices")
nanmedian = _named("nanmedian", "values", "indices")
mode = _named("mode", "values", "indices")
linalg_cholesky_ex = _named("linalg_cholesky_ex", "L", "info")
linalg_inv_ex = _named("linalg_inv_ex", "inverse", "info")
linalg_slogdet = _named("linalg_slogdet", "sign", "logabsdet")
linalg_eig = _named("linalg_eig", "eigenvalues", "eigenvectors")
linalg_eigh = _named("linalg_eigh", "eigenvalues", "eigenvectors")
linalg_qr = _named("linalg_qr", "Q", "R")
linalg_svd = _named("linalg_svd", "U", "S", "Vh")
linalg_solve_ex = _named("linalg_solve_ex", "result", "info")
linalg_lu_factor = _named("linalg_lu_factor", "LU", "pivots")
linalg_lu_factor_ex = _named("linalg_lu_factor_ex", "LU", "pivots", "info")
linalg_lu = _named("linalg_lu", "P", "L", "U")
lu_unpack = _named("lu_unpack", "P", "L", "U")
_lu_with_info = _named("_lu_with_info", "LU", "pivots", "info")
linalg_ldl_factor = _named("linalg_ldl_factor", "LD", "pivots")
linalg_ldl_factor_ex = _named("linalg_ldl_factor_ex", "LD", "pivots", "info")
linalg_lstsq = _named("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
geqrf = _named("geqrf", "a", "tau")
qr = _named("qr", "Q", "R")
svd = _named("svd", "U", "S", "V")
slogdet = _named("slogdet", "sign", "logabsdet")
triangular_solve = _named("triangular_solve", "solution", "cloned_coefficient")

aminmax = _named("aminmax", "min", "max")
cummax = _named("cummax", "values", "indices")
cummin = _named("cummin", "values", "indices")

RETURN_TYPES: dict[str, type[NamedResults]] = {
    "max.dim": max,
    "min.dim": min,
    "aminmax": aminmax,
    "cummax": cummax,
    "cummin": cummin,
    "sort": sort,
    "sort.stable": sort,
    "topk": topk,
    "histogram.bins_tensor": histogram,
    "histogram.bin_ct": histogram,
    "histogramdd": histogramdd,
    "histogramdd.int_bins": histogramdd,
    "histogramdd.TensorList_bins": histogramdd,
    "kthvalue": kthvalue,
    "median.dim": median,
    "nanmedian.dim": nanmedian,
    "mode": mode,
    "frexp.Tensor": frexp,
    "linalg_cholesky_ex": linalg_cholesky_ex,
    "linalg_inv_ex": linalg_inv_ex,
    "linalg_slogdet": linalg_slogdet,
    "linalg_eig": linalg_eig,
    "linalg_eigh": linalg_eigh,
    "linalg_qr": linalg_qr,
    "linalg_svd": linalg_svd,
    "linalg_solve_ex": linalg_solve_ex,
    "linalg_lu_factor": linalg_lu_factor,
    "linalg_lu_factor_ex": linalg_lu_factor_ex,
    "linalg_lu": linalg_lu,
    "lu_unpack": lu_unpack,
    "_lu_with_info": _lu_with_info,
    "linalg_ldl_factor": linalg_ldl_factor,
    "linalg_ldl_factor_ex": linalg_ldl_factor_ex,
    "linalg_lstsq": linalg_lstsq,
    "geqrf": geqrf,
    "qr": qr,
    "svd": svd,
    "slogdet": slogdet,
    "triangular_solve": triangular_solve,
}


def named_result(operator: str, results: Iterable[Any]) -> tuple[Any, ...]:
    """An operator's results in the type that it returns: one with field names, or a plain tuple."""
    return RETURN_TYPES.get(operator, tuple)(results)
