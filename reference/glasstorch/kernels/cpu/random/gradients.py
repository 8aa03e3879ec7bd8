"""How does a gamma or Dirichlet number change with its concentration?

Mirrors: aten/src/ATen/native/Distributions.h (standard_gamma_grad_one, dirichlet_grad_one)
Differs: computes whole arrays, all in float64.

A number drawn by rejection is no differentiable function of its parameters, but it can be read as one: hold fixed the
share of the distribution that lies below it. The derivative is then `-(d cdf / d parameter) / density` (Figurnov,
Mohamed and Mnih, 2018). No closed form exists; each region of the plane has its approximation: a power series where the
number is small, a saddle point expansion where the concentrations are large, and a fitted rational function between.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import check_implemented
from glasstorch.core.random.draws import cast
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.random.distributions import CPU
from glasstorch.kernels.cpu.random.elementwise import NOT_FULL
from glasstorch.kernels.cpu.special.functions import ufunc
from glasstorch.kernels.quiet import quietly
from glasstorch.operators.shapes import random as shapes

Doubles = NDArray[np.float64]

# Gamma -------------------------------------------------------------------------------------------------------------

# Coefficients of the rational function: of u^0, u^1, u^2; of v^0 to v^3 in the numerator, then in the denominator.
GAMMA_FIT = np.array([
    [[0.16009398, -0.094634809, 0.025146376, -0.0030648343], [1, 0.32668115, 0.10406089, 0.0014179084]],
    [
        [0.53487893, 0.1298071, 0.065735949, -0.0015649758],
        [0.16639465, 0.020070113, -0.0035938915, -0.00058392623],
    ],
    [
        [0.040121004, -0.0065914022, -0.0026286047, -0.0013441777],
        [0.017050642, -0.0021309326, 0.00085092367, -1.5247877e-07],
    ],
])  # fmt: skip


@CPU.impl("_standard_gamma_grad")
def standard_gamma_grad(keys: int, self: Tensor, output: Tensor) -> Tensor:
    """The derivative of each gamma number with respect to its concentration."""
    check_implemented("_standard_gamma_grad_cpu", self.dtype, NOT_FULL)
    result = shapes.standard_gamma_grad(self, output)
    return wrap(cast(quietly(gamma_derivative, *in_doubles(self, output)), self.dtype.numpy), result.dtype)


def gamma_derivative(alpha: Doubles, x: Doubles) -> Doubles:
    """The derivative of x, drawn with the concentration alpha."""
    near = (0.9 * alpha <= x) & (x <= 1.1 * alpha)
    large = alpha > 8
    return by_region(
        (x < 0.8, gamma_of_small),
        (large & near, gamma_near_its_mean),
        (large, gamma_by_saddle_point),
        (np.True_, gamma_by_fit),
        given=(alpha, x),
    )


def gamma_of_small(alpha: Doubles, x: Doubles) -> Doubles:
    """By the power series of the incomplete gamma function, up to x^5; 0 where it gives nan."""
    term, first, second = np.ones_like(x), 1 / alpha, 1 / (alpha * alpha)
    for i in range(1, 6):
        term = term * (-x / i)
        first = first + term / (alpha + i)
        second = second + term / ((alpha + i) * (alpha + i))
    power = x**alpha
    density = x ** (alpha - 1) * np.exp(-x)
    of_cdf = (np.log(x) - ufunc("psi")(alpha)) * (power * first) - power * second
    return without_nan(-of_cdf / density)


def gamma_near_its_mean(alpha: Doubles, x: Doubles) -> Doubles:
    """The saddle point expansion where its terms would cancel: a series around x = alpha."""
    square = alpha * alpha
    first = 1 + 24 * alpha * (1 + 12 * alpha)
    second = 1440 * square + 6 * x * (53 - 120 * x) - 65 * x * x / alpha + alpha * (107 + 3600 * x)
    return first * second / (1244160 * square * square)


def gamma_by_saddle_point(alpha: Doubles, x: Doubles) -> Doubles:
    """Rice's saddle point expansion, for large concentrations."""
    width = np.sqrt(8 * alpha)
    ratio = np.log(x / alpha)
    tail = (x - alpha - alpha * ratio) ** -1.5
    bracket = width / (alpha - x) + np.where(x < alpha, -tail, tail)
    bracket = ratio * bracket - np.sqrt(2 / alpha) * (alpha + x) / ((alpha - x) * (alpha - x))
    stirling = 1 + 1 / (12 * alpha) * (1 + 1 / (24 * alpha))
    return -stirling * (x * bracket) / width


