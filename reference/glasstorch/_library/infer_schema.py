"""Which schema do a function's annotations describe?

Mirrors: torch/_library/infer_schema.py
Differs: opaque types are not here, so that an annotation with one is refused as any other class.
"""

from __future__ import annotations

import inspect
import typing
from collections import abc
from collections.abc import Callable, Iterable, Sequence
from types import GenericAlias
from typing import Any, Final, NamedTuple, NoReturn

from glasstorch._tensor import Tensor
from glasstorch.core.device import device
from glasstorch.core.dtype import dtype
from glasstorch.dispatch.tags import Tag

NUMBER: Final = int | float | bool  # as torch.types.Number
UNKNOWN: Final = "unknown"  # of mutates_args: every tensor may be written to


class Described(NamedTuple):
    """A type of an annotation, the word of schemas for it, and which lists and optionals of it there are."""

    annotation: Any
    word: str
    has_list: bool = False
    has_list_of_optional: bool = False
    has_optional_list: bool = False


DESCRIBED: Final = (
    Described(Tensor, "Tensor", has_list=True, has_list_of_optional=True),
    Described(int, "SymInt", has_list=True, has_optional_list=True),
    Described(float, "float", has_list=True, has_optional_list=True),
    Described(bool, "bool", has_list=True, has_optional_list=True),
    Described(str, "str"),
    Described(NUMBER, "Scalar", has_list=True),
    Described(dtype, "ScalarType"),
    Described(device, "Device"),
)


def _lists_of(element: Any) -> tuple[Any, ...]:
    """The four ways to annotate a list."""
    return (
        typing.Sequence[element],
        typing.List[element],  # noqa: UP006
        GenericAlias(abc.Sequence, (element,)),
        GenericAlias(list, (element,)),
    )


def _parameter_types() -> dict[Any, str]:
    found: dict[Any, str] = {}
    for one in DESCRIBED:
        given: Any = one.annotation
        optional: Any = typing.Union[given, None]  # noqa: UP007
        found |= {one.annotation: one.word, optional: f"{one.word}?"}
        if one.has_list:
            found |= dict.fromkeys(_lists_of(one.annotation), f"{one.word}[]")
        if one.has_list_of_optional:
            found |= dict.fromkeys(_lists_of(optional), f"{one.word}?[]")
        if one.has_optional_list:
            found |= {typing.Union[many, None]: f"{one.word}[]?" for many in _lists_of(given)}  # noqa: UP007
    return found


SUPPORTED_PARAM_TYPES: Final = _parameter_types()
SUPPORTED_RETURN_TYPES: Final[dict[Any, str]] = {
    Tensor: "Tensor",
    typing.List[Tensor]: "Tensor[]",  # noqa: UP006
    list[Tensor]: "Tensor[]",
    int: "SymInt",
    float: "float",
    bool: "bool",
    NUMBER: "Scalar",
}


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
    tags: Tag | Sequence[Tag] | None = (),
) -> str:
    """The schema of a function with annotations, `(Tensor x, SymInt n=2) -> Tensor`; after `op_name` where it is given.

    `mutates_args` are the names of the arguments that are written to, or "unknown" where every tensor may be. The tags
    `inplace` and `out` say that the result is what was written to.

    >>> def scaled(x: Tensor, by: float = 2.0) -> Tensor: ...
    >>> infer_schema(scaled, mutates_args=())
    '(Tensor x, float by=2.0) -> Tensor'
    """
    return _Reading(prototype_function, mutates_args, _as_tuple(tags)).schema(op_name)


def _as_tuple(tags: Tag | Sequence[Tag] | None) -> tuple[Tag, ...]:
    return () if tags is None else (tags,) if isinstance(tags, Tag) else tuple(tags)


