"""Are random inputs those that PyTorch draws from the same seed?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.utils import benchmark


def fuzzer(library: Any, benchmark: Any, seed: int) -> Any:
    p, t = benchmark.FuzzedParameter, benchmark.FuzzedTensor
    sizes = [p(f"k{n}", 2, 9, "loguniform" if n else "uniform") for n in range(3)]
    parameters = [
        p("dim", 1, 3, "uniform", strict=True),
        sizes,
        p("share", 0.25, 0.75, "uniform"),
        p("step", 1, 3, "uniform"),
    ]
    tensors = [
        t("x", ("k0", "k1", "k2"), ("step", 2), 0.3, 4, 400, 4000, "dim"),
        [t("y", ("k1", 4), dtype=library.int64), t("z", ("k2",), dtype=library.float64, probability_contiguous=1.0)],
    ]
    return benchmark.Fuzzer(parameters, tensors, [lambda given: given["k1"] != 3], seed=seed)


@pytest.mark.parametrize("seed", range(4))
def test_parameters_and_tensors_are_those_of_torch(seed: int) -> None:
    oracle = pytest.importorskip("torch")
    import torch.utils.benchmark as theirs

    drawn, rates = [], []
    for library, module in ((glasstorch, benchmark), (oracle, theirs)):
        made = fuzzer(library, module, seed)
        drawn.append(list(made.take(6)))
        rates.append(made.rejection_rate)
    assert rates[0] == rates[1] > 0
    for (tensors, properties, parameters), (expected, facts, numbers) in zip(*drawn, strict=True):
        assert parameters == numbers
        for name, wanted in expected.items():
            np.testing.assert_array_equal(tensors[name].numpy(), wanted.numpy())
            assert tensors[name].stride() == wanted.stride()
            known = dict(facts[name], order=facts[name]["order"].tolist())
            known["dtype"] = known["dtype"].replace("torch", "glasstorch")
            mine = dict(properties[name], order=properties[name]["order"].tolist())
            mine["dtype"] = mine["dtype"].replace("glasstorch", "torch").replace("torch", "glasstorch")
            assert mine == known


def test_a_seed_is_drawn_where_none_is_given() -> None:
    made = fuzzer(glasstorch, benchmark, None)  # type: ignore[arg-type]
    first, second = ([parameters for _, _, parameters in made.take(3)] for _ in range(2))
    assert first == second


def test_values_are_drawn_by_their_probabilities_and_may_be_those_of_others() -> None:
    alias = benchmark.ParameterAlias("b")
    assert repr(alias) == "ParameterAlias[alias_to: b]"
    parameters = [
        benchmark.FuzzedParameter("a", distribution={alias: 0.5, 1: 0.5}),
        benchmark.FuzzedParameter("b", distribution={benchmark.ParameterAlias("c"): 1.0}),
        benchmark.FuzzedParameter("c", distribution={5: 0.25, 7: 0.75}),
    ]
    drawn = [given for _, _, given in benchmark.Fuzzer(parameters, [], seed=1).take(400)]
    assert all(given["b"] == given["c"] and given["a"] in (1, given["c"]) for given in drawn)
    assert 250 < sum(given["c"] == 7 for given in drawn) < 350
    assert 150 < sum(given["a"] == 1 for given in drawn) < 250


def test_a_tensor_may_be_made_by_its_own_function() -> None:
    seen = []

    def ones(size: Any, dtype: Any, **parameters: Any) -> Any:
        seen.append((size, dtype, parameters))
        return glasstorch.ones(size, dtype=dtype)

    made = benchmark.FuzzedTensor("x", (2, "n"), steps=(1, 2), tensor_constructor=ones, probability_contiguous=1.0)
    ((tensors, _, _),) = benchmark.Fuzzer([benchmark.FuzzedParameter("n", 3, 3, "uniform")], [made], seed=0).take(1)
    assert seen == [((2, 6), glasstorch.float32, {"n": 3})]
    assert (tensors["x"].shape, tensors["x"].stride()) == ((2, 3), (6, 2))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda b: b.FuzzedParameter("a", 1, 2, "normal"), AssertionError, "Unknown distribution: normal"),
        (lambda b: b.FuzzedParameter("a", distribution="uniform"), AssertionError, "has a minval and a maxval"),
        (lambda b: b.FuzzedParameter("a", distribution={1: 2.0, 2: -1.0}), AssertionError, "cannot be negative"),
        (lambda b: b.FuzzedParameter("a", distribution={1: 0.5}), AssertionError, "not normalized: its sum is 0.5"),
        (lambda b: b.FuzzedParameter("a", 1, distribution={1: 1.0}), AssertionError, "'minval' must be None"),
        (lambda b: b.FuzzedParameter("a", None, 1, {1: 1.0}), AssertionError, "'maxval' must be None"),
        (lambda b: b.FuzzedSparseTensor("s", (3,)), NotImplementedError, "there are no sparse tensors"),
        (
            lambda b: b.Fuzzer([b.FuzzedParameter("a", 1, 2, "uniform")], [b.FuzzedTensor("a", (2,))]),
            ValueError,
            "Duplicate names in parameters and tensors: {'a'}",
        ),
        (
            lambda b: next(b.Fuzzer([b.FuzzedParameter("a", distribution={b.ParameterAlias("a"): 1.0})], []).take(1)),
            ValueError,
            "ParameterAlias cycle detected",
        ),
        (
            lambda b: next(b.Fuzzer([], [b.FuzzedTensor("x", (2,), min_elements=3)]).take(1)),
            ValueError,
            "Failed to generate a set of valid parameters",
        ),
    ],
)
def test_what_is_refused(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make(benchmark)
