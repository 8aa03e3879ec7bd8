"""Does a kernel registered for `view` record the sizes of all calls?"""

import glasstorch as torch
from glasstorch.library import Library

noted = []


def noting_view(self, size):
    """Record the sizes, and return the view of a row-major tensor."""
    noted.append(tuple(size))
    strides = [1]
    for length in reversed(size[1:]):
        strides.insert(0, strides[0] * length)
    return self.as_strided(size, strides, self.storage_offset())


def model(x):
    """A layer that calls `view` directly and through `reshape`."""
    return (x.view(2, 6) * 2).reshape(3, 4)


x = torch.arange(12.0)
for warm in (False, True):
    if warm:
        model(x)
    with Library("aten", "IMPL") as library:
        library.impl("view", noting_view, "CPU", allow_override=True)
        model(x)
    print("after a first run:" if warm else "in a new program: ", noted)
    if len(noted) != 2:
        raise SystemExit(f"two views were made, but only {len(noted)} was recorded")
    noted.clear()
