"""Lets the composite kernel step aside for a NonFunctional one too, which is not among the exceptions."""

from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.operator import Kernel, Operator, registry
from glasstorch.dispatch.resolve import INCLUDED_IN, Choice, backends_of

REFUSED_BY = "check"


def choose(operator: Operator, key: DispatchKey) -> Choice:
    def registered(name: DispatchKey) -> Kernel | None:
        kernels = operator.kernels.get(name)
        return kernels[-1] if kernels else None

    def served(alias: DispatchKey, undefined_too: bool = False) -> Kernel | None:
        if key in INCLUDED_IN[alias] or (undefined_too and key is DispatchKey.Undefined):
            return registered(alias)
        return None

    if kernel := registered(key):
        return Choice(key, kernel, "kernel")
    if kernel := served(DispatchKey.CompositeExplicitAutogradNonFunctional, undefined_too=True):
        return Choice(key, kernel, "default backend kernel")
    if kernel := served(DispatchKey.CompositeExplicitAutograd, undefined_too=True):
        return Choice(key, kernel, "default backend kernel")
    if kernel := served(DispatchKey.CompositeImplicitAutogradNestedTensor):
        return Choice(key, kernel, "nested kernel")
    if kernel := served(DispatchKey.CompositeImplicitAutograd, undefined_too=True):
        of_backend = any(registered(backend) for backend in backends_of(key))
        of_all = any(
            registered(alias)
            for alias in (DispatchKey.CompositeExplicitAutograd, DispatchKey.CompositeExplicitAutogradNonFunctional)
        )
        if key is DispatchKey.AutogradOther and of_backend:
            return Choice(key, None, "ambiguous autogradother")
        if not (of_backend or of_all):
            return Choice(key, kernel, "math kernel")
    if kernel := served(DispatchKey.Autograd):
        return Choice(key, kernel, "autograd kernel")
    if kernel := served(DispatchKey.FuncTorchBatchedDecomposition):
        return Choice(key, kernel, "batched kernel")
    if kernel := registry.fallbacks.get(key):
        return Choice(key, kernel, "backend fallback")
    return Choice(key, None, "missing")
