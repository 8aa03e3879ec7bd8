"""Does each call reach both of two modes that record their calls?"""

import glasstorch as torch
from glasstorch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack


class Noting(TorchDispatchMode):
    """Records each operator and lets it run."""

    def __init__(self):
        super().__init__()
        self.noted = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.noted.append(str(func))
        self.around = _get_current_dispatch_mode_stack()
        return func(*args, **(kwargs or {}))


outer, inner = Noting(), Noting()
x = torch.ones(2)
with outer:
    with inner:
        x.exp()
    x.sin()
print("the inner mode:", inner.noted, " with the outer one around it:", inner.around == [outer])
print("the outer mode:", outer.noted)
if len(outer.noted) != 2:
    raise SystemExit(f"two operators ran inside the outer mode, and it was called for {len(outer.noted)}")
