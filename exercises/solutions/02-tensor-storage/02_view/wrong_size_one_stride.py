"""Drops the sizes 1 before the walk and puts them back with stride 1."""

REFUSED_BY = "check"


def view_strides(shape: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...] | None:
    if 0 in shape:
        return strides if shape == target else row_major(target)
    if not shape:
        return (1,) * len(target)
    found: list[int] = []
    rest = [size for size in target if size != 1]
    stride, elements, taken = strides[-1], 1, 1
    for dim in range(len(shape) - 1, -1, -1):
        elements *= shape[dim]
        if dim > 0 and (shape[dim - 1] == 1 or strides[dim - 1] == elements * stride):
            continue
        while rest and taken < elements:
            found.append(taken * stride)
            taken *= rest.pop()
        if taken != elements:
            return None
        if dim > 0:
            stride, elements, taken = strides[dim - 1], 1, 1
    return tuple(1 if size == 1 else found.pop() for size in target)


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    found = [1]
    for size in reversed(shape[1:]):
        found.append(found[-1] * max(size, 1))
    return tuple(reversed(found))[: len(shape)]
