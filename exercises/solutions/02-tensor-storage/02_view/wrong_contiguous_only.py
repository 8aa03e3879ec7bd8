"""Knows only row-major tensors, and refuses all others.

Refused by: check
"""

Shape = tuple[int, ...]


def view_strides(shape: Shape, strides: Shape, target: Shape) -> Shape | None:
    """The strides under which the storage reads as `target`, None if none do."""
    row_major = 1 if 0 not in shape and shape else 0
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and row_major:
            row_major = row_major * size if stride == row_major else 0
    if 0 in shape and shape == target:
        return strides
    if not row_major and 0 not in shape and shape:
        return None
    found = [1]
    for size in reversed(target[1:]):
        found.append(found[-1] * max(size, 1))
    return tuple(reversed(found))[: len(target)]
