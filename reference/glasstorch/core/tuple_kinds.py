"""Is a tuple one whose fields have names?

Mirrors: torch/utils/_pytree.py (is_namedtuple, is_structseq)
"""

from __future__ import annotations

from glasstorch.core.return_types import NamedResults


def is_namedtuple(obj: object) -> bool:
    """Whether an object is a named tuple, or a class of them."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_namedtuple_class(cls: object) -> bool:
    """Whether a class is made by `namedtuple` or `NamedTuple`, or derives from such a class."""
    if not isinstance(cls, type) or not issubclass(cls, tuple):
        return False
    fields = getattr(cls, "_fields", None)
    named = isinstance(fields, tuple) and all(type(field) is str for field in fields)
    return named and callable(getattr(cls, "_make", None)) and callable(getattr(cls, "_asdict", None))


def is_namedtuple_instance(obj: object) -> bool:
    """Whether an object is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_structseq(obj: object) -> bool:
    """Whether an object is a struct sequence, as `time.localtime()` is, or a class of them."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_class(cls: object) -> bool:
    """Whether a class is one of struct sequences, which C makes, or of the results of an operator."""
    if isinstance(cls, type) and issubclass(cls, NamedResults):  # which PyTorch makes so
        return cls is not NamedResults
    counts = ("n_fields", "n_sequence_fields", "n_unnamed_fields")
    return (
        isinstance(cls, type)
        and cls.__bases__ == (tuple,)
        and all(isinstance(getattr(cls, count, None), int) for count in counts)
        and not cls.__flags__ & 1 << 10  # Py_TPFLAGS_BASETYPE: it may be derived from
    )


def is_structseq_instance(obj: object) -> bool:
    """Whether an object is a struct sequence."""
    return is_structseq_class(type(obj))
