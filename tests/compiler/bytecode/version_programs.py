"""Functions whose bytecode differs between versions of CPython; each takes a library and a tensor."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any


class Base:
    factor = 2

    def area(self, x: Any, *, by: int = 1) -> Any:
        return x * by

    @property
    def five(self) -> int:
        return 5

    @classmethod
    def scaled(cls, x: Any) -> Any:
        return x + cls.factor


class Derived(Base):
    def area(self, x: Any, *, by: int = 1) -> Any:
        return super().area(x, by=by + 1) + super().five

    @classmethod
    def scaled(cls, x: Any) -> Any:
        return super().scaled(x) * 2

    def of_base(self, x: Any) -> Any:
        return super(Derived, self).area(x)  # noqa: UP008


def parents(t: Any, x: Any) -> Any:
    thing = Derived()
    return thing.area(x, by=3), Derived.scaled(x), thing.of_base(x)


def comprehensions(t: Any, x: Any) -> Any:
    table = {key: value * x for key, value in zip("ab", (1, 2), strict=True)}
    rows = [[x * i + j for j in range(2)] for i in range(2)]
    return table, rows, {k for k in range(4) if k % 2}, sum(value.sum() for value in table.values())


def names_in_comprehensions(t: Any, x: Any) -> Any:
    i = 10
    doubled = [i * 2 for i in range(3)]
    return x + i, doubled


def shared_in_comprehensions(t: Any, x: Any) -> Any:
    n = 3
    i = 10
    seen = [lambda: n * i for i in range(3)]  # noqa: B023
    return x * i + n, [f() for f in seen]


def unset_after_a_comprehension(t: Any, x: Any) -> Any:
    seen = [lambda: i for i in range(3)]  # noqa: B023
    try:
        i  # noqa: B018, F821
    except UnboundLocalError as error:
        text = str(error)
    i = 4
    return x + i, [f() for f in seen], text


def formatted(t: Any, x: Any) -> Any:
    n, word = x.shape[0], "q"
    return x, f"{n:>5}|{word!r:>4}|{word!s}|{word!a}|{n}{word}|{3.14159:.{n}f}|{x.shape}"


def slices(t: Any, x: Any) -> Any:
    items, n = [1, 2, 3, 4], 2
    items[1:2] = [9, 9]
    y = x.clone()
    y[0:1] = 3
    del items[0:1]
    return items, y, x[:, 1:], x[0:n], items[n:], items[:n:2]


def generators(t: Any, x: Any) -> Any:
    def inner(n: int) -> Any:
        for i in range(n):
            answer = yield i
            if answer:
                yield answer
        return "end"

    def outer() -> Iterator[Any]:
        value = yield from inner(2)
        yield value

    def catching() -> Iterator[int]:
        try:
            yield 1
        except KeyError:
            yield 2

    asked = inner(3)
    found = [next(asked), asked.send(7), next(asked)]
    asked.close()
    thrown = catching()
    next(thrown)
    last = thrown.throw(KeyError())  # type: ignore[attr-defined]
    return x * len(list(outer())), found, last, list(thrown)


def stops(t: Any, x: Any) -> Any:
    def wrong() -> Iterator[int]:
        yield 1
        raise StopIteration

    try:
        return list(wrong())
    except RuntimeError as error:
        return x, str(error)


def functions(t: Any, x: Any, n: int = 4) -> Any:
    count = 0

    def add(by: int = 1, *, times: int = 2) -> int:
        nonlocal count
        count += by * times
        return count

    def all_kinds(a: int, b: int = 2, *args: Any, c: int, d: int = 4, **kwargs: Any) -> Any:
        return a, b, args, c, d, kwargs

    add()
    add(3)
    add(times=5)
    items, table = [1, 2, 3], {"c": 1, "z": 2}
    return x + count, all_kinds(*items, **table), all_kinds(1, c=2), all_kinds(*items, c=3, q=x.shape[0])


def conditions(t: Any, x: Any) -> Any:
    a, b, n = 1, 0, None
    found = [k for k in (1, None, 2) if k is not None]
    return x, a and b, b or a, not a, (a if n is None else b), (n is not None and a), 0 < a < 3, found, not (a and n)


def loops(t: Any, x: Any) -> Any:
    i = 0
    while i < 5:
        i += 1
        if i == 2:
            continue
        if i == 4:
            break
        x = x + i
    else:
        x = x * 100
    for j in range(3):
        if j == 5:
            break
    else:
        x = x - 1
    return x, i, j


def deleted(t: Any, x: Any) -> Any:
    y = x + 1
    z = y
    del y
    try:
        return y  # noqa: F821
    except UnboundLocalError as error:
        return z, str(error)


def asserted(t: Any, x: Any) -> Any:
    assert x.dim() == 2, "the number of dimensions"
    try:
        assert x.dim() == 3, f"bad {x.dim()}"
    except AssertionError as error:
        return x, str(error), +len(error.args)


def unpacked(t: Any, x: Any) -> Any:
    a, b = x.unbind(0)
    (c, *d), e = [(1, 2, 3), 4]
    f, g = c, e
    f, g = g, f
    table = {"a": 1}
    return a, b, c, d, e, f, g, *d, {**table, "b": 2}, [*d, 1], {*d}


# Captured as one graph.
WHOLE: tuple[Callable[..., Any], ...] = (
    parents, comprehensions, names_in_comprehensions, shared_in_comprehensions, unset_after_a_comprehension, formatted,
    slices, generators, stops, functions, conditions, loops, deleted, asserted, unpacked,
)  # fmt: skip


def many_variables(t: Any, x: Any, u: int = 1) -> Any:
    a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s = range(19)  # noqa: E741
    y = x + a
    print(end="")
    z = y + s + r
    w = x[0 : int(z.sum() > 0)]
    print(q, r, end="", sep="", file=Nowhere())
    return z + q * p, w, f"{z.sum():>9}", o, n, m, l, k, j, i, h, g, f, e, d, c, b, a, u


class Nowhere:
    def write(self, text: str) -> None: ...


def closure_goes_on(t: Any, x: Any) -> Any:
    n = 1

    def f() -> int:
        return n + len(word)

    word = "ab"
    y = x * 2
    print(end="")
    n = 5
    return y + f(), [n * k for k in range(3)], f()


def argument_is_shared(t: Any, x: Any) -> Any:
    def f(y: Any) -> Any:
        return x + y

    print(end="")
    return f(1), operator.add(x, 2)


def branches(t: Any, x: Any) -> Any:
    y = x * 2
    z = y + 1 if x.sum() > 0 and y.sum() > 3 else y - 1
    if not (z.sum() > 3):
        return z * 2
    either = (z.sum() > 1) or z
    both = z.sum() > 100 and 3
    return z, either, both, 1 if z.sum() > 2 else 2, 1 < z.sum() < 4


def methods(t: Any, x: Any) -> Any:
    item = x.sum().item
    print(end="")
    return item() + 1, x.sum().item() * 2, int(x.sum()) + 3


def within_a_comprehension(t: Any, x: Any) -> Any:
    y = x + 1
    return y, [print(end="") or i for i in range(3)]  # type: ignore[func-returns-value]


def before_a_comprehension(t: Any, x: Any) -> Any:
    y = x + 1
    print(end="")
    seen = [lambda: i for i in range(3)]  # noqa: B023
    return y, [f() for f in seen], [j * y for j in range(2)]


def with_handlers(t: Any, x: Any) -> Any:
    y = x + 1
    print(end="")
    try:
        y = y + 1
        raise ValueError("x")
    except ValueError as error:
        y = y * len(str(error))
    return y


def within_a_handler(t: Any, x: Any) -> Any:
    y = x + 1
    try:
        print(end="")
        raise ValueError("x")
    except ValueError:
        y = y * 2
    return y


# In several graphs, or in none.
IN_PARTS: tuple[Callable[..., Any], ...] = (
    many_variables, closure_goes_on, argument_is_shared, branches, methods, within_a_comprehension,
    before_a_comprehension, with_handlers, within_a_handler,
)  # fmt: skip
