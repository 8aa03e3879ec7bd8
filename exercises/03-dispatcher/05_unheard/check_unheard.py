"""Does each call reach the kernels that are in force, whatever was called before?"""

import itertools

from workbook.exercises.asking import Ask, expect

# What is replaced, by a kernel that notes its calls, and a call whose way leads to it
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
    """what is noted by a kernel that was registered after some calls, and after it was taken back"""
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
            expect(came, accepted, because="a call goes to the kernel in force: to this one while it was registered")


def test_what_is_not_concerned_keeps_its_table(ask: Ask) -> None:
    """how many entries the table of another operator keeps, when a kernel is registered"""
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
    expect(came, (True, True), because="a registration empties the tables of the operators that it concerns, no others")


def test_registrations_are_counted(ask: Ask) -> None:
    """by how much the generation is higher after one registration"""
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
        came, 1, because="a resolver that began before the registration sees by it that its entry may be out of date"
    )
