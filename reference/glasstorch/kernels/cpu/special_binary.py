"""Which loops compute the special functions of two numbers on the CPU?

Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp (xlogy_kernel, xlog1py_kernel, zeta_kernel, igamma_kernel,
    igammac_kernel), aten/src/ATen/native/Math.h
Differs: SciPy's ufuncs are the loops, as in `special`.
"""

from __future__ import annotations

from glasstorch.kernels.cpu.pointwise import DIRECT_FLOATS, FLOATING, Row, binary_kernel, register
from glasstorch.kernels.cpu.special import FULL_PRECISION, by_scipy
from glasstorch.kernels.structured import shape_function
from glasstorch.operators.shapes.promotion import float_result_type

ROWS = {
    "xlogy.Tensor": Row(by_scipy("xlogy"), DIRECT_FLOATS, FLOATING, "xlogy_cpu", float_result_type),
    "special_xlog1py": Row(by_scipy("xlog1py"), DIRECT_FLOATS, FLOATING, "xlog1py_cpu", float_result_type),
    "special_zeta": Row(by_scipy("zeta"), DIRECT_FLOATS, FULL_PRECISION, "zeta_cpu", float_result_type),
    "igamma": Row(by_scipy("gammainc"), DIRECT_FLOATS, FLOATING, "igamma_cpu"),
    "igammac": Row(by_scipy("gammaincc"), DIRECT_FLOATS, FLOATING, "igammac_cpu"),
}

for name, row in ROWS.items():
    register(name, *binary_kernel(shape_function(name), row))
