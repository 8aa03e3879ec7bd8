"""Is the highest key found that does not pass by, with those above it, and is nobody else asked?"""

import random
from collections.abc import Callable

from glasstorch.core.keys import FUNCTIONALITIES, PER_BACKEND, DispatchKey, DispatchKeySet, key_set_of
from workbook.exercises.asking import Ask, Came, expect

Passes = Callable[[DispatchKey], bool]


def drawn(count: int) -> int:
    """A key set with so many functionalities and one backend, the same in every run."""
    draw = random.Random(f"walk {count}")
    backend = draw.choice(("CPU", "CUDA", "Meta"))
    others = [name for name in FUNCTIONALITIES if name not in PER_BACKEND]
    return key_set_of(backend, *draw.sample([*others, f"Autograd{backend}"], count - 1))


def downwards(keys: int) -> list[DispatchKey]:
    """The keys of a set with one backend, highest first: as a list, which is slow."""
    return [*DispatchKeySet(keys)][::-1]


def passing(names: set[str], asked: list[str] | None = None) -> Passes:
    """A table in which these keys pass by; it may write down who was asked."""

    def passes_by(key: DispatchKey) -> bool:
        if asked is not None:
            asked.append(key.name)
        return key.name in names

    return passes_by


def named(came: Came) -> object:
    """What came, with the names of keys in place of keys; anything else as it is."""
    match came.value:
        case (DispatchKey() as key, tuple() as passed) if all(isinstance(one, DispatchKey) for one in passed):
            return key.name, tuple(one.name for one in passed)
    return came.value


def told(keys: int, names: set[str]) -> str:
    """The question in words."""
    who = ", ".join(sorted(names)) or "nobody"
    return f"the next hop in {DispatchKeySet(keys)}, where these pass by: {who}"


def test_the_highest_that_does_not_pass_by(ask: Ask) -> None:
    """the next hop in a set with one backend"""
    for count, place in ((1, 0), (2, 1), (3, 0), (4, 2), (5, 4), (6, 3), (8, 7)):
        keys = drawn(count)
        names = [key.name for key in downwards(keys)]
        passed = set(names[:place])
        because = "the walk goes from the highest bit down, and tells who passed by in the order in which it asked"
        expect(
            named(ask("next_hop", keys, passing(passed))),
            (names[place], tuple(names[:place])),
            asked=told(keys, passed),
            because=because,
        )


def test_two_backends(ask: Ask) -> None:
    """the next hop in a set with two backends"""
    for low, high, passed, accepted in (
        ("CPU", "Meta", set(), ("AutogradMeta", ())),
        ("CPU", "CUDA", {"AutogradCUDA"}, ("CUDA", ("AutogradCUDA",))),
        ("CUDA", "XLA", {"AutogradXLA", "AutogradCUDA"}, ("XLA", ("AutogradXLA",))),
    ):
        keys = key_set_of(low, high, f"Autograd{low}")
        because = "a functionality is asked on the highest backend only, and passes by as a whole"
        came = ask("next_hop", keys, passing(passed))
        expect(named(came), accepted, asked=told(keys, passed), because=because)


def test_where_all_pass_by(ask: Ask) -> None:
    """the next hop in a set in which all pass by"""
    for names in ((), ("BackendSelect",), ("CPU",), ("Tracer",)):
        keys = key_set_of(*names)
        because = "what is left of the set has no functionality, and the key of that is Undefined"
        came = ask("next_hop", keys, lambda key: True)
        expect(named(came), ("Undefined", names), asked=told(keys, set(names)), because=because)


def test_who_is_asked(ask: Ask) -> None:
    """who is asked on the way to the next hop"""
    for names, hop in (
        (("AutogradCPU", "ADInplaceOrView", "CPU"), 0),
        (("AutocastCPU", "AutogradCPU", "ADInplaceOrView", "BackendSelect", "CPU"), 2),
        (("AutogradMeta", "Functionalize", "Meta"), 1),
    ):
        keys, asked = key_set_of(*names), list[str]()
        ask("next_hop", keys, passing(set(names[:hop]), asked)).value  # noqa: B018 (refuses what raised)
        expect(
            asked,
            [*names[: hop + 1]],
            asked=f"which keys of {DispatchKeySet(keys)} are asked, where {names[hop]} is the first not to pass by",
            because="what a key would do is found out by going through all rules, so only those on the way are asked",
        )
