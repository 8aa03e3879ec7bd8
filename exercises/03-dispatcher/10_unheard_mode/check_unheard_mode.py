"""Is every active mode called, and with the right keys included?"""

from workbook.exercises.asking import Ask, expect

NOTING = """
from glasstorch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack
noted = []
class Noting(TorchDispatchMode):
    def __init__(self, name):
        super().__init__()
        self.name = name
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        noted.append((self.name, len(_get_current_dispatch_mode_stack())))
        return func(*args, **(kwargs or {}))
x = torch.ones(2)
"""


def test_three_modes(ask: Ask) -> None:
    """the calls of three nested modes, each with the number of modes around it"""
    came = ask.run(
        f"""{NOTING}
with Noting("a"), Noting("b"), Noting("c"):
    x.neg()
noted"""
    )
    because = "a mode is off while its method runs, and the modes around it are on"
    expect(came, [("c", 2), ("b", 1), ("a", 0)], because=because)


def test_the_key(ask: Ask) -> None:
    """whether the key Python is included before, inside and after a mode, and whether the other keys stay the same"""
    came = ask.run(
        f"""{NOTING}
from glasstorch.core.keys import PYTHON
from glasstorch.dispatch.active_keys import active_keys
keys = [active_keys.get()[0]]
with Noting("a"):
    keys.append(active_keys.get()[0])
keys.append(active_keys.get()[0])
[bool(included & PYTHON) for included in keys], keys[0] == keys[2], keys[1] & ~PYTHON == keys[0]"""
    )
    because = "the key Python is included while a mode is on, and no other key changes"
    expect(came, ([False, True, False], True, True), because=because)
