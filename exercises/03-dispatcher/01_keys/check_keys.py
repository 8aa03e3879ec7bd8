"""Are keys put into one integer and listed again, and is the highest key found?"""

import itertools
import random
from collections.abc import Iterator

from glasstorch.core.keys import ALIASES, BACKENDS, FUNCTIONALITIES, PER_BACKEND, RUNTIME_KEYS, DispatchKey
from workbook.exercises.asking import Ask, Raises, expect


def bits_of_keys() -> dict[str, int]:
    """The bits of every runtime key, spelled out."""
    found: dict[str, int] = {}
    for place, functionality in enumerate(FUNCTIONALITIES, start=16):
        if functionality in PER_BACKEND:
            for backend_place, backend in enumerate(BACKENDS):
                found[PER_BACKEND[functionality] + backend] = 2**place + 2**backend_place
        else:
            found[functionality] = 2**place
    return found


BITS = bits_of_keys()
EVERY_BIT = 2 ** (16 + len(FUNCTIONALITIES)) - 1
ONE_BACKEND = ("CPU", "CUDA", "XPU", "Meta", "PrivateUse1")


def united(names: tuple[str, ...]) -> int:
    """The bits of several keys, each bit once."""
    bits = 0
    for name in names:
        bits |= BITS[name]
    return bits


def in_hex(bits: object) -> object:
    """An integer in hexadecimal: each digit is four bits, and the last four digits are the backends."""
    return hex(bits) if type(bits) is int else bits


def sets_on_one_backend() -> Iterator[tuple[str, ...]]:
    """Sets of keys on one backend, each from low to high, and the smaller sets first."""
    draw = random.Random("03.1")
    for size, backend in itertools.product(range(1, 8), ONE_BACKEND):
        others = draw.sample([name for name in FUNCTIONALITIES if name not in PER_BACKEND], size)
        names = {*others, *(PER_BACKEND[draw.choice(list(PER_BACKEND))] + backend for _ in range(2))}
        yield tuple(sorted(names, key=lambda name: RUNTIME_KEYS.index(DispatchKey[name])))


def test_the_bits_of_one_key(ask: Ask) -> None:
    """the bits of one runtime key"""
    for name, bits in sorted(BITS.items(), key=lambda item: len(item[0])):
        expect(
            in_hex(ask("key_set_of", name).value),
            hex(bits),
            because="a key has the bit of its functionality and, if that is in PER_BACKEND, the bit of its backend",
        )


def test_the_bits_of_several_keys(ask: Ask) -> None:
    """the bits of several runtime keys"""
    for names in (("CPU", "AutogradCPU"), ("CPU", "CUDA", "SparseMeta"), ("AutogradCPU", "ADInplaceOrView", "CPU")):
        expect(
            in_hex(ask("key_set_of", *names).value), hex(united(names)), because="a bit that two keys share is set once"
        )


def test_keys_given_as_members(ask: Ask) -> None:
    """the bits of runtime keys that are given as members of DispatchKey"""
    for key in (DispatchKey.CUDA, DispatchKey.Tracer):
        expect(
            in_hex(ask("key_set_of", key).value), hex(BITS[key.name]), because="a member and its name are the same key"
        )


def test_nothing_to_put_in(ask: Ask) -> None:
    """the bits of a set without keys"""
    for names in ((), ("Undefined",)):
        expect(ask("key_set_of", *names), 0, because="the empty set is 0, and Undefined adds no bit")


def test_an_alias(ask: Ask) -> None:
    """an error for an alias"""
    for alias in ALIASES:
        expect(ask("key_set_of", alias), Raises(AssertionError, alias), because="an alias means many runtime keys")


def test_the_highest_functionality(ask: Ask) -> None:
    """the key that a set goes to"""
    sets = [(united(names), DispatchKey[names[-1]]) for names in sets_on_one_backend()]
    for keys, highest in (*sets, (EVERY_BIT, DispatchKey.PythonDispatcher)):
        expect(ask("highest_key", keys), highest, because="the highest of 62 bits decides; a float holds only 53")


def test_the_highest_backend(ask: Ask) -> None:
    """the key that a set with two backends goes to"""
    for names, highest in ((("CPU", "CUDA"), "CUDA"), (("AutogradMeta", "CPU"), "AutogradMeta")):
        expect(ask("highest_key", united(names)), DispatchKey[highest], because="a higher backend comes first")


def test_no_key_to_go_to(ask: Ask) -> None:
    """the key that a set without keys goes to, or one whose highest functionality lacks a backend"""
    dense = 1 << 16
    autograd = dense << FUNCTIONALITIES.index("AutogradFunctionality")
    for keys in (0, 0b1, dense, autograd, autograd | BITS["ADInplaceOrView"]):
        because = "only the highest functionality counts, and if it is in PER_BACKEND it needs a backend"
        expect(ask("highest_key", keys), DispatchKey.Undefined, because=because)


def test_the_keys_in_a_set(ask: Ask) -> None:
    """the runtime keys in a set, from low to high"""
    for names in sets_on_one_backend():
        found = [key.name for key in ask("runtime_keys", united(names)).value]
        asked = f"the runtime keys in {united(names):#x}"
        expect(found, list(names), asked=asked, because="the keys are in the order of their functionalities' bits")


def test_every_functionality_with_every_backend(ask: Ask) -> None:
    """the runtime keys in a set with several backends"""
    for names, accepted in (
        (("SparseCPU", "CUDA"), ["CPU", "CUDA", "SparseCPU", "SparseCUDA"]),
        (("AutogradMeta", "XPU", "Tracer"), ["XPU", "Meta", "AutogradXPU", "AutogradMeta", "Tracer"]),
    ):
        found = [key.name for key in ask("runtime_keys", united(names)).value]
        asked = f"the runtime keys in {united(names):#x}, made of {' and '.join(names)}"
        because = "each functionality has a key on every backend of the set, in the order of BACKENDS"
        expect(found, accepted, asked=asked, because=because)


def test_the_keys_come_one_by_one(ask: Ask) -> None:
    """an iterator of runtime keys"""
    found = ask("runtime_keys", BITS["CPU"]).value
    asked = "an iterator, for which next() can be called"
    expect(hasattr(found, "__next__"), True, asked=asked, because="a loop over a DispatchKeySet uses this iterator")