def gamma_by_fit(alpha: Doubles, x: Doubles) -> Doubles:
    """A rational function of log(x / alpha) and log(alpha), fitted to the logarithm of the derivative."""
    u, v = np.log(x / alpha), np.log(alpha)
    numerator, denominator = (
        polynomial(v, *(polynomial(u, *GAMMA_FIT[:, part, power]) for power in range(4))) for part in (0, 1)
    )
    return np.exp(numerator / denominator)


# Dirichlet ---------------------------------------------------------------------------------------------------------

# Coefficients of two polynomials, numerator and denominator: of u^i a^j b^k at [i][j][k].
DIRICHLET_FIT = np.array([
    [
        [
            [1.003668233, -0.01061107488, -0.0657888334, 0.01201642863],
            [0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033],
            [-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013],
        ],
        [
            [0.221950385, -0.3187676331, 0.01799915743, 0.01074823814],
            [-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057],
            [0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05],
        ],
        [
            [-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565],
            [0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181],
            [0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05],
        ],
    ],
    [
        [
            [1, -0.02924021934, -0.04438342661, 0.007285809825],
            [0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521],
            [-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149],
        ],
        [
            [0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273],
            [0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956],
            [-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05],
        ],
        [
            [0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05],
            [0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05],
            [-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06],
        ],
    ],
])  # fmt: skip


@CPU.impl("_dirichlet_grad")
def dirichlet_grad(keys: int, x: Tensor, alpha: Tensor, total: Tensor) -> Tensor:
    """The derivative of each coordinate with respect to its own concentration, divided by 1 - x."""
    check_implemented("_dirichlet_grad_cpu", x.dtype, NOT_FULL)
    result = shapes.dirichlet_grad(x, alpha, total)
    return wrap(cast(quietly(beta_derivative, *in_doubles(x, alpha, total)), x.dtype.numpy), result.dtype)


def beta_derivative(x: Doubles, alpha: Doubles, total: Doubles) -> Doubles:
    """The derivative of x, drawn from Beta(alpha, total - alpha), with respect to alpha, divided by 1 - x."""
    beta = total - alpha
    weight = total * x * (1 - x)
    return by_region(
        ((x <= 0.5) & (weight < 2.5), beta_of_small),
        ((x >= 0.5) & (weight < 0.75), beta_of_large),
        ((alpha > 6) & (beta > 6), beta_by_saddle_point),
        (np.True_, beta_by_fit),
        given=(x, alpha, beta),
    )


def beta_of_small(x: Doubles, alpha: Doubles, beta: Doubles) -> Doubles:
    """By the power series of the incomplete beta function, up to x^10."""
    psi = ufunc("psi")
    factor = psi(alpha) - psi(alpha + beta) - np.log(x)
    term, series = np.ones_like(x), (factor + 1 / alpha) / alpha
    for i in range(1, 11):
        term = term * ((i - beta) * x / i)
        series = series + term / (alpha + i) * (factor + 1 / (alpha + i))
    return without_nan(x * (1 - x) ** -beta * series)


def beta_of_large(x: Doubles, alpha: Doubles, beta: Doubles) -> Doubles:
    """By the same series for 1 - x, which is drawn from Beta(beta, alpha), up to its eighth power."""
    psi = ufunc("psi")
    y, a, b = 1 - x, beta, alpha
    factor = psi(a + b) - psi(b)
    term, product, derivative, series = np.ones_like(x), np.ones_like(x), np.zeros_like(x), factor / a
    for i in range(1, 9):
        term = term * (-y / i)
        derivative = derivative * (b - i) + product
        product = product * (b - i)
        series = series + term / (a + i) * (derivative + factor * product)
    return without_nan((1 - y) ** (1 - b) * series)


