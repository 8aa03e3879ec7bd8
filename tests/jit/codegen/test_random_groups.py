"""Do random groups of pointwise operators give what eager mode gives, in NumPy to the bit and in C++ nearly?"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import glasstorch
from glasstorch.core.dtype import BY_NAME
from glasstorch.jit import fuser
from glasstorch.jit.codegen.cpp_loop import CppLoop
from tests.jit.codegen.groups import group_of, same_to_the_bit

GROUPS = 150
IN_CPP = 12  # each is compiled, which takes a quarter of a second
DTYPES = ("float32", "float32", "float64", "int64", "int32", "uint8", "bool")
SHAPES = ((3, 5), (5,), (1, 5), (3, 1), (), (2, 3, 5), (0, 5))
ONE = ("neg", "abs", "exp", "tanh", "sigmoid", "relu", "sgn", "sin", "reciprocal", "isnan", "bitwise_not")
TWO = ("add", "sub", "mul", "div", "maximum", "minimum", "eq", "lt", "ge", "bitwise_xor", "pow")
NUMBERS = (2, -1, 0.5, True)


class Program:
    """A function of tensors: each statement is an operator and the numbers of earlier values, or a number."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.inputs = [self._input() for _ in range(self.random.randint(1, 3))]
        self.statements: list[tuple[str, list[Any]]] = []
        values = list(self.inputs)
        while len(self.statements) < 8:
            statement = self._statement(len(values))
            if statement[0] == "where" and values[statement[1][0][1]].dtype is glasstorch.uint8:
                continue  # deprecated, and interpreted
            try:
                values.append(run(statement, values))
            except (TypeError, ValueError, RuntimeError):
                continue  # refused for these dtypes or sizes: another one
            self.statements.append(statement)
        made = range(len(self.inputs), len(values))
        self.returned = [*self.random.sample(made[:-1], 2), made[-1]]

    def _input(self) -> Any:
        shape, of = self.random.choice(SHAPES), BY_NAME[self.random.choice(DTYPES)]
        values = np.random.default_rng(self.random.randrange(1 << 30)).uniform(
            0 if of.name == "uint8" else -3, 3, shape
        )
        made = glasstorch.from_numpy(np.asarray(values)).to(of)
        if made.dim() == 2 and self.random.random() < 0.3:
            made = made.t().contiguous().t()
        return made

    def _statement(self, count: int) -> tuple[str, list[Any]]:
        def pick() -> tuple[str, int]:
            return "value", self.random.randrange(count)

        roll = self.random.random()
        if roll < 0.35:
            return self.random.choice(ONE), [pick()]
        if roll < 0.7:
            return self.random.choice(TWO), [pick(), pick()]
        if roll < 0.85:
            return self.random.choice(TWO), [pick(), ("number", self.random.choice(NUMBERS))]
        return "where", [pick(), pick(), pick()]

    def __call__(self, *inputs: Any) -> Any:
        values = list(inputs)
        for statement in self.statements:
            values.append(run(statement, values))
        return tuple(values[i] for i in self.returned)


def run(statement: tuple[str, list[Any]], values: list[Any]) -> Any:
    name, operands = statement
    return getattr(glasstorch, name)(*(values[held] if kind == "value" else held for kind, held in operands))


def test_in_numpy_the_results_are_eagers_to_the_bit() -> None:
    loops = 0
    for seed in range(GROUPS):
        program = Program(seed)
        with fuser("numpy"):
            group = group_of(program, *program.inputs)
        plan = group.plan(*program.inputs)
        assert plan is not None, program.statements
        loops += len(plan.loops)
        for found, wanted in zip(group(*program.inputs), program(*program.inputs), strict=True):
            assert same_to_the_bit(found, wanted), (seed, program.statements)
    assert loops > 1.2 * GROUPS, "many groups have values of several sizes"


def test_in_cpp_the_results_are_near_eagers() -> None:
    in_cpp = 0
    for seed in range(IN_CPP):
        program = Program(seed)
        with fuser("cpp"):
            group = group_of(program, *program.inputs)
        plan = group.plan(*program.inputs)
        assert plan is not None, program.statements
        in_cpp += sum(isinstance(loop.run, CppLoop) for loop in plan.loops)
        for found, wanted in zip(group(*program.inputs), program(*program.inputs), strict=True):
            assert (found.dtype, found.stride()) == (wanted.dtype, wanted.stride())
            close = np.isclose(found.numpy(), wanted.numpy(), rtol=1e-4, atol=1e-6, equal_nan=True)
            assert close.all(), (seed, program.statements)
    assert in_cpp > IN_CPP
