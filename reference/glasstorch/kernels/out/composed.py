"""Which operators on matrices, statistics and spectra copy their result into out=, and which may cast it?

Some cast as a sum or product would, others want the result's own dtype. See Note [The ways to write to out=].

Mirrors: the `_out` functions in aten/src/ATen/native/BatchLinearAlgebra.cpp, LinearAlgebra.cpp, ReduceOps.cpp
    (std_var_out, logsumexp_out, diff_out), SpectralOps.cpp, TensorAdvancedIndexing.cpp (take_out)
Differs: nothing in substance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import check_can_cast
from glasstorch.core.return_types import named_result
from glasstorch.kernels.out.copied import COMPOSED, IMPLICIT, copy_out, copy_outs, no_gradient
from glasstorch.kernels.structured import check_no_overlap, resize_output
from glasstorch.operators.direct import on_tensors
from glasstorch.operators.generated.functions import take
from glasstorch.operators.shapes.result import castable

# out= form -> the operator; its result is cast to the dtype of out=
CAST: Final = {
    "diff.out": "diff",
    "kron.out": "kron",
    "linalg_cond.out": "linalg_cond",
    "linalg_cond.p_str_out": "linalg_cond.p_str",
    "linalg_matrix_rank.atol_rtol_float_out": "linalg_matrix_rank.atol_rtol_float",
    "linalg_matrix_rank.atol_rtol_tensor_out": "linalg_matrix_rank.atol_rtol_tensor",
    "linalg_matrix_rank.out": "linalg_matrix_rank",
    "linalg_matrix_rank.out_tol_tensor": "linalg_matrix_rank.tol_tensor",
    "linalg_pinv.atol_rtol_float_out": "linalg_pinv.atol_rtol_float",
    "linalg_pinv.atol_rtol_tensor_out": "linalg_pinv.atol_rtol_tensor",
    "linalg_pinv.out": "linalg_pinv",
    "linalg_pinv.out_rcond_tensor": "linalg_pinv.rcond_tensor",
    "cholesky_solve.out": "cholesky_solve",
    "linalg_tensorinv.out": "linalg_tensorinv",
    "linalg_tensorsolve.out": "linalg_tensorsolve",
    "logsumexp.out": "logsumexp",
    "mvlgamma.out": "mvlgamma",
    "nanmean.out": "nanmean",
    "outer.out": "outer",
    "std.out": "std.dim",
    "var.out": "var.dim",
}

# operators whose out= tensor has exactly the result's dtype
SAME: Final = {
    "argsort.stable_out": "argsort.stable",
    "quantile.scalar_out": "quantile.scalar",
    "nanquantile.scalar_out": "nanquantile.scalar",
    **{f"{name}.out": name for name in ("msort", "quantile", "nanquantile")},
    "norm.Scalar_out": "norm.Scalar",
    "norm.ScalarOpt_dtype_out": "norm.ScalarOpt_dtype",
    "norm.dtype_out": "norm.ScalarOpt_dim_dtype",
    "norm.out": "norm.ScalarOpt_dim",
    "dist.out": "dist",
    "frobenius_norm.out": "frobenius_norm.dim",
    "nuclear_norm.out": "nuclear_norm",
    "nuclear_norm.dim_out": "nuclear_norm.dim",
    "linalg_matrix_norm.str_ord_out": "linalg_matrix_norm.str_ord",
    "linalg_norm.ord_str_out": "linalg_norm.ord_str",
    **{
        f"{name}.out": name
        for name in (
            *("cross", "inner", "take_along_dim", "tensordot"),
            *("linalg_cholesky", "linalg_det", "linalg_eigvals", "linalg_eigvalsh", "linalg_inv"),
            *("linalg_norm", "_euclidean_dist"),
            *("linalg_matrix_norm", "linalg_matrix_power", "linalg_solve", "linalg_svdvals", "linalg_vecdot"),
            "lu_solve",
            *("fft_fft", "fft_ifft", "fft_rfft", "fft_irfft", "fft_hfft", "fft_ihfft"),
            *("fft_fft2", "fft_ifft2", "fft_rfft2", "fft_irfft2", "fft_hfft2", "fft_ihfft2", "fft_hfftn", "fft_ihfftn"),
            *("fft_fftn", "fft_ifftn", "fft_rfftn", "fft_irfftn"),
        )
    },
}

# operators with several results -> how many
SEVERAL: Final = {
    "linalg_eigh.eigvals": 2,
    "linalg_ldl_factor.out": 2,
    "linalg_lu_factor.out": 2,
    "linalg_slogdet.out": 2,
    "linalg_solve_ex.out": 2,
    "linalg_svd.U": 3,
    "qr.Q": 2,
    "slogdet.out": 2,
    "sort.values": 2,
    "svd.U": 3,
}

# Autograd sees these forms, and refuses gradients. Of the others it sees the parts.
LEAVES: Final = frozenset(
    (
        *("cholesky_solve.out", "dist.out", "_euclidean_dist.out", "linalg_eigvals.out", "logsumexp.out"),
        *("linalg_pinv.atol_rtol_tensor_out", "mvlgamma.out", "norm.Scalar_out", "norm.ScalarOpt_dtype_out"),
        *("norm.dtype_out", "norm.out", "sort.values"),
    )
)

# operators whose result keeps its gradient in out=
RECORDED: Final = (
    *("inner", "linalg_cond", "linalg_matrix_norm", "linalg_norm", "linalg_pinv", "linalg_tensorinv"),
    *("linalg_tensorsolve", "nanquantile", "quantile", "tensordot"),
)

LSTSQ: Final = ("solution", "residuals", "rank", "singular_values")


def cast_out(form: str, functional: str) -> None:
    """Register the out= form of an operator whose result may be cast."""
    operator = on_tensors(functional)

    def with_out(*arguments: Any) -> Tensor:
        out: Tensor = arguments[-1]
        result: Tensor = operator(*arguments[:-1])
        check_gradients(form, [result])
        check_can_cast(result.dtype, out.dtype)
        resize_output(out, result._shape)
        out.copy_(result)
        return out

    (COMPOSED if form in LEAVES else IMPLICIT).add(form, with_out)


def same_out(form: str, functional: str) -> None:
    """Register the out= form of an operator whose result has the dtype of out=."""
    operator: Callable[..., Tensor] = on_tensors(functional)

    def with_out(*arguments: Any) -> Tensor:
        *inputs, out = arguments
        result = operator(*inputs)
        check_gradients(form, [result])
        return copy_out(result, out)

    (COMPOSED if form in LEAVES else IMPLICIT).add(form, with_out)


def several_outs(form: str, functional: str) -> None:
    """Register the out= form of an operator with several results, each of its own dtype."""
    operator: Callable[..., Sequence[Tensor]] = on_tensors(functional)

    def with_outs(*arguments: Any) -> Any:
        results = operator(*arguments[: -SEVERAL[form]])
        outs = arguments[-SEVERAL[form] :]
        check_gradients(form, results)
        return named_result(functional, copy_outs(results, outs))

    (COMPOSED if form in LEAVES else IMPLICIT).add(form, with_outs)


def check_gradients(form: str, results: Sequence[Tensor]) -> None:
    """Refuse results with a gradient, unless out= keeps it; a leaf given as out= refuses for itself."""
    if form.partition(".")[0] not in RECORDED and any(result.requires_grad for result in results):
        raise no_gradient(form)


@COMPOSED.impl("linalg_lstsq.out")
def lstsq_out(*arguments: Any) -> Any:
    """The solution and what else is known of it, each cast where its tensor holds more than it."""
    results, outs = on_tensors("linalg_lstsq")(*arguments[:-4]), arguments[-4:]
    cast = []
    for name, result, out in zip(LSTSQ, results, outs, strict=True):
        castable("torch.linalg.lstsq", name)(result.dtype, out.dtype)
        cast.append(result.to(out.dtype))
    return named_result("linalg_lstsq", copy_outs(cast, outs))


@COMPOSED.impl("take.out")
def take_out(self: Tensor, index: Tensor, out: Tensor) -> Tensor:
    """Elements by their number; `out` may share no memory with what is read, also where it is resized."""
    check_no_overlap(out, (index, self))
    return copy_out(take(self, index), out)


for _form, _functional in CAST.items():
    cast_out(_form, _functional)
for _form, _functional in SAME.items():
    same_out(_form, _functional)
for _name in ("chain_matmul", "linalg_multi_dot"):
    same_out(f"{_name}.out", _name)
for _form in SEVERAL:
    several_outs(_form, _form.partition(".")[0])
