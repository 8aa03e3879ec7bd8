"""A complete tensor library in readable Python, with the names and semantics of torch.

Mirrors: torch/__init__.py
Differs: NumPy computes on the CPU; every layer is a folder of this package, each with a reading order in its docstring.
"""

import gc as _gc
import sys as _sys

# The generator runs on trees whose generated files may be stale or broken: it must not import them.
if _sys.orig_argv[1:3] != ["-m", "glasstorch.operators.gen"]:
    # Nearly all that is made here stays as long as the process: a search for cyclic garbage finds little and takes a
    # sixth of the time. Frozen, it is left out of later searches too, those at the process's end among them: decision
    # 0040.
    _collects = _gc.isenabled()
    _gc.disable()
    try:
        from glasstorch._facade import *  # noqa: F403
        from glasstorch._facade import __all__ as __all__
        from glasstorch._facade import __getattr__ as __getattr__
        from glasstorch.torch_version import __version__ as __version__

        _gc.freeze()
    finally:
        if _collects:
            _gc.enable()
