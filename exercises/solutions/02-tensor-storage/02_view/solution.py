"""Walks the old sizes from the right, and at the end of each run takes new sizes until they have used it up."""

Shape = tuple[int, ...]


def view_strides(shape: Shape, strides: Shape, target: Shape) -> Shape | None:
    """The strides under which the storage reads as `target`, None if none do."""
    if 0 in shape:
        return strides if shape == target else row_major(target)
    if not shape:
        return (1,) * len(target)
    found: list[int] = []  # from the right
    rest = list(target)
    stride, elements, taken = strides[-1], 1, 1
    for dim in range(len(shape) - 1, -1, -1):
        elements *= shape[dim]
        if dim > 0 and (shape[dim - 1] == 1 or strides[dim - 1] == elements * stride):
            continue  # the run goes on
        while rest and (taken < elements or rest[-1] == 1):
            found.append(taken * stride)
            taken *= rest.pop()
        if taken != elements:
            return None
        if dim > 0:
            stride, elements, taken = strides[dim - 1], 1, 1
    return tuple(reversed(found))


def row_major(shape: Shape) -> Shape:
    """The strides of a new tensor."""
    found = [1]
    for size in reversed(shape[1:]):
        found.append(found[-1] * max(size, 1))
    return tuple(reversed(found))[: len(shape)]
