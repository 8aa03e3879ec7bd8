"""Does a file get exactly the object that a list has under the path that it names?"""

import io
from collections import OrderedDict
from pickle import UnpicklingError
from typing import Any

from glasstorch.serialization.weights_only import Unpickler
from workbook.exercises.asking import Ask, Came, Raises, expect


def machine(**by_users: Any) -> Unpickler:
    """A machine to which a program has allowed some paths, with `__` for a dot."""
    made = Unpickler(io.BytesIO())
    made.by_users = {path.replace("__", "."): what for path, what in by_users.items()}
    return made


def asked(ask: Ask, module: str, name: str, **by_users: Any) -> Came:
    """The answer's outcome for one name."""
    return ask("found", machine(**by_users), module, name)


def test_what_every_file_may_name(ask: Ask) -> None:
    """the object for a name on the list for every file, which a program has allowed for another object"""
    came = asked(ask, "collections", "OrderedDict", collections__OrderedDict=dict)
    expect(came, OrderedDict, because="if both lists have a path, the one for every file takes precedence")


def test_blocked_modules(ask: Ask) -> None:
    """a refusal of names in blocked modules, even if a program has allowed them"""
    because = "a file must not name anything in these modules, or in modules inside them, even if it was allowed"
    for module, name in (("os", "system"), ("sys", "exit"), ("os.path", "join"), ("nt", "system")):
        came = asked(ask, module, name, **{f"{module}.{name}".replace(".", "__"): len})
        refused = Raises(UnpicklingError, f"GLOBAL {module}.{name} whose module {module} is blocked")
        expect(came, refused, because=because)
    came = asked(ask, "oslo", "Config", oslo__Config=set)
    expect(came, set, because="a module whose name begins with the same letters is a different one")


def test_names_with_dots(ask: Ask) -> None:
    """the outcome for names with dots in them"""
    because = "an attribute of an object on the list is not itself on the list"
    for name in ("Tensor.mro", "Size.count", "Tensor.__init__.__globals__"):
        refused = Raises(UnpicklingError, f"GLOBAL torch.{name} was not an allowed global")
        expect(asked(ask, "torch", name), refused, because=because)
    came = asked(ask, "models", "Net.Options", models__Net__Options=dict)
    expect(came, dict, because="a program has allowed this class by its full path")


def test_what_counts_as_false(ask: Ask) -> None:
    """the object for a name that a program has allowed, if the object counts as false"""
    for what in ((), 0, None):
        came = asked(ask, "models", "NOTHING", models__NOTHING=what)
        expect(came, what, because="an object on the list is returned, whatever its value")


def test_the_refusal(ask: Ask) -> None:
    """the name that a refusal advises a program to allow"""
    because = "users copy this name into a program; only names of the module builtins have a path without a module"
    for module, name, told in (
        ("builtins", "eval", "eval"),
        ("builtins", "list", "list"),
        ("subtle", "builtins", "subtle.builtins"),
        ("models.builtins", "Net", "models.builtins.Net"),
    ):
        advice = f"GLOBAL {told} was not an allowed global by default. Please use "
        refused = Raises(UnpicklingError, f"{advice}`torch.serialization.add_safe_globals([{told}])`")
        expect(asked(ask, module, name), refused, because=because)
