"""Which functions that take or give iterators are understood?

Mirrors: torch/_dynamo/variables/iter.py, torch/_dynamo/variables/builtin.py
Differs: Python's own iterators run, over values in place of objects.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any, Final

from glasstorch.compiler.bytecode.objects import advanced, is_users
from glasstorch.compiler.bytecode.operations import binary, items_of, order, truth
from glasstorch.compiler.bytecode.raising import Raised, evaluated
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import (
    Constant,
    Generator,
    Group,
    Iterating,
    Mapping,
    Partial,
    Sequence,
    TensorValue,
    Value,
    View,
    as_key,
    describe,
    known,
)
from glasstorch.compiler.bytecode.wrapping import made

Call = Callable[..., Value]
NONE: Final = Constant(None)


def _rows(rows: Iterator[Any]) -> Value:
    """An iterator over tuples."""
    return Iterating(Sequence(list(row), tuple) for row in rows)


def _zip(recorder: Recorder, *values: Value, **options: Value) -> Value:
    columns = [items_of(recorder, value) for value in values]
    strict = known(options["strict"]) if "strict" in options else False
    return _rows(_of_program(zip(*columns, strict=strict)))


def _of_program(items: Iterator[Any]) -> Iterator[Any]:
    """The items of an iterator of Python, whose own errors are the program's."""
    while True:
        try:
            item = next(items)
        except StopIteration:
            return
        except (ValueError, RuntimeError) as error:
            raise Raised(error) from error
        yield item


def _enumerate(recorder: Recorder, iterable: Value, start: Value = Constant(0)) -> Value:  # noqa: B008  # a constant
    numbers = itertools.count(known(start))
    return _rows((Constant(next(numbers)), item) for item in items_of(recorder, iterable))


def _reversed(recorder: Recorder, value: Value) -> Value:
    if isinstance(value, Sequence):
        return Iterating(reversed(value.items))
    if isinstance(value, Mapping):
        return Iterating(map(made, reversed(value.items)))
    if isinstance(value, View):
        return Iterating(iter(list(items_of(recorder, value))[::-1]))
    if isinstance(value, Constant):
        return Iterating(map(made, evaluated(reversed, value.value)))
    if isinstance(value, TensorValue):
        return Iterating(iter(list(items_of(recorder, value))[::-1]))
    raise Unsupported(f"reversed() of {describe(value)}")


def _iter(recorder: Recorder, value: Value, *end: Value) -> Value:
    if end:
        raise Unsupported("iter() of a function and a value that ends it")
    return value if isinstance(value, Iterating) else Iterating(items_of(recorder, value))


def _next(recorder: Recorder, value: Value, *default: Value) -> Value:
    if is_users(value):
        found = next(advanced(recorder, value), None)
    elif isinstance(value, Generator) and not default:
        found = value.frame.send(NONE)
    elif isinstance(value, Iterating):
        found = next(value.items, None)
    else:
        raise Raised(TypeError(f"{describe(value)} is not an iterator"))
    if found is not None:
        return found
    if default:
        return default[0]
    raise Raised(StopIteration())


def _map(recorder: Recorder, function: Value, *values: Value) -> Value:
    columns = [items_of(recorder, value) for value in values]
    return Iterating(recorder.call(function, list(row), {}) for row in zip(*columns, strict=False))


def _keeps(recorder: Recorder, function: Value) -> Callable[[Value], bool]:
    """Whether a function, or None for the item itself, says that an item is kept."""
    if isinstance(function, Constant) and function.value is None:
        return lambda item: truth(recorder, item)
    return lambda item: truth(recorder, recorder.call(function, [item], {}))


def _filter(recorder: Recorder, function: Value, value: Value) -> Value:
    return Iterating(filter(_keeps(recorder, function), items_of(recorder, value)))


def _selecting(select: Any) -> Call:
    def make(recorder: Recorder, function: Value, value: Value) -> Value:
        return Iterating(select(_keeps(recorder, function), items_of(recorder, value)))

    return make


def _sum(recorder: Recorder, value: Value, start: Value = Constant(0)) -> Value:  # noqa: B008  # a constant
    total = start
    for item in items_of(recorder, value):
        total = binary(recorder, operator.add, total, item)
    return total


def _reduce(recorder: Recorder, function: Value, value: Value, *first: Value) -> Value:
    items = items_of(recorder, value)
    total = first[0] if first else next(items, None)
    if total is None:
        raise Raised(TypeError("reduce() of empty iterable with no initial value"))
    for item in items:
        total = recorder.call(function, [total, item], {})
    return total


def _any(recorder: Recorder, value: Value) -> Value:
    return Constant(any(truth(recorder, item) for item in items_of(recorder, value)))


def _all(recorder: Recorder, value: Value) -> Value:
    return Constant(all(truth(recorder, item) for item in items_of(recorder, value)))


def _sorted(
    recorder: Recorder,
    value: Value,
    *,
    key: Value = NONE,
    reverse: Value = Constant(False),  # noqa: B008  # a constant
) -> Value:
    return Sequence(order(recorder, list(items_of(recorder, value)), key, known(reverse)), list)