def beta_by_saddle_point(x: Doubles, alpha: Doubles, beta: Doubles) -> Doubles:
    """Rice's saddle point expansion, for large concentrations; near the mean its terms would cancel."""
    total = alpha + beta
    mean = alpha / total
    deviation = np.sqrt(alpha * beta / (total + 1)) / total
    near = (mean - 0.1 * deviation <= x) & (x <= mean + 0.1 * deviation)
    return by_region((near, beta_near_its_mean), (np.True_, beta_far_from_its_mean), given=(x, alpha, beta))


def beta_near_its_mean(x: Doubles, alpha: Doubles, beta: Doubles) -> Doubles:
    """A series around the mean."""
    total, square = alpha + beta, beta * beta
    series = polynomial(
        alpha,
        47 * x * square * square,
        (43 + 20 * (16 + 27 * beta) * x) * square * beta,
        3 * (59 + 180 * beta - 90 * x) * square,
        (453 + 1620 * beta * (1 - x) - 455 * x) * beta,
        8 * (1 - x) * (135 * beta - 11),
    )
    above = (1 + 12 * alpha) * (1 + 12 * beta) / (total * total)
    below = 12960 * alpha * alpha * alpha * beta * beta * (1 + 12 * total)
    return above / (1 - x) * series / below


def beta_far_from_its_mean(x: Doubles, alpha: Doubles, beta: Doubles) -> Doubles:
    """The expansion itself."""
    total = alpha + beta
    root = np.sqrt(2 * alpha * beta / total)
    stirling = stirling_factor(alpha) * stirling_factor(beta) / stirling_factor(total)
    offset = alpha * (x - 1) + beta * x
    first = 2 * (alpha * alpha) * (x - 1) + alpha * beta * (x - 1) - x * (beta * beta)
    first = first / (np.sqrt(2 * alpha / beta) * total**1.5 * offset * offset)
    ratio = np.log(alpha / (total * x))
    tail = (beta * np.log(beta / (total * (1 - x))) + alpha * ratio) ** -1.5
    bracket = 2 * root / offset + np.where(x < alpha / total, tail, -tail)
    return stirling * (-x / root) * (first + 0.5 * ratio * bracket)


def stirling_factor(n: Doubles) -> Doubles:
    """What the first terms of Stirling's series add to the gamma function."""
    return 1 + 1 / (12 * n) + 1 / (288 * n * n)


def beta_by_fit(x: Doubles, alpha: Doubles, beta: Doubles) -> Doubles:
    """An analytic approximation, corrected by a fitted rational function."""
    psi = ufunc("psi")
    total = alpha + beta
    u = np.log(x)
    a = np.log(alpha) - u
    b = np.log(total) - a
    above, below = (
        polynomial(u, *(polynomial(a, *(polynomial(b, *row) for row in rows)) for rows in part))
        for part in DIRICHLET_FIT
    )
    return above / below * (x * (psi(total) - psi(alpha)) / beta)  # type: ignore[no-any-return]


# Shared ------------------------------------------------------------------------------------------------------------


def in_doubles(*tensors: Tensor) -> list[Doubles]:
    """The elements of tensors in float64, broadcast together."""
    return np.broadcast_arrays(*(tensor.array().astype(np.float64) for tensor in tensors))  # type: ignore[return-value]


def by_region(*regions: tuple[Any, Any], given: tuple[Doubles, ...]) -> Doubles:
    """Each place computed by the formula of the first region that it lies in."""
    result = np.empty_like(given[0])
    left = np.ones(result.shape, bool)
    for region, formula in regions:
        here = left & region
        if here.any():
            result[here] = formula(*(array[here] for array in given))
        left &= ~here
    return result


def polynomial(x: Doubles, *coefficients: Any) -> Doubles:
    """A polynomial with these coefficients, that of x^0 first."""
    value = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        value = coefficient + x * value
    return np.asarray(value)


def without_nan(values: Doubles) -> Array:
    """The values, with 0 for each nan."""
    return np.where(np.isnan(values), 0.0, values)
