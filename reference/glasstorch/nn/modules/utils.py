"""How does a layer find what is saved under a prefix?

Mirrors: torch/nn/modules/utils.py
Differs: how a number stands for all dimensions is decided in `nn/functions/tuples.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.nn.functions.tuples import _list_with_default as _list_with_default
from glasstorch.nn.functions.tuples import _ntuple as _ntuple
from glasstorch.nn.functions.tuples import _pair as _pair
from glasstorch.nn.functions.tuples import _quadruple as _quadruple
from glasstorch.nn.functions.tuples import _reverse_repeat_tuple as _reverse_repeat_tuple
from glasstorch.nn.functions.tuples import _single as _single
from glasstorch.nn.functions.tuples import _triple as _triple

__all__ = ["consume_prefix_in_state_dict_if_present"]


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Remove a prefix, such as `module.`, from the names in a state dict and in its metadata, in place.

    Names with the prefix move to the end.
    """
    _consume(state_dict, prefix, [key for key in state_dict if key.startswith(prefix)])
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is not None:
        whole = prefix.replace(".", "")  # the name of the module that is removed
        _consume(metadata, prefix, [key for key in metadata if key and (key == whole or key.startswith(prefix))])


def _consume(names: dict[str, Any], prefix: str, keys: Iterable[str]) -> None:
    for key in keys:
        names[key[len(prefix) :]] = names.pop(key)


__getattr__ = _refuse_unknown_names(__name__)
