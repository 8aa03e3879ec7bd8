"""What do the operators of the family special compute?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from tests.agreement.samples import FLOAT, FLOATS, NUMBERS, PROMOTED, Row, call, row, t

Array = np.ndarray[Any, Any]
FULL = ("float32", "float64", "int64", "bool")  # those of PyTorch's kernels that know no half precision
ROUGH = (
    "float32",
    "float16",
    "bfloat16",
)  # where PyTorch's float64 is not: tests/kernels/cpu/special/test_functions.py
ANYWHERE = (call(t(2, 3)), call(t()), call(t(3, 2, layout="transposed")))
POSITIVE = (call(t(2, 3, low=1, high=3)), call(t(0, 2)), call(t(3, 2, low=1, high=3, layout="stepped")))
SHARES = (call(t(2, 3, low=0.1, high=1)), call(t(3, 2, low=0.1, high=1, layout="transposed")))
TWO = (call(t(2, 3, low=1, high=4), t(3, low=1, high=3)), call(t(2, low=1, high=4), t(2, low=2, dtype="float32")))
LEFT = (call(2, t(2, 3, low=1, high=3)),)
RIGHT = (call(t(2, 3, low=2, high=4), 2), call(t(3, 2, low=2, high=4, layout="transposed"), 1.5))


def mvlgamma(x: Array, p: int) -> Array:
    return sum(special.gammaln(x - k / 2) for k in range(p)) + p * (p - 1) / 4 * np.log(np.pi)


def logit(x: Array, eps: float | None = None) -> Array:
    return special.logit(x if eps is None else np.clip(x, eps, 1 - eps))


UNARY: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[str, ...]]] = {
    "erf": (special.erf, ANYWHERE, NUMBERS),
    "erfc": (special.erfc, ANYWHERE, NUMBERS),
    "erfinv": (special.erfinv, SHARES, FLOATS),
    "lgamma": (special.gammaln, POSITIVE, NUMBERS),
    "digamma": (special.psi, POSITIVE, NUMBERS),
    "i0": (special.i0, ANYWHERE, NUMBERS),
    "sinc": (np.sinc, ANYWHERE, FLOATS),
    "special_entr": (special.entr, POSITIVE, NUMBERS),
    "special_erfcx": (special.erfcx, ANYWHERE, FULL),
    "special_i0e": (special.i0e, ANYWHERE, NUMBERS),
    "special_i1": (special.i1, ANYWHERE, NUMBERS),
    "special_i1e": (special.i1e, ANYWHERE, NUMBERS),
    "special_log_ndtr": (special.log_ndtr, ANYWHERE, FULL),
    "special_ndtr": (special.ndtr, ANYWHERE, NUMBERS),
    "special_ndtri": (special.ndtri, SHARES, FULL[:2]),
}
WITHOUT_DERIVATIVE: dict[str, Callable[..., Any]] = {
    "airy_ai": lambda x: special.airy(x)[0],
    "bessel_j0": special.j0,
    "bessel_j1": special.j1,
    "bessel_y0": special.y0,
    "bessel_y1": special.y1,
    "modified_bessel_i0": special.i0,
    "modified_bessel_i1": special.i1,
    "modified_bessel_k0": special.k0,
    "modified_bessel_k1": special.k1,
    "scaled_modified_bessel_k0": special.k0e,
    "scaled_modified_bessel_k1": special.k1e,
    "spherical_bessel_j0": lambda x: special.spherical_jn(0, x),
}
POLYNOMIALS: dict[str, Callable[..., Any]] = {
    "chebyshev_polynomial_t": lambda x, n: special.eval_chebyt(n, x),
    "chebyshev_polynomial_u": lambda x, n: special.eval_chebyu(n, x),
    "chebyshev_polynomial_v": lambda x, n: special.eval_chebyu(n, x) - special.eval_chebyu(n - 1, x),
    "chebyshev_polynomial_w": lambda x, n: special.eval_chebyu(n, x) + special.eval_chebyu(n - 1, x),
    "hermite_polynomial_h": lambda x, n: special.eval_hermite(n, x),
    "hermite_polynomial_he": lambda x, n: special.eval_hermitenorm(n, x),
    "laguerre_polynomial_l": lambda x, n: special.eval_laguerre(n, x),
    "legendre_polynomial_p": lambda x, n: special.eval_legendre(n, x),
}
KINDS = [("", name, oracle) for name, oracle in POLYNOMIALS.items()] + [
    ("shifted_", name, lambda x, n, oracle=oracle: oracle(2 * x - 1, n))
    for name, oracle in POLYNOMIALS.items()
    if name.startswith("chebyshev")
]
DEGREES = t(2, 3, low=0, high=5, dtype="int64", grad=False)
HIGH = t(3, low=10, high=12, dtype="int64", grad=False)


ROWS: tuple[Row, ...] = (
    *(row(name, function, *calls, dtypes=dtypes, result=FLOAT, tolerance=4, cuda=name != "special_ndtr")
      for name, (function, calls, dtypes) in UNARY.items()),
    *(row(f"special_{name}", function, *POSITIVE, dtypes=ROUGH[:1] if name.startswith("bessel") else FULL,
          result=FLOAT, tolerance=4, differentiable=False)
      for name, function in WITHOUT_DERIVATIVE.items()),
    row("logit", logit, *SHARES, call(t(3, low=0.05, high=0.95), 0.2), dtypes=FLOATS, result=FLOAT, tolerance=4),
    row("polygamma", special.polygamma, *(call(n, t(2, 3, low=1, high=3)) for n in (0, 2, 5)),
        call(1, t(2, 3, low=1, high=3), dtypes=ROUGH), dtypes=FLOATS,
        result=FLOAT, tolerance=4),
    row("polygamma_", lambda x, n: special.polygamma(n, x), call(t(2, 3, low=1, high=3), 2), dtypes=FLOATS[:2],
        cuda=False),
    row("mvlgamma", mvlgamma, call(t(2, 3, low=2, high=4), 1), call(t(2, low=2, high=4), 3), dtypes=FLOATS[:2],
        cuda=False),
    row("igamma", special.gammainc, call(t(2, 3, low=1, high=3, grad=False), t(3, low=1, high=3)), dtypes=FLOATS,
        result=PROMOTED, tolerance=4),
    row("igammac", special.gammaincc, call(t(2, 3, low=1, high=3, grad=False), t(3, low=1, high=3)), dtypes=FLOATS,
        result=PROMOTED, tolerance=4),
    row("xlogy.Tensor", special.xlogy, *TWO, dtypes=NUMBERS, result=FLOAT),
    row("xlogy.Scalar_Self", special.xlogy, *LEFT, dtypes=FLOATS, cuda=False),
    row("xlogy.Scalar_Other", special.xlogy, *RIGHT, dtypes=FLOATS, cuda=False),
    row("special_xlog1py", special.xlog1py, *TWO, dtypes=NUMBERS, result=FLOAT),
    row("special_xlog1py.self_scalar", special.xlog1py, *LEFT, dtypes=FLOATS, cuda=False),
    row("special_xlog1py.other_scalar", special.xlog1py, *RIGHT, dtypes=FLOATS, cuda=False),
    row("special_zeta", special.zeta, call(t(2, 3, low=2, high=4, grad=False), t(3, low=1, high=3)), dtypes=FULL[:3],
        result=FLOAT, tolerance=4),
    row("special_zeta.self_scalar", special.zeta, *LEFT, dtypes=FULL[:2], tolerance=4, cuda=False),
    *(row(f"special_{shift}{name}", oracle, call(t(2, 3), DEGREES),
          call(t(3, low=-0.9, high=0.9), HIGH, dtypes=FULL[:2]), dtypes=FULL, result=FLOAT, tolerance=50,
          differentiable=False)
      for shift, name, oracle in KINDS),
    *(row(f"special_{shift}{name}.x_scalar", oracle, call(0.5, DEGREES), dtypes=("int64",), result=FLOAT,
          tolerance=50, differentiable=False, cuda=False)
      for shift, name, oracle in KINDS),
    *(row(f"special_{shift}{name}.n_scalar", oracle, call(t(2, 3), 3), call(t(2, layout="stepped"), 0), dtypes=FULL,
          result=FLOAT, tolerance=50, differentiable=False, cuda=False)
      for shift, name, oracle in KINDS),
)  # fmt: skip
