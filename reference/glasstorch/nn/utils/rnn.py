"""How are sequences of several lengths given to a recurrent network?

The answer is in nn/packing.py.

Mirrors: torch/nn/utils/rnn.py
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.nn.packing import (
    PackedSequence,
    PackedSequence_,
    bind,
    invert_permutation,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpack_sequence,
    unpad_sequence,
)

__all__ = [
    "PackedSequence",
    "PackedSequence_",
    "bind",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]

__getattr__ = _refuse_unknown_names(__name__)
