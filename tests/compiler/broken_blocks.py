"""Functions whose graph ends in a `with` or `try` block, for either library: each gives one and its arguments."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Self

Program = Callable[[Any], tuple[Any, ...]]
BLOCKS: dict[str, Program] = {}


def program(make: Program) -> Program:
    BLOCKS[make.__name__] = make
    return make


class Own:
    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None: ...


@contextlib.contextmanager
def of_a_generator() -> Iterator[int]:
    yield 1


@program
def in_no_grad(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x * 2
        with t.no_grad():
            z = y * 3
            print(end="")
            w = z + y
        return w * x, t.is_grad_enabled()

    return f, t.ones(3, requires_grad=True)


@program
def in_two_blocks(t: Any) -> Any:
    def f(x: Any) -> Any:
        with t.no_grad():
            y = x * 2
            with t.enable_grad():
                z = x * 3
                print(end="")
                z = z * x
            y = y + 1
        return y, z

    return f, t.ones(3, requires_grad=True)


@program
def in_set_grad_enabled(t: Any) -> Any:
    def f(x: Any) -> Any:
        with t.set_grad_enabled(False):
            y = x * 2
            print(end="")
            z = y + x
        return z + x

    return f, t.ones(3, requires_grad=True)


@program
def in_inference_mode(t: Any) -> Any:
    def f(x: Any) -> Any:
        with t.inference_mode():
            y = x * 2
            print(end="")
            z = y + x
        return z.sum()

    return f, t.ones(3)


@program
def in_autocast(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x + 1
        with t.autocast("cpu", dtype=t.bfloat16):
            z = y @ x
            print(end="")
            w = z @ x
        return w, y @ x

    return f, t.ones(3, 3)


@program
def twice_in_a_block(t: Any) -> Any:
    def f(x: Any) -> Any:
        with t.no_grad():
            print(end="")
            y = x * 2
            print(end="")
            z = y + 1
        print(end="")
        return z * x

    return f, t.ones(3, requires_grad=True)


@program
def only_a_break_in_a_block(t: Any) -> Any:
    def f(x: Any) -> Any:
        with t.no_grad():
            print(end="")
        return x * 2

    return f, t.ones(3, requires_grad=True)


@program
def branch_in_a_block(t: Any) -> Any:
    def f(x: Any) -> Any:
        with t.no_grad():
            y = x * 2
            if y.sum() > 0:
                y = y + 1
            else:
                y = y - 1
        return y * x

    return f, t.ones(3, requires_grad=True)


@program
def return_from_a_block(t: Any) -> Any:
    def f(x: Any) -> Any:
        with t.no_grad():
            y = x * 2
            print(end="")
            return y + x

    return f, t.ones(3, requires_grad=True)


@program
def error_in_a_block_in_a_try(t: Any) -> Any:
    def f(x: Any) -> Any:
        try:
            with t.no_grad():
                x = x * 2
                print(end="")
                raise ValueError("a")
        except ValueError:
            return x * 3, t.is_grad_enabled()

    return f, t.ones(3, requires_grad=True)


@program
def try_in_a_block(t: Any) -> Any:
    def f(x: Any) -> Any:
        with t.no_grad():
            try:
                y = x * 2
                print(end="")
            finally:
                y = y + 1
        return y

    return f, t.ones(3, requires_grad=True)


@program
def block_in_a_try(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x + 1
        try:
            with t.no_grad():
                y = x * 2
                print(end="")
                z = y + 1
        except ValueError:
            z = y
        return z

    return f, t.ones(3, requires_grad=True)


@program
def in_a_try(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x + 1
        try:
            print(end="")
            y = y * 2
        except ValueError:
            pass
        return y

    return f, t.ones(3, requires_grad=True)


@program
def in_an_except(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x + 1
        try:
            raise ValueError
        except ValueError:
            print(end="")
            y = y * 2
        return y

    return f, t.ones(3, requires_grad=True)


@program
def after_a_try(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x + 1
        try:
            raise ValueError
        except ValueError:
            y = y * 2
        print(end="")
        return y * 2

    return f, t.ones(3, requires_grad=True)


@program
def in_a_generators_block(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x + 1
        with of_a_generator():
            y = y * 2
            print(end="")
            y = y * 3
        return y - 1

    return f, t.ones(3, requires_grad=True)


@program
def in_a_block_of_a_class(t: Any) -> Any:
    def f(x: Any) -> Any:
        y = x + 1
        with Own():
            y = y * 2
            print(end="")
            y = y * 3
        return y - 1

    return f, t.ones(3, requires_grad=True)


@program
def in_nullcontext(t: Any) -> Any:
    def f(x: Any) -> Any:
        with contextlib.nullcontext():
            y = x * 2
            print(end="")
            y = y * 3
        return y - 1

    return f, t.ones(3, requires_grad=True)


@program
def context_from_outside(t: Any) -> Any:
    g = t.no_grad()

    def f(x: Any) -> Any:
        with g:
            y = x * 2
            print(end="")
            y = y * 3
        return y - 1

    return f, t.ones(3, requires_grad=True)


@program
def context_used_twice(t: Any) -> Any:
    def f(x: Any) -> Any:
        c = t.no_grad()
        with c:
            y = x * 2
            print(end="")
            y = y * 3
        with c:
            y = y * 4
        return y * x

    return f, t.ones(3, requires_grad=True)


@program
def context_with_a_name(t: Any) -> Any:
    def f(x: Any) -> Any:
        with t.autocast("cpu") as c:
            y = x @ x
            print(end="")
            y = y @ x
        return y, c is None

    return f, t.ones(3, 3)


@program
def mode_set_in_a_block(t: Any) -> Any:
    def f(x: Any) -> Any:
        with t.no_grad():
            t.set_grad_enabled(True)
            y = x * 2
            print(end="")
            y = y * 3
        return y, t.is_grad_enabled()

    return f, t.ones(3, requires_grad=True)


@program
def callee_with_a_break_in_a_block(t: Any) -> Any:
    def g(x: Any) -> Any:
        y = x * 2
        print(end="")
        return y + x

    def f(x: Any) -> Any:
        with t.no_grad():
            z = g(x) + 1
        return z * x

    return f, t.ones(3, requires_grad=True)


@program
def callee_breaks_in_its_block(t: Any) -> Any:
    def g(x: Any) -> Any:
        with t.no_grad():
            y = x * 2
            print(end="")
            return y + x

    def f(x: Any) -> Any:
        z = g(x) + 1
        return z * x

    return f, t.ones(3, requires_grad=True)


@program
def block_in_a_loop(t: Any) -> Any:
    def f(x: Any) -> Any:
        for _ in range(2):
            with t.no_grad():
                x = x * 2
                print(end="")
        return x

    return f, t.ones(3, requires_grad=True)


@program
def loop_after_a_break_in_a_block(t: Any) -> Any:
    def f(x: Any) -> Any:
        with t.no_grad():
            print(end="")
            for _ in range(3):
                x = x * 2
        return x

    return f, t.ones(3, requires_grad=True)


@program
def values_on_the_stack_in_a_block(t: Any) -> Any:
    def f(x: Any) -> Any:
        with t.no_grad():
            y = [x * 2, print(end=""), x + 1, int(x.sum())]
        return y[::-1]

    return f, t.ones(3, requires_grad=True)