def _extreme(function: Any, better: Callable[..., Any]) -> Call:
    """`min` or `max`."""

    def find(recorder: Recorder, *values: Value, key: Value = NONE, default: Value | None = None) -> Value:
        items = list(items_of(recorder, values[0])) if len(values) == 1 else list(values)
        if any(isinstance(item, TensorValue) for item in items):
            raise Unsupported(f"{function.__name__}() of a tensor, whose elements are not known while it is captured")
        if not items:
            if default is None:
                evaluated(function, [])
            return default or NONE
        is_plain = isinstance(key, Constant) and key.value is None
        keys = items if is_plain else [recorder.call(key, [item], {}) for item in items]
        best = 0
        for i in range(1, len(items)):
            if truth(recorder, binary(recorder, better, keys[i], keys[best])):
                best = i
        return items[best]

    return find


def _chain(recorder: Recorder, *values: Value) -> Value:
    return Iterating(item for value in values for item in items_of(recorder, value))


def _chain_all(recorder: Recorder, values: Value) -> Value:
    return Iterating(item for value in items_of(recorder, values) for item in items_of(recorder, value))


def _product(recorder: Recorder, *values: Value, repeat: Value = Constant(1)) -> Value:  # noqa: B008  # a constant
    return _rows(itertools.product(*[list(items_of(recorder, value)) for value in values], repeat=known(repeat)))


def _choosing(choose: Any) -> Call:
    def make(recorder: Recorder, value: Value, *counts: Value, **named: Value) -> Value:
        given = {name: known(count) for name, count in named.items()}
        return _rows(evaluated(choose, list(items_of(recorder, value)), *map(known, counts), **given))

    return make


def _islice(recorder: Recorder, value: Value, *limits: Value) -> Value:
    return Iterating(evaluated(itertools.islice, items_of(recorder, value), *map(known, limits)))


def _repeat(recorder: Recorder, object: Value, times: Value | None = None) -> Value:  # Python's name
    return Iterating(itertools.repeat(object) if times is None else itertools.repeat(object, known(times)))


def _count(recorder: Recorder, start: Value = Constant(0), step: Value = Constant(1)) -> Value:  # noqa: B008  # constants
    return Iterating(map(made, evaluated(itertools.count, known(start), known(step))))


def _cycle(recorder: Recorder, value: Value) -> Value:
    return Iterating(itertools.cycle(items_of(recorder, value)))


def _zip_longest(recorder: Recorder, *values: Value, fillvalue: Value = NONE) -> Value:
    return _rows(itertools.zip_longest(*[items_of(recorder, value) for value in values], fillvalue=fillvalue))


def _pairwise(recorder: Recorder, value: Value) -> Value:
    return _rows(itertools.pairwise(items_of(recorder, value)))


def _starmap(recorder: Recorder, function: Value, value: Value) -> Value:
    return Iterating(recorder.call(function, list(items_of(recorder, row)), {}) for row in items_of(recorder, value))


def _accumulate(recorder: Recorder, value: Value, func: Value = NONE, *, initial: Value = NONE) -> Value:
    is_plain = isinstance(func, Constant) and func.value is None

    def step(total: Value, item: Value) -> Value:
        return binary(recorder, operator.add, total, item) if is_plain else recorder.call(func, [total, item], {})

    start = None if isinstance(initial, Constant) and initial.value is None else initial
    return Iterating(itertools.accumulate(items_of(recorder, value), step, initial=start))


def _partial(recorder: Recorder, function: Value, /, *args: Value, **kwargs: Value) -> Value:
    if isinstance(function, Partial) and function.source is None:
        return Partial(function.function, [*function.args, *args], {**function.kwargs, **kwargs})
    return Partial(function, list(args), kwargs)


def _set(recorder: Recorder, value: Value | None = None) -> Value:
    return Group(set() if value is None else evaluated(set, [as_key(item) for item in items_of(recorder, value)]))


UNDERSTOOD: Final[dict[Any, Call]] = {
    zip: _zip, enumerate: _enumerate, reversed: _reversed, iter: _iter, next: _next, map: _map, filter: _filter,
    sum: _sum, functools.reduce: _reduce, any: _any, all: _all, sorted: _sorted, min: _extreme(min, operator.lt),
    max: _extreme(max, operator.gt), itertools.chain: _chain, itertools.product: _product, itertools.islice: _islice,
    itertools.permutations: _choosing(itertools.permutations),
    itertools.combinations: _choosing(itertools.combinations),
    itertools.combinations_with_replacement: _choosing(itertools.combinations_with_replacement),
    itertools.repeat: _repeat, itertools.count: _count, itertools.cycle: _cycle, itertools.zip_longest: _zip_longest,
    itertools.pairwise: _pairwise, itertools.starmap: _starmap, itertools.accumulate: _accumulate,
    itertools.takewhile: _selecting(itertools.takewhile), itertools.dropwhile: _selecting(itertools.dropwhile),
    itertools.filterfalse: _selecting(itertools.filterfalse), itertools.chain.from_iterable: _chain_all,
    functools.partial: _partial, set: _set,
}  # fmt: skip


def iterator_method(recorder: Recorder, owner: Iterating, name: str, args: list[Value]) -> Value:
    """What a method of an iterator gives: of a generator, also `send`, `throw` and `close`."""
    if name == "__iter__":
        return owner
    if name == "__next__":
        return _next(recorder, owner)
    if not isinstance(owner, Generator):
        raise Unsupported(f"{name} of an iterator")
    if name == "send":
        return owner.frame.send(*args)  # type: ignore[no-any-return]
    if name == "close":
        owner.frame.close()
        return NONE
    if name == "throw":
        return owner.frame.throw_values(args)  # type: ignore[no-any-return]
    raise Unsupported(f"{name} of a generator")
