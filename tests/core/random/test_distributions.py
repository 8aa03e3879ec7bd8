"""Does a stream draw the rarer distributions as PyTorch does?"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from glasstorch.core.dtype import DTYPES
from glasstorch.core.random import distributions
from glasstorch.core.random.bounds import RandomNumberError
from glasstorch.core.random.draws import BLOCK, Stream
from tests.core.random.torch_numbers import refusal, same_bits, stream, torch_dtype, torch_module

# seed, what is drawn, what PyTorch 2.13 printed
RECORDED: list[tuple[int, Callable[[Stream], np.ndarray], list[float]]] = [
    (
        3,
        lambda g: distributions.exponential(g, 3, "float32", 0.5),
        [0.0694069117307663, 0.6758191585540771, 2.9648613929748535],
    ),
    (
        3,
        lambda g: distributions.exponential(g, 3, "float64", 0.5),
        [0.06940690964303482, 0.6758191730473402, 2.9648612741869735],
    ),
    (
        4,
        lambda g: distributions.cauchy(g, 3, "float32", 1.0, 2.0),
        [0.8559255599975586, 2.7818005084991455, -9.939866065979004],
    ),
    (
        5,
        lambda g: distributions.geometric(g, 6, "int64", 0.1),
        [5, 13, 10, 11, 13, 2],
    ),
    (
        5,
        lambda g: distributions.geometric(g, 3, "uint8", 0.001),
        [187, 68, 251],
    ),
    (
        6,
        lambda g: distributions.log_normal(g, 3, "float32"),
        [0.0640048012137413, 0.3725714385509491, 11.437923431396484],
    ),
]

# the method of a tensor, the function, parameters
DRAWS = [
    ("exponential_", distributions.exponential, [(1.0,), (0.3,), (float("inf"),), (1e-300,)]),
    ("cauchy_", distributions.cauchy, [(0.0, 1.0), (-2.5, 0.7), (0.0, float("inf"))]),
    ("geometric_", distributions.geometric, [(0.5,), (0.01,), (1 - 1e-9,), (1e-10,), (1e-300,)]),
    ("log_normal_", distributions.log_normal, [(1.0, 2.0), (-0.5, 0.1), (1000.0, 1.0)]),
]


@pytest.mark.parametrize("case", range(len(RECORDED)))
def test_draws_the_recorded_numbers(case: int) -> None:
    seed, draw, expected = RECORDED[case]
    assert draw(stream(seed)).tolist() == expected


@pytest.mark.parametrize("dtype", [d.numpy for d in DTYPES], ids=str)
@pytest.mark.parametrize(("name", "draw", "parameters"), DRAWS, ids=[d[0] for d in DRAWS])
def test_every_dtype_gets_torch_s_numbers_or_torch_s_refusal(name: str, draw: Any, parameters: Any, dtype: Any) -> None:
    torch = torch_module()
    for values in parameters:
        for count in (0, 1, 15, 1001):
            torch.manual_seed(count)
            ours = stream(count)
            theirs, refused = refusal(
                lambda: getattr(torch.empty(count, dtype=torch_dtype(dtype)), name)(*values)  # noqa: B023
            )
            if refused is None:
                assert same_bits(draw(ours, count, dtype, *values), theirs), (values, count)
                assert same_bits(ours.uniform(2, "float32"), torch.rand(2))  # as many words are used up
            else:
                with pytest.raises(type(refused)) as raised:
                    draw(ours, count, dtype, *values)
                assert str(raised.value).startswith(str(refused).partition(" but you specified")[0])


@pytest.mark.parametrize(("name", "draw", "parameters"), DRAWS, ids=[d[0] for d in DRAWS])
def test_numbers_beyond_one_block_are_torch_s(name: str, draw: Any, parameters: Any) -> None:
    torch = torch_module()
    torch.manual_seed(3)
    theirs = getattr(torch.empty(BLOCK + 7), name)(*parameters[0])
    assert same_bits(draw(stream(3), BLOCK + 7, "float32", *parameters[0]), theirs)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda g, n: distributions.exponential(g, n, "float32", 0.0), "lambda > 0.0, but found lambda=0"),
        (lambda g, n: distributions.exponential(g, n, "float32", float("nan")), "lambda > 0.0, but found lambda=nan"),
        (lambda g, n: distributions.cauchy(g, n, "float32", 0.0, -1.0), "sigma > 0.0, but found sigma=-1"),
        (lambda g, n: distributions.geometric(g, n, "float32", 1.0), r"p to be in \(0, 1\), but got p=1"),
        (lambda g, n: distributions.log_normal(g, n, "float32", 1.0, 0.0), "std > 0.0, but found std=0"),
        (lambda g, n: distributions.cauchy(g, n, "int64"), "must be a floating point but you specified int64"),
    ],
)
def test_parameters_are_looked_at_even_where_there_is_nothing_to_fill(call: Any, words: str) -> None:
    for count in (0, 2):
        with pytest.raises(RandomNumberError, match=words):
            call(stream(), count)


def test_functions_answer_as_in_c_where_those_of_python_raise() -> None:
    assert distributions.logarithm(0.0) == -np.inf
    assert distributions.logarithm(1.0) == 0.0
    assert distributions.exponential_function(1000.0) == np.inf
    assert distributions.exponential_function(0.0) == 1.0
