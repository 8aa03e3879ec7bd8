"""Goes along each path inwards to make what the views are views of, and outwards to put back the new elements."""

from collections.abc import Sequence

from glasstorch import Tensor
from glasstorch.func.functional_tensor import View

Update = tuple[Tensor, tuple[View, ...]]  # new values, and the views to them


def worked_in(value: Tensor, updates: Sequence[Update]) -> Tensor:
    """The value of a base after updates, in the order in which they came."""
    for changed, path in updates:
        befores = [value]
        for view in path[:-1]:
            befores.append(view.make(befores[-1]))
        for view, before in zip(reversed(path), reversed(befores), strict=False):
            changed = view.put_back(before, changed)
        value = changed
    return value
