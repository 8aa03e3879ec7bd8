"""Do the containers behave like the list and the dictionary they stand for?"""

from collections import OrderedDict

import pytest

import glasstorch as torch
from glasstorch import nn


def layers(count: int) -> list[nn.Linear]:
    return [nn.Linear(2, 2) for _ in range(count)]


def test_sequential_applies_its_modules_in_order() -> None:
    first, second = layers(2)
    x = torch.rand(3, 2)
    assert nn.Sequential(first, nn.ReLU(), second)(x).tolist() == second(nn.ReLU()(first(x))).tolist()
    assert nn.Sequential()(x) is x


def test_sequential_takes_names() -> None:
    net = nn.Sequential(OrderedDict([("input", nn.Linear(2, 3)), ("output", nn.Linear(3, 1))]))
    assert list(net.state_dict()) == ["input.weight", "input.bias", "output.weight", "output.bias"]
    assert net[0] is net.input
    assert repr(net[:1]) == "Sequential(\n  (input): Linear(in_features=2, out_features=3, bias=True)\n)"


@pytest.mark.parametrize("kind", [nn.Sequential, nn.ModuleList])
def test_numbered_containers_are_lists(kind: type) -> None:
    a, b, c, d = layers(4)
    held = kind(a, b) if kind is nn.Sequential else kind([a, b])
    assert len(held) == 2
    assert list(held) == [a, b]
    assert held[-1] is b
    held.append(c)
    held.insert(1, d)
    assert list(held) == [a, d, b, c]
    assert type(held[1:3]) is kind
    assert list(held[1:3]) == [d, b]
    held[0] = c
    assert held[0] is c
    del held[1]
    assert [name for name, _ in held.named_parameters()][::2] == ["0.weight", "1.weight"]  # c comes once
    assert held.pop(0) is c
    assert list(held) == [b, c]
    held.extend([a, d])
    held += nn.Sequential(nn.ReLU())
    assert len(held) == 5
    del held[1:]
    assert list(held) == [b]
    assert sum(1 for _ in held.parameters()) == 2


@pytest.mark.parametrize("kind", [nn.Sequential, nn.ModuleList])
def test_places_that_do_not_exist_are_refused(kind: type) -> None:
    held = kind()
    for use in (lambda: held[0], lambda: held.pop(-1), lambda: held.insert(2, nn.ReLU())):
        with pytest.raises(IndexError, match="out of range"):
            use()


def test_sequentials_and_lists_are_added() -> None:
    a, b, c, d = layers(4)
    assert list(nn.Sequential(a, b) + nn.Sequential(c)) == [a, b, c]
    assert list(nn.ModuleList([a]) + [b, c, d]) == [a, b, c, d]
    with pytest.raises(ValueError, match="supports only objects of Sequential class"):
        nn.Sequential(a) + [b]
    with pytest.raises(ValueError, match="supports only objects of Sequential class"):
        nn.Sequential(a).__iadd__([b])
    with pytest.raises(TypeError, match="should be called with an iterable"):
        nn.ModuleList().extend(1)  # type: ignore[arg-type]


def test_a_list_prints_runs_of_equal_modules_as_one() -> None:
    held = nn.ModuleList([*layers(3), nn.ReLU(), nn.Sequential(nn.ReLU())])
    assert repr(held) == (
        "ModuleList(\n"
        "  (0-2): 3 x Linear(in_features=2, out_features=2, bias=True)\n"
        "  (3): ReLU()\n"
        "  (4): Sequential(\n"
        "    (0): ReLU()\n"
        "  )\n"
        ")"
    )
    assert repr(nn.ModuleList()) == "ModuleList()"


def test_module_dict_is_a_dictionary() -> None:
    a, b, c = layers(3)
    held = nn.ModuleDict({"a": a, "b": b})
    assert list(held) == ["a", "b"]
    assert held["a"] is a
    assert "b" in held
    held["c"] = c
    assert dict(held.items()) == {"a": a, "b": b, "c": c}
    assert list(held.keys()) == ["a", "b", "c"]
    assert list(held.values()) == [a, b, c]
    assert held.pop("a") is a
    del held["b"]
    held.update([("d", a)])
    held.update(nn.ModuleDict({"e": b}))
    assert list(held) == ["c", "d", "e"]
    assert len(list(held.parameters())) == 6
    held.clear()
    assert len(held) == 0
    with pytest.raises(TypeError, match="should be called with an iterable of key/value pairs"):
        held.update(1)  # type: ignore[arg-type]
