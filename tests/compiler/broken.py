"""Functions whose graph ends early, for either library: each makes a function and its arguments."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from typing import Any

Program = Callable[[Any], tuple[Any, ...]]
PROGRAMS: dict[str, Program] = {}


def program(make: Program) -> Program:
    PROGRAMS[make.__name__] = make
    return make


@program
def print_between(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x + 1
        print(end="")
        return y * 2

    return f, t.ones(3)


@program
def print_first(t: Any) -> Any:
    def f(x: Any) -> Any:
        print(end="")
        return x * 2

    return f, t.ones(3)


@program
def print_last(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x * 2
        print(end="")
        return y

    return f, t.ones(3)


@program
def two_prints(t: Any) -> Any:
    def f(x: Any) -> Any:
        x = x + 1
        print(end="")
        x = x * 2
        print(end="")
        return x - 3

    return f, t.ones(3)


@program
def explicit_break(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x.sin()
        t._dynamo.graph_break()
        return y.cos()

    return f, t.ones(3)


@program
def branch_on_a_tensor(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x * 2
        if y.sum() > 0:
            return y + 1
        return y - 1

    return f, t.ones(3)


@program
def branch_with_a_common_end(t: Any) -> Any:
    def f(x: Any) -> Any:
        if x.sum() > 0:
            y = x + 1
        else:
            y = x - 1
        return y * 3

    return f, -t.ones(3)


@program
def two_branches(t: Any) -> Any:
    def f(x: Any, y: Any) -> Any:
        if x.sum() > 0:
            x = x + y
        if y.sum() > 0:
            x = x * y
        return x

    return f, t.ones(3), -t.ones(3)


@program
def conditional_expression(t: Any) -> Any:
    def f(x: Any) -> Any:
        return (x * 2 if x.max() > 0 else x * 3) + 1

    return f, t.ones(3)


@program
def branch_on_and(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x.sum() > 0 and x.max() > 5
        return x + 1, y

    return f, t.ones(3)


@program
def not_of_a_tensor(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x + 1
        return y, not y.sum()

    return f, t.ones(3)


@program
def item(t: Any) -> Any:
    def f(x: Any) -> Any:
        n = x.sum().item()
        return x * n

    return f, t.ones(3)


@program
def item_in_a_condition(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x + 1
        if y.sum().item() > 3:
            return y * 2
        return y

    return f, t.ones(3)


@program
def tolist(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x * 2
        return y + 1, y.tolist()

    return f, t.ones(3)


@program
def float_of_a_tensor(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x + 1
        return y * float(y.max())

    return f, t.ones(3)


@program
def int_of_a_tensor(t: Any) -> Any:
    def f(x: Any) -> Any:
        return x * int(x.sum())

    return f, t.ones(3)


@program
def bool_of_a_tensor(t: Any) -> Any:
    def f(x: Any) -> Any:
        return x + 1, bool(x.sum())

    return f, t.ones(3)


@program
def nonzero(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x + 1
        return y.nonzero() * 2

    return f, t.ones(3)


@program
def mask(t: Any) -> Any:
    def f(x: Any) -> Any:
        return (x + 1)[x > 0] * 2

    return f, t.ones(3)


@program
def disabled(t: Any) -> Any:
    inside = t.compiler.disable(lambda z: z * 3)

    def f(x: Any) -> Any:
        return inside(x + 1) - 2

    return f, t.ones(3)


@program
def callee_with_a_break(t: Any) -> Any:
    def inner(z: Any) -> Any:
        z = z * 2
        print(end="")
        return z + 3

    def f(x: Any) -> Any:
        y = inner(x + 1)
        return y * 4

    return f, t.ones(3)


@program
def callee_called_twice(t: Any) -> Any:
    def inner(z: Any) -> Any:
        print(end="")
        return z + 3

    def f(x: Any) -> Any:
        return inner(x) * inner(x + 1)

    return f, t.ones(3)


@program
def deep_callee(t: Any) -> Any:
    def innermost(z: Any) -> Any:
        print(end="")
        return z + 1

    def middle(z: Any) -> Any:
        return innermost(z * 2) * 3

    def f(x: Any) -> Any:
        return middle(x - 1) - 2

    return f, t.ones(3)


@program
def break_in_an_argument(t: Any) -> Any:
    def f(x: Any, y: Any) -> Any:
        return t.add(x * 2, float(y.sum()))

    return f, t.ones(3), t.ones(3)


@program
def loop_with_a_break(t: Any) -> Any:
    def f(x: Any) -> Any:
        for _ in range(3):
            x = x + 1
            print(end="")
        return x * 2

    return f, t.ones(3)


@program
def while_over_a_tensor(t: Any) -> Any:
    def f(x: Any) -> Any:
        while x.sum() < 10:
            x = x * 2
        return x + 1

    return f, t.ones(3)


@program
def break_before_a_loop(t: Any) -> Any:
    def f(x: Any) -> Any:
        x = x + 1
        print(end="")
        for i in range(3):
            x = x * i
        return x

    return f, t.ones(3)


@program
def break_after_a_loop(t: Any) -> Any:
    def f(x: Any) -> Any:
        for i in range(3):
            x = x * (i + 1)
        print(end="")
        return x + 1

    return f, t.ones(3)


@program
def break_in_try(t: Any) -> Any:
    def f(x: Any) -> Any:
        try:
            x = x + 1
            print(end="")
        except ValueError:
            x = x * 2
        return x * 3

    return f, t.ones(3)


@program
def closure_goes_on(t: Any) -> Any:
    def f(x: Any) -> Any:
        k = 2

        def scaled(z: Any) -> Any:
            return z * k

        y = scaled(x)
        print(end="")
        k = 3
        return scaled(y)

    return f, t.ones(3)


@program
def lists_stay_one(t: Any) -> Any:
    def f(x: Any) -> Any:
        a = [x + 1]
        b = a
        print(end="")
        b.append(x * 2)
        return a, b is a

    return f, t.ones(3)


@program
def changes_before_and_after(t: Any) -> Any:
    def f(x: Any, items: list[Any]) -> Any:
        items.append(1)
        y = x + len(items)
        print(end="")
        items.append(2)
        return y * len(items)

    return f, t.ones(3), [0]


@program
def keyword_arguments(t: Any) -> Any:
    def f(x: Any, *, scale: int = 2, **more: Any) -> Any:
        y = x * scale
        print(end="", flush=True)
        return y + more.get("a", 1)

    return f, t.ones(3)


@program
def variable_arguments(t: Any) -> Any:
    def f(*xs: Any) -> Any:
        y = xs[0] + xs[1]
        print(end="")
        return y * len(xs)

    return f, t.ones(3), t.ones(3)


@program
def method_of_an_object(t: Any) -> Any:
    class Thing:
        def __init__(self) -> None:
            self.scale = 3

        def run(self, x: Any) -> Any:
            y = x * self.scale
            print(end="")
            return y + self.scale

    return Thing().run, t.ones(3)


@program
def module_with_a_break(t: Any) -> Any:
    class Net(t.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first = t.nn.Linear(3, 3)
            self.second = t.nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            x = self.first(x)
            print(end="")
            return self.second(x)

    return Net(), t.ones(2, 3)


@program
def random_number(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x + 1
        random.seed(3)
        return y * 2

    return f, t.ones(3)


@program
def clock(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x + 1
        time.sleep(0)
        return y * 2

    return f, t.ones(3)


@program
def backward_inside(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = (x * x).sum()
        y.backward()
        return y + 1

    return f, t.ones(3, requires_grad=True)


@program
def gradients_through_a_break(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x * x
        print(end="")
        return (y * 3).sum()

    return f, t.ones(3, requires_grad=True)


@program
def in_place_before_a_break(t: Any) -> Any:
    def f(x: Any) -> Any:
        x.add_(1)
        print(end="")
        return x * 2

    return f, t.ones(3)


@program
def branch_then_break(t: Any) -> Any:
    def f(x: Any) -> Any:
        if x.sum() > 0:
            y = x * 2
            print(end="")
        else:
            y = x
        return y + 1

    return f, t.ones(3)


@program
def number_from_math(t: Any) -> Any:
    def f(x: Any) -> Any:
        n = math.floor(float(x.sum()))
        return x * n

    return f, t.ones(3)


@program
def subscript_after_a_break(t: Any) -> Any:
    def f(x: Any) -> Any:
        parts = {"a": x + 1, "b": (x * 2, 3)}
        print(end="")
        return parts["b"][0] + parts["a"], parts

    return f, t.ones(3)


@program
def lambda_with_a_break(t: Any) -> Any:
    return lambda x: (x + 1, print(end=""), x * 2), t.ones(3)


@program
def nested_functions_stay(t: Any) -> Any:
    def f(x: Any) -> Any:
        def g(z: Any) -> Any:
            return z + x

        print(end="")
        return g(x * 2)

    return f, t.ones(3)
