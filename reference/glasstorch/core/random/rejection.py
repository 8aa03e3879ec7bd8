"""How are gamma, Poisson and binomial numbers drawn by rejecting candidates?

Mirrors: aten/src/ATen/native/Distributions.h (sample_gamma, btrs, binomial_inversion),
    aten/src/ATen/native/Distributions.cpp (sample_poisson)
Differs: a gamma number with a concentration that is not a number, or too negative, is nan, and an infinite Poisson rate
    is refused; PyTorch does not return.

Each function draws one number. What PyTorch computes in the dtype of the parameters is rounded to it here too, so that
float32 parameters give the same numbers bit for bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from glasstorch.core.random.bounds import RandomNumberError
from glasstorch.core.random.distributions import logarithm
from glasstorch.core.random.single_draws import SingleDraws

NumpyDtype = np.dtype[Any]

# Constants that PyTorch writes as floats, also where it computes with doubles.
THIRD = float(np.float32(1) / np.float32(3))
SQUEEZE = float(np.float32(0.0331))

# Gamma -------------------------------------------------------------------------------------------------------------


def gamma(concentration: float, dtype: NumpyDtype, draws: SingleDraws) -> float:
    """A gamma number of rate 1, by the method of Marsaglia and Tsang (2000): the cube of a nearly normal number.

    Below concentration 1 a number of the next higher concentration is scaled by a power of a uniform one.
    """
    rounded = dtype.type
    scale = 1.0
    if concentration < 1:
        if concentration == 0:
            return 0.0
        scale = (1 - draws.uniform()) ** float(rounded(1) / rounded(concentration))
        concentration = float(rounded(concentration) + rounded(1))
    d = float(rounded(concentration) - rounded(THIRD))
    if not d > 0:
        return math.nan
    c = 1 / math.sqrt(9 * d)
    while True:
        x = draws.normal()
        while (root := 1 + c * x) <= 0:
            x = draws.normal()
        cube = root * root * root
        u = 1 - draws.uniform()
        square = x * x
        if u < 1 - SQUEEZE * square * square or math.log(u) < 0.5 * square + d * (1 - cube + math.log(cube)):
            return scale * d * cube


# Poisson -----------------------------------------------------------------------------------------------------------

MANY = 10  # events, or failures, from which on candidates come from a curve above the distribution


def poisson(rate: float, draws: SingleDraws) -> int:
    """A Poisson number: uniform factors until the product falls below exp(-rate), or else a rejected candidate."""
    if not rate >= 0:
        raise RandomNumberError(f"invalid Poisson rate, expected rate to be non-negative, but got {rate:g}")
    if math.isinf(rate):
        raise RandomNumberError("invalid Poisson rate, expected rate to be finite, but got inf")
    if rate >= MANY:
        return poisson_of_many(rate, draws)
    if rate == 0:
        return 0
    events, product, limit = 0, draws.uniform(), math.exp(-rate)
    while product > limit:
        events += 1
        product *= draws.uniform()
    return events


def poisson_of_many(rate: float, draws: SingleDraws) -> int:
    """A Poisson number by Hoermann's transformed rejection (PTRS, 1993)."""
    log_rate = math.log(rate)
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    inside = 0.9277 - 3.6224 / (b - 2)
    while True:
        u = draws.uniform() - 0.5
        v = draws.uniform()
        distance = 0.5 - abs(u)  # from the nearer end of the interval
        if distance == 0:
            continue
        k = math.floor((2 * a / distance + b) * u + rate + 0.43)
        if distance >= 0.07 and v <= inside:
            return k
        if k < 0 or (distance < 0.013 and v > distance):
            continue
        height = logarithm(v) + math.log(inverse_alpha) - math.log(a / (distance * distance) + b)
        if height <= -rate + k * log_rate - math.lgamma(k + 1.0):
            return k


# Binomial ----------------------------------------------------------------------------------------------------------

# What Stirling's formula lacks of log(k!), for k from 0 to 9.
STIRLING_TAIL = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def binomial(count: float, probability: float, dtype: NumpyDtype, draws: SingleDraws) -> float:
    """How many of `count` trials succeed. Above 1/2 the failures are counted."""
    if count <= 0 or probability <= 0:
        return 0.0
    if probability >= 1:
        return count
    if math.isnan(probability):
        return math.nan
    rounded = dtype.type
    rarer = rounded(probability) if probability <= 0.5 else rounded(1.0 - probability)
    drawn = successes(rounded(count), rarer, draws)
    return drawn if probability <= 0.5 else float(rounded(count) - rounded(drawn))


def successes(count: np.floating[Any], probability: np.floating[Any], draws: SingleDraws) -> float:
    """A binomial number for a probability of at most 1/2."""
    if count * probability >= MANY:
        return successes_of_many(count, probability, draws)
    scale = float(np.log1p(-probability)) if count.dtype == np.float32 else math.log1p(-probability)
    trials, successful = 0.0, 0
    while True:
        trials += math.ceil(waiting) if math.isfinite(waiting := logarithm(draws.uniform()) / scale) else waiting
        if trials > count:
            return float(successful)
        successful += 1


def successes_of_many(count: np.floating[Any], probability: np.floating[Any], draws: SingleDraws) -> float:
    """A binomial number by Hoermann's transformed rejection (BTRS, 1993)."""
    rounded = count.dtype.type
    deviation = float(np.sqrt(count * probability * (1 - probability)))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * float(probability)
    centre = float(count * probability) + 0.5
    inside = 0.92 - 4.2 / b
    odds = float(probability / (1 - probability))
    alpha = (2.83 + 5.1 / b) * deviation
    mode = float(np.floor((count + 1) * probability))
    failures = float(count) - mode + 1  # one more than failures at the mode
    while True:
        u = draws.uniform() - 0.5
        v = draws.uniform()
        distance = 0.5 - abs(u)
        if distance == 0:
            continue
        k = float(rounded(math.floor((2 * a / distance + b) * u + centre)))
        if k < 0 or k > count:
            continue
        if distance >= 0.07 and v <= inside:
            return k
        left = float(count - rounded(k) + 1)
        bound = (
            (mode + 0.5) * math.log((mode + 1) / (odds * failures))
            + float(count + 1) * math.log(failures / left)
            + (k + 0.5) * math.log(odds * left / float(rounded(k) + 1))
            + stirling_tail(mode)
            + stirling_tail(float(count) - mode)
            - stirling_tail(k)
            - stirling_tail(float(count - rounded(k)))
        )
        if logarithm(v * alpha / (a / (distance * distance) + b)) <= bound:
            return k


def stirling_tail(k: float) -> float:
    """What Stirling's formula lacks of log(k!)."""
    if k < len(STIRLING_TAIL):
        return STIRLING_TAIL[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)
