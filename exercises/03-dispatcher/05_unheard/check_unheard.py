"""Does each call reach the kernels that are registered, whatever was called before?"""

import itertools

from workbook.exercises.asking import Ask, expect

# Kernels that record their calls, the operators whose kernels they replace, and a call that reaches each of them
NOTING = """
from glasstorch.library import Library
noted = []
def view(self, size):
    noted.append("view")
    return self.as_strided(size, (size[1], 1))
def log_softmax(self, dim, dtype=None):
    noted.append("log_softmax")
    return self - self.exp().sum(dim, True).log()
def relu(self):
    noted.append("relu")
    return self.clamp(0)
kernels = {"view": (view, "CPU"), "log_softmax.int": (log_softmax, "CompositeImplicitAutograd"), "relu": (relu, "CPU")}
scores, classes = torch.tensor([[1.0, 2.0], [3.0, 5.0]]), torch.tensor([0, 1])
calls = {
    "reshape": lambda: torch.arange(4.0).reshape(2, 2),
    "cross_entropy": lambda: torch.nn.functional.cross_entropy(scores, classes),
    "relu": lambda: torch.relu(scores),
}
"""
WAYS = {"reshape": "view", "cross_entropy": "log_softmax.int", "relu": "relu"}


def test_a_kernel_is_in_force_at_once(ask: Ask) -> None:
    """the calls that reach a kernel that is registered after some calls, and removed again"""
    for before in itertools.product((False, True), repeat=3):
        run = "\n".join(f"calls[{name!r}]()" for name, wanted in zip(WAYS, before, strict=True) if wanted)
        for call, replaced in WAYS.items():
            came = ask.run(
                f"""{NOTING}
{run}
with Library("aten", "IMPL") as library:
    library.impl({replaced!r}, *kernels[{replaced!r}], allow_override=True)
    calls[{call!r}]()
calls[{call!r}]()
noted"""
            )
            accepted = [replaced.partition(".")[0]]
            expect(came, accepted, because="a call reaches the new kernel exactly while it is registered")


def test_what_is_not_concerned_keeps_its_table(ask: Ask) -> None:
    """the entries in the table of an unrelated operator, after a kernel is registered"""
    came = ask.run(
        f"""{NOTING}
from glasstorch.dispatch.library import registry
registry.find("aten::neg").table.clear()
torch.neg(scores)
kept = len(registry.find("aten::neg").table)
with Library("aten", "IMPL") as library:
    library.impl("view", view, "CPU", allow_override=True)
    after = len(registry.find("aten::neg").table)
kept > 0, after == kept"""
    )
    expect(came, (True, True), because="a registration empties only the tables of the operators that it affects")


def test_registrations_are_counted(ask: Ask) -> None:
    """the increase of the generation after one registration"""
    came = ask.run(
        f"""{NOTING}
from glasstorch.dispatch.library import registry
before = registry.generation
with Library("aten", "IMPL") as library:
    library.impl("view", view, "CPU", allow_override=True)
    after = registry.generation
after - before"""
    )
    expect(
        came, 1, because="an entry whose computation began before the registration is recognized by it as out of date"
    )
