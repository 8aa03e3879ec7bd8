"""Walks a tensor without elements like any other: nothing times anything is nothing, and no run is used up."""

REFUSED_BY = "check"


def view_strides(shape: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...] | None:
    if not shape:
        return (1,) * len(target)
    found: list[int] = []
    rest = list(target)
    stride, elements, taken = strides[-1], 1, 1
    for dim in range(len(shape) - 1, -1, -1):
        elements *= shape[dim]
        if dim > 0 and (shape[dim - 1] == 1 or strides[dim - 1] == elements * stride):
            continue
        while rest and (taken < elements or rest[-1] == 1):
            found.append(taken * stride)
            taken *= rest.pop()
        if taken != elements:
            return None
        if dim > 0:
            stride, elements, taken = strides[dim - 1], 1, 1
    return tuple(reversed(found))
