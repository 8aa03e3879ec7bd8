"""Are operators found under their own names, and is a wrong name answered with help?"""

import pytest

import glasstorch as t


def test_an_overload_is_an_attribute_of_its_packet() -> None:
    assert t.ops.aten.add.Tensor.name == "aten::add.Tensor"
    assert t.ops.aten.relu.overloads() == ["default"]
    assert "add" in dir(t.ops.aten)


@pytest.mark.parametrize(
    ("namespace", "name", "advice"),
    [
        ("aten", "ad", "the nearest name is 'add'; dir(torch.ops.aten) lists what there is"),
        ("aten", "xyzzy", "dir(torch.ops.aten) lists what there is"),
        ("nowhere", "add", "no operator is defined in this namespace; dir(torch.ops) lists those that have one"),
    ],
)
def test_an_unknown_operator_is_refused_with_advice(namespace: str, name: str, advice: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(getattr(t.ops, namespace), name)
    assert str(caught.value) == f"'_OpNamespace' '{namespace}' object has no attribute '{name}': {advice}"


def test_an_unknown_overload_is_refused_with_those_there_are() -> None:
    with pytest.raises(AttributeError, match=r"'aten\.add' has no overload name 'Nothing'; it has "):
        _ = t.ops.aten.add.Nothing
