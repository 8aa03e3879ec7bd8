"""How does a user give an operator a kernel that computes sizes, strides and dtypes, and no elements?

Mirrors: torch/_library/fake_impl.py
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NoReturn

from glasstorch.core.errors import RegistrationError
from glasstorch.core.keys import DispatchKey
from glasstorch.core.symbols import is_symbol
from glasstorch.dispatch import undeclared
from glasstorch.dispatch.library import Library
from glasstorch.dispatch.operator import Kernel, Operator


@dataclass(frozen=True, slots=True, eq=False)
class FakeKernel:
    """A function that a user has registered, and where."""

    function: Callable[..., Any]
    source: str


class FakeImplHolder:
    """The fake kernels of one operator; the last one is active."""

    def __init__(self, qualname: str) -> None:
        self.qualname = qualname
        self.kernels: list[FakeKernel] = []

    @property
    def kernel(self) -> FakeKernel | None:
        return self.kernels[-1] if self.kernels else None

    def register(self, function: Callable[..., Any], source: str, library: Library, allow_override: bool) -> None:
        """Make a function the fake kernel, until the Library is closed."""
        operator = undeclared.find(self.qualname)
        if not allow_override and self.kernel is not None:
            raise RegistrationError(
                f"register_fake(...): the operator {self.qualname} already has a fake impl registered at "
                f"{self.kernel.source}; refused the one at {source}."
            )
        if not allow_override and operator is not None:
            for key in (DispatchKey.Meta, DispatchKey.CompositeImplicitAutograd):
                if operator.has_kernel_for(key):
                    raise RegistrationError(
                        f"register_fake(...): the operator {self.qualname} already has a kernel at {key.name}, from "
                        f"{operator.kernels[key][-1].where}, which runs without elements. Remove one of the two; "
                        f"refused the one at {source}."
                    )
        if operator is None:
            raise RegistrationError(f"operator {self.qualname} does not exist")
        kernel = FakeKernel(function, source)
        meta = Kernel(self._on_meta(kernel), DispatchKey.Meta, source, by_user=True)
        library.register(self.qualname.partition("::")[2], meta, allow_override=True)
        self.kernels.append(kernel)
        library.at_end(lambda: self.kernels.remove(kernel))

    def on_fake(self, operator: Operator, env: Any, refuse: Callable[[], NoReturn], args: Any, kwargs: Any) -> Any:
        """What the active kernel returns for fake tensors; `refuse` raises where it asks `env` in vain for a symbol."""
        kernel = self.kernel
        assert kernel is not None, "the caller has asked whether there is one"
        with ctx_from(lambda: FakeImplCtx(operator, env, refuse)):
            return kernel.function(*args, **kwargs)

    def _on_meta(self, kernel: FakeKernel) -> Callable[..., Any]:
        """The kernel for the device meta."""

        @functools.wraps(kernel.function)
        def on_meta(*args: Any, **kwargs: Any) -> Any:
            active = self.kernel or kernel

            def refuse() -> NoReturn:
                raise RuntimeError(
                    f"{self.qualname} ({active.source}): You're trying to run this operator with meta Tensors (as "
                    f"opposed to FakeTensors), but this operator may return an output Tensor with data-dependent "
                    f"shape. Only FakeTensors can have one: use them, or do not call torch.library.get_ctx() in the "
                    f"fake kernel."
                )

            with ctx_from(refuse):
                return active.function(*args, **kwargs)

        return on_meta


_holders: dict[str, FakeImplHolder] = {}  # by the operator's full name


def fake_impl_of(qualname: str) -> FakeImplHolder:
    """The fake kernels of an operator, by its full name."""
    return _holders.setdefault(qualname, FakeImplHolder(qualname))


def active_fake_impl_of(qualname: str) -> FakeImplHolder | None:
    """The same, if one of them is active; else None."""
    holder = _holders.get(qualname)
    return None if holder is None or holder.kernel is None else holder


class FakeImplCtx:
    """What a fake kernel may ask for while it runs."""

    def __init__(self, op: object, env: Any, refuse: Callable[[], NoReturn]) -> None:
        self._op = op
        self._env = env  # the ShapeEnv of the mode, or None
        self._refuse = refuse

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None) -> Any:
        """A symbol for a size that depends on elements. A mode without `shape_env` has none, and refuses."""
        if self._env is None or not self._env.allow_dynamic_output_shape_ops:
            self._refuse()
        if is_symbol(min) or is_symbol(max):
            raise ValueError(
                f"ctx.new_dynamic_size(min={min}, max={max}): expected min and max to be statically known ints but got "
                "SymInt. This is not supported."
            )
        if min < 0:
            raise ValueError(
                f"ctx.new_dynamic_size(min={min}, ...): expected min to be greater than or equal to 0: this API can "
                "only create non-negative sizes."
            )
        symbol = self._env.create_unbacked_symint()
        self._env._constrain_range_for_size(symbol.node.expr, min, max)
        return symbol

    def create_unbacked_symint(self, *, min: int = 2, max: int | None = None) -> Any:
        """The older name, under which sizes begin at 2."""
        return self.new_dynamic_size(min=min, max=max)


_ctx: ContextVar[Callable[[], Any] | None] = ContextVar("fake_ctx", default=None)


@contextmanager
def ctx_from(getter: Callable[[], Any]) -> Iterator[None]:
    """Let `get_ctx` return what a function returns."""
    token = _ctx.set(getter)
    try:
        yield
    finally:
        _ctx.reset(token)


def get_ctx() -> Any:
    """The FakeImplCtx of the fake kernel that is running; None outside of one."""
    getter = _ctx.get()
    return None if getter is None else getter()
