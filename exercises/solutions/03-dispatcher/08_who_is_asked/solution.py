"""Finds the first class of the tuple that is a base, unless the class itself is there already."""

from typing import Any

from glasstorch.dispatch.python_fallback import overrides_dispatch


def with_its_class(asked: tuple[Any, ...], tensor: Any) -> tuple[Any, ...]:
    """The tensors whose classes to ask, with one more if its class is new."""
    kind = type(tensor)
    classes = [type(one) for one in asked]
    if kind in classes or not overrides_dispatch(kind):
        return asked
    place = 0
    while place < len(asked) and not issubclass(kind, classes[place]):
        place += 1
    return (*asked[:place], tensor, *asked[place:])
