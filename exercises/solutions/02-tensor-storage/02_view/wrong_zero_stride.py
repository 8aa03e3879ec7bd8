"""Lets no stride of 0 belong to a run, as if repeated cells could never be walked as one."""

REFUSED_BY = "check"

Shape = tuple[int, ...]


def view_strides(shape: Shape, strides: Shape, target: Shape) -> Shape | None:
    if 0 in shape:
        return strides if shape == target else row_major(target)
    if not shape:
        return (1,) * len(target)
    found: list[int] = []
    rest = list(target)
    stride, elements, taken = strides[-1], 1, 1
    for dim in range(len(shape) - 1, -1, -1):
        elements *= shape[dim]
        if dim > 0 and (shape[dim - 1] == 1 or (strides[dim - 1] == elements * stride and stride != 0)):
            continue
        while rest and (taken < elements or rest[-1] == 1):
            found.append(taken * stride)
            taken *= rest.pop()
        if taken != elements:
            return None
        if dim > 0:
            stride, elements, taken = strides[dim - 1], 1, 1
    return tuple(reversed(found))


def row_major(shape: Shape) -> Shape:
    found = [1]
    for size in reversed(shape[1:]):
        found.append(found[-1] * max(size, 1))
    return tuple(reversed(found))[: len(shape)]
