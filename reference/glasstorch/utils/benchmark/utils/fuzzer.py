"""How are random inputs made for measurements?

Mirrors: torch/utils/benchmark/utils/fuzzer.py, sparse_fuzzer.py
Differs: a distribution given as a dict has to sum up to one (PyTorch 2.13 refuses those that do, by an inverted test).
    There are no sparse tensors, so that FuzzedSparseTensor is refused.

Parameters, such as sizes, are drawn first; then the tensors whose sizes they are. With a seed, all is the same each
time, and the same as in PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core import dtype as dtypes
from glasstorch.operators.generated.functions import rand, randint
from glasstorch.random import manual_seed

ATTEMPTS = 1000  # to draw parameters that meet all conditions
DISTRIBUTIONS = ("loguniform", "uniform")
Parameters = dict[str, Any]


class ParameterAlias:
    """In a distribution: take the value of another parameter."""

    def __init__(self, alias_to: str) -> None:
        self.alias_to = alias_to

    def __repr__(self) -> str:
        return f"ParameterAlias[alias_to: {self.alias_to}]"


class FuzzedParameter:
    """A number to be drawn.

    From `minval` to `maxval`, both included: "uniform" (integers if both are), or "loguniform", which gives integers.
    Or from a dict of values and their probabilities. A strict parameter is not drawn again where the others have to be.
    """

    def __init__(
        self,
        name: str,
        minval: float | None = None,
        maxval: float | None = None,
        distribution: str | dict[Any, float] | None = None,
        strict: bool = False,
    ) -> None:
        self._name = name
        self._minval = minval
        self._maxval = maxval
        self._distribution = self._check_distribution(distribution)
        self.strict = strict

    @property
    def name(self) -> str:
        return self._name

    def _check_distribution(self, distribution: Any) -> Any:
        if not isinstance(distribution, dict):
            if distribution not in DISTRIBUTIONS:
                raise AssertionError(f"Unknown distribution: {distribution}; expected one of {DISTRIBUTIONS} or a dict")
            if self._minval is None or self._maxval is None:
                raise AssertionError(
                    f"a {distribution} distribution has a minval and a maxval, got {self._minval} and {self._maxval}"
                )
            return distribution
        if any(probability < 0 for probability in distribution.values()):
            raise AssertionError("Probabilities cannot be negative")
        if abs(sum(distribution.values()) - 1) > 1e-5:
            raise AssertionError(f"Distribution is not normalized: its sum is {sum(distribution.values())}")
        for bound, value in (("minval", self._minval), ("maxval", self._maxval)):
            if value is not None:
                raise AssertionError(f"When passing a custom distribution, '{bound}' must be None")
        return distribution

    def sample(self, state: np.random.RandomState) -> Any:
        """One value."""
        if isinstance(self._distribution, dict):
            index = state.choice(np.arange(len(self._distribution)), p=tuple(self._distribution.values()))
            return list(self._distribution)[index]
        assert self._minval is not None
        assert self._maxval is not None
        if self._distribution == "loguniform":
            drawn = int(2 ** state.uniform(low=np.log2(self._minval), high=np.log2(self._maxval)))
            return min(max(drawn, self._minval), self._maxval)
        if isinstance(self._minval, int) and isinstance(self._maxval, int):
            return int(state.randint(low=self._minval, high=self._maxval + 1))
        return state.uniform(low=self._minval, high=self._maxval)


class FuzzedTensor:
    """A tensor whose size, steps and layout are drawn.

    `size` has numbers, and names of parameters. A step of 2 makes every second element of a larger tensor; with
    `probability_contiguous` 0, dimensions lie in another order in memory. `dim_parameter` names the parameter that is
    the number of dimensions: the size is cut, or filled up with ones. `tensor_constructor(size, dtype, **parameters)`
    makes the tensor instead of `default_tensor_constructor`. With a bound (`min_elements`, `max_elements`,
    `max_allocation_bytes`), parameters that break it are drawn again.
    """

    def __init__(
        self,
        name: str,
        size: tuple[str | int, ...],
        steps: tuple[str | int, ...] | None = None,
        probability_contiguous: float = 0.5,
        min_elements: int | None = None,
        max_elements: int | None = None,
        max_allocation_bytes: int | None = None,
        dim_parameter: str | None = None,
        roll_parameter: str | None = None,
        dtype: dtypes.dtype = dtypes.float32,
        cuda: bool = False,
        tensor_constructor: Callable[..., Tensor] | None = None,
    ) -> None:
        self._name = name
        self._size = size
        self._steps = steps
        self._probability_contiguous = probability_contiguous
        self._min_elements = min_elements
        self._max_elements = max_elements
        self._max_allocation_bytes = max_allocation_bytes
        self._dim_parameter = dim_parameter
        self._dtype = dtype
        self._cuda = cuda
        self._tensor_constructor = tensor_constructor

    @property
    def name(self) -> str:
        return self._name

    @staticmethod
    def default_tensor_constructor(size: tuple[int, ...], dtype: dtypes.dtype, **kwargs: Any) -> Tensor:
        """Floats from 0 to 1, integers from 1 to 126."""
        if dtype.is_floating_point or dtype.is_complex:
            return rand(size, dtype=dtype)
        return randint(1, 127, size, dtype=dtype)

    def _make_tensor(self, params: Parameters, state: np.random.RandomState) -> tuple[Tensor, dict[str, Any]]:
        size, steps, allocated = self._get_size_and_steps(params)
        construct = self._tensor_constructor or self.default_tensor_constructor
        raw = construct(size=allocated, dtype=self._dtype, **params)
        if self._cuda:
            raw = raw.cuda()
        dim = len(size)
        order = np.arange(dim)
        if state.rand() > self._probability_contiguous:
            while dim > 1 and np.all(order == np.arange(dim)):
                order = state.permutation(raw.dim())
            there = tuple(order.tolist())
            back = tuple(np.argsort(order).tolist())
            raw = raw.permute(there).contiguous().permute(back)
        made = raw[tuple(slice(0, length * step, step) for length, step in zip(size, steps, strict=True))]
        return made, {
            "numel": int(made.numel()),
            "order": order,
            "steps": steps,
            "is_contiguous": made.is_contiguous(),
            "dtype": str(self._dtype),
        }

    def _get_size_and_steps(self, params: Parameters) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """The size, the steps, and the size of the tensor that is allocated."""
        dim = params[self._dim_parameter] if self._dim_parameter is not None else len(self._size)

        def resolved(values: Iterable[str | int]) -> tuple[int, ...]:
            known = [params.get(value, value) if isinstance(value, str) else value for value in values]
            return tuple(known[:dim] + [1] * (dim - len(known)))

        size, steps = resolved(self._size), resolved(self._steps or ())
        return size, steps, tuple(length * step for length, step in zip(size, steps, strict=True))

    def satisfies_constraints(self, params: Parameters) -> bool:
        """Whether the tensor that these parameters make is within the bounds."""
        size, _, allocated = self._get_size_and_steps(params)
        elements, nbytes = math.prod(map(int, size)), math.prod(map(int, allocated)) * self._dtype.itemsize
        if elements < 0:
            raise AssertionError(f"Computed number of elements is negative: size {size}")
        bounds = (
            (self._min_elements, elements),
            (elements, self._max_elements),
            (nbytes, self._max_allocation_bytes),
        )
        return all(low is None or high is None or low <= high for low, high in bounds)


class FuzzedSparseTensor(FuzzedTensor):
    """Refused: there are no sparse tensors."""

    def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            f"FuzzedSparseTensor {name!r}: there are no sparse tensors in glasstorch; FuzzedTensor makes dense ones"
        )


class Fuzzer:
    """Draws parameters and the tensors that they describe; lists in the lists are flattened.

    A constraint is called with the dict of parameters; where one returns False, they are drawn again.
    """

    def __init__(
        self,
        parameters: Iterable[FuzzedParameter | list[FuzzedParameter]],
        tensors: Iterable[FuzzedTensor | list[FuzzedTensor]],
        constraints: Iterable[Callable[[Parameters], bool]] | None = None,
        seed: int | None = None,
    ) -> None:
        if seed is None:
            seed = int(np.random.RandomState().randint(0, 2**32 - 1, dtype=np.int64))
        self._seed = seed
        self._parameters = [
            p for given in parameters for p in ([given] if isinstance(given, FuzzedParameter) else given)
        ]
        self._tensors = [t for given in tensors for t in ([given] if isinstance(given, FuzzedTensor) else given)]
        self._constraints = tuple(constraints or ())
        overlap = {p.name for p in self._parameters} & {t.name for t in self._tensors}
        if overlap:
            raise ValueError(f"Duplicate names in parameters and tensors: {overlap}")
        self._rejections = 0
        self._total_generated = 0

    def take(self, n: int) -> Iterator[tuple[dict[str, Tensor], dict[str, dict[str, Any]], Parameters]]:
        """Draw `n` times: tensors by name, what is known of each, and the parameters. Sets the seed of the library."""
        state = np.random.RandomState(self._seed)
        manual_seed(int(state.randint(low=0, high=2**63, dtype=np.int64)))
        for _ in range(n):
            params = self._generate(state)
            made = {tensor.name: tensor._make_tensor(params, state) for tensor in self._tensors}
            tensors = {name: tensor for name, (tensor, _) in made.items()}
            yield tensors, {name: properties for name, (_, properties) in made.items()}, params

    @property
    def rejection_rate(self) -> float:
        """The share of draws that did not meet all conditions."""
        return self._rejections / self._total_generated if self._total_generated else 0.0

    def _generate(self, state: np.random.RandomState) -> Parameters:
        kept: Parameters = {}
        for _ in range(ATTEMPTS):
            drawn: Parameters = {}
            for p in self._parameters:
                drawn[p.name] = kept[p.name] if p.name in kept else p.sample(state)
                if p.strict:
                    kept[p.name] = drawn[p.name]
            params = self._resolve_aliases(drawn)
            self._total_generated += 1
            meets = all(constraint(params) for constraint in self._constraints)
            if meets and all(tensor.satisfies_constraints(params) for tensor in self._tensors):
                return params
            self._rejections += 1
        raise ValueError(f"Failed to generate a set of valid parameters in {ATTEMPTS} attempts.")

    @staticmethod
    def _resolve_aliases(params: Mapping[str, Any]) -> Parameters:
        resolved = dict(params)
        for name in params:
            seen = [name]
            while isinstance(value := params[seen[-1]], ParameterAlias):
                if value.alias_to in seen:
                    raise ValueError(f"ParameterAlias cycle detected\n{dict(params)}")
                seen.append(value.alias_to)
            resolved[name] = value
        return resolved