class _Reading:
    """One function that is read."""

    def __init__(self, function: Callable[..., Any], mutates_args: str | Iterable[str], tags: tuple[Tag, ...]) -> None:
        self.globals = function.__globals__
        self.signature = inspect.signature(function)
        self.is_inplace, self.is_out = Tag.inplace in tags, Tag.out in tags
        assert not (self.is_inplace and self.is_out), "torch.Tag.inplace and torch.Tag.out are mutually exclusive"
        self.mutates = mutates_args if isinstance(mutates_args, str) else tuple(mutates_args)
        self.outs: dict[str, str] = {}  # name -> alias, of the arguments of an operator tagged `out`
        self.first: tuple[str, str, str] | None = None  # name, type and alias of the first positional argument

    def refuse(self, what: str) -> NoReturn:
        raise ValueError(f"infer_schema(func): {what} Got func with signature {self.signature})")

    def schema(self, op_name: str | None) -> str:
        parts: list[str] = []
        for i, (name, parameter) in enumerate(self.signature.parameters.items()):
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                self.refuse("We do not support positional-only args, varargs, or varkwargs.")
            if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
                parts.append("*")
            parts.append(self._parameter(f"a{i}", name, parameter))
        self._check_names()
        returns = self._returns()
        return f"{op_name or ''}({', '.join(parts)}) -> {returns}"

    # Parameters -----------------------------------------------------------------------------------------------------

    def _parameter(self, alias: str, name: str, parameter: inspect.Parameter) -> str:
        if parameter.annotation is parameter.empty:
            self.refuse(f"Parameter {name} must have a type annotation.")
        word = self._word(name, parameter.annotation)
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and self.first is None:
            self.first = name, word, alias
        if self._is_written(name, word):
            written = f"Tensor({alias}!){word.removeprefix('Tensor')}"
            if self.is_out:
                if parameter.kind is not parameter.KEYWORD_ONLY:
                    self.refuse("torch.Tag.out requires mutable arguments to be keyword-only.")
                if word != "Tensor":
                    self.refuse("torch.Tag.out only supports mutable keyword-only Tensor arguments.")
                self.outs[name] = alias
            word = written
        default = "" if parameter.default is parameter.empty else f"={self._default(name, parameter.default)}"
        return f"{word} {name}{default}"

    def _word(self, name: str, given: Any) -> str:
        annotation = self._resolved(given)
        word = SUPPORTED_PARAM_TYPES.get(annotation) if isinstance(annotation, abc.Hashable) else None
        if word is not None:
            return word
        valid = f"The valid types are: {SUPPORTED_PARAM_TYPES.keys()}."
        if typing.get_origin(annotation) is tuple or annotation is typing.Tuple:  # noqa: UP006
            as_list = _as_list(annotation)
            example = f"For example, {as_list}.\n\n" if as_list in SUPPORTED_PARAM_TYPES else "\n\n"
            self.refuse(
                f"Parameter {name} has unsupported type {given}. We do not support Tuple inputs in schema. As a "
                f"workaround, please try to use List instead. {example}{valid}"
            )
        return self.refuse(f"Parameter {name} has unsupported type {given}. {valid}")

    def _resolved(self, annotation: Any) -> Any:
        """The annotation with every type that is written as a string replaced by the type."""
        if isinstance(annotation, str):
            return self._evaluated(annotation)
        arguments = typing.get_args(annotation)
        if any(isinstance(one, str | typing.ForwardRef) for one in arguments):
            resolved = tuple(
                self._resolved(one.__forward_arg__ if isinstance(one, typing.ForwardRef) else one) for one in arguments
            )
            origin = typing.get_origin(annotation)
            made: Any = typing.Union if origin is typing.Union else origin
            return made[resolved]
        return annotation

    def _evaluated(self, text: str) -> Any:
        try:
            return eval(text, self.globals)
        except NameError as error:
            self.refuse(
                f"Unsupported type annotation {text}. It is not a type. ({error}). With 'from __future__ import "
                f"annotations' an annotation is a string, which is evaluated later: its types have to be names of the "
                f"module, not only of the function around."
            )
        except Exception as error:  # noqa: BLE001  (an annotation may be any expression)
            self.refuse(f"Unsupported type annotation {text}. It is not a type. ({type(error).__name__}: {error})")

    def _is_written(self, name: str, word: str) -> bool:
        is_tensor = word.startswith("Tensor")
        if isinstance(self.mutates, str):
            if self.mutates != UNKNOWN:
                raise ValueError(
                    "mutates_args must either be a sequence of the names of the arguments that are mutated or the "
                    "string 'unknown'. "
                )
            return is_tensor
        if name in self.mutates and not is_tensor:
            self.refuse(
                f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated"
            )
        return name in self.mutates

    def _default(self, name: str, value: Any) -> str:
        if value is None or isinstance(value, int | float | bool):
            return str(value)
        if isinstance(value, str | device):
            return f'"{value}"'
        if isinstance(value, dtype):
            return str(value).removeprefix("torch.")
        return self.refuse(
            f"Parameter {name} has an unsupported default value type {type(value)}. Please file an issue on GitHub so "
            f"we can prioritize this."
        )

    def _check_names(self) -> None:
        if not isinstance(self.mutates, str) and (unknown := set(self.mutates) - set(self.signature.parameters)):
            self.refuse(
                f"{unknown} in mutates_args were not found in the custom op's signature. mutates_args should contain "
                f"the names of all args that the custom op mutates, or just the string 'unknown' if you don't know."
            )
        if self.is_inplace:
            if self.first is None:
                self.refuse("torch.Tag.inplace requires a positional Tensor argument.")
            if self.first[1] != "Tensor":
                self.refuse("torch.Tag.inplace requires the first positional argument to be a Tensor.")
            if isinstance(self.mutates, str) or set(self.mutates) != {self.first[0]}:
                self.refuse(
                    f"torch.Tag.inplace requires mutates_args to contain exactly the first positional argument, got "
                    f"{self.mutates}."
                )
        if self.is_out and not self.outs:
            self.refuse("torch.Tag.out requires at least one mutable keyword-only Tensor argument.")

    # Results --------------------------------------------------------------------------------------------------------

    def _returns(self) -> str:
        annotation = self._resolved(self.signature.return_annotation)
        if self.is_out:
            return self._returned_outs(annotation)
        words = self._words_of_returns(annotation)
        if self.is_inplace:
            assert self.first is not None
            if words != "Tensor":
                self.refuse("torch.Tag.inplace requires the return annotation to be torch.Tensor.")
            return f"Tensor({self.first[2]}!)"
        return words

    def _words_of_returns(self, annotation: Any) -> str:
        if annotation is None:
            return "()"
        if annotation is inspect.Parameter.empty:
            self.refuse("No return type annotation was provided. Please add one.")
        several = typing.get_origin(annotation) is tuple
        parts = typing.get_args(annotation) if several else (annotation,)
        if any(part not in SUPPORTED_RETURN_TYPES for part in parts):
            self.refuse(f"Return has unsupported type {annotation}. The valid types are: {SUPPORTED_RETURN_TYPES}.")
        words = ", ".join(SUPPORTED_RETURN_TYPES[part] for part in parts)
        # PyTorch writes the tuple of one result with two pairs of parentheses, and so its schema has one result.
        return words if not several else f"(({words}))" if len(parts) == 1 else f"({words})"

    def _returned_outs(self, annotation: Any) -> str:
        count = len(self.outs)
        fits = (
            annotation is Tensor
            if count == 1
            else typing.get_origin(annotation) is tuple and typing.get_args(annotation) == (Tensor,) * count
        )
        if not fits:
            self.refuse(
                f"torch.Tag.out requires the return annotation to match the mutable keyword-only Tensor arguments "
                f"{tuple(self.outs)}."
            )
        words = ", ".join(f"Tensor({alias}!)" for alias in self.outs.values())
        return words if count == 1 else f"({words})"


def _as_list(annotation: Any) -> Any:
    """The list that may stand for a tuple: of its one type, or of any of them."""
    parts = [part for part in typing.get_args(annotation) if part is not Ellipsis]
    if not parts:
        return list
    return GenericAlias(list, (parts[0] if len(parts) == 1 else typing.Union[tuple(parts)],))  # noqa: UP007
