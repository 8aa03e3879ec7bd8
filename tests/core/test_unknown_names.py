"""Is a caller told what to do about a name that is not here?"""

from typing import Any

import pytest

from glasstorch.core.unknown_names import as_torch, nearest, offered_names, unknown_name


def test_the_nearest_name_ignores_case_and_gives_up_where_nothing_is_near() -> None:
    assert nearest("crossentropyloss", ["CrossEntropyLoss", "MSELoss"]) == "CrossEntropyLoss"
    assert nearest("softmaks", ["log_softmax", "softmax"]) == "softmax"
    assert nearest("fft", ["relu", "Linear"]) is None
    assert nearest("einsum", ["sum"]) is None
    assert nearest("rnad", ["rand", "randn"]) == "rand"


def test_the_message_says_what_is_missing_the_nearest_and_where_the_list_is() -> None:
    error = unknown_name("glasstorch.nn", "Liner", ["Linear"])
    assert str(error) == (
        "module 'glasstorch.nn' has no attribute 'Liner': torch.nn.Liner is not in glasstorch; the nearest name is "
        "'Linear'; `python -m glasstorch --list` prints what there is"
    )
    assert error.name == "Liner"
    assert "nearest" not in str(unknown_name("glasstorch", "xyzzy", ["Linear"]))


def test_what_is_left_out_on_purpose_is_said_to_be() -> None:
    assert str(unknown_name("glasstorch.nn", "qat", ["cat"])) == (
        "module 'glasstorch.nn' has no attribute 'qat': torch.nn.qat is left out of glasstorch, because there are no "
        "quantized dtypes"
    )


def test_private_names_are_refused_without_advice() -> None:
    # Python itself asks modules for names such as __path__ and __wrapped__.
    assert str(unknown_name("glasstorch", "__wrapped__", ["x"])) == "module 'glasstorch' has no attribute '__wrapped__'"


def test_modules_offer_all_or_what_the_library_made() -> None:
    names = {"nearest": nearest, "b": as_torch, "_c": nearest, "Any": Any, "pytest": pytest, "annotations": 1}
    assert offered_names(names) == ["b", "nearest"]
    assert offered_names({"b": 1, "a": 2, "__all__": ["b"]}) == ["b"]
    assert as_torch("glasstorch.nn.init") == "torch.nn.init"


@pytest.mark.parametrize("module", ["nn", "nn.functional", "nn.init", "optim"])
def test_modules_of_the_library_refuse_unknown_names(module: str) -> None:
    import importlib

    found = importlib.import_module(f"glasstorch.{module}")
    with pytest.raises(AttributeError, match=f"torch.{module}.Liner is not in glasstorch"):
        _ = found.Liner
