"""How does a program become a graph, and how is a graph checked, changed and run?

Mirrors: torch/jit/__init__.py, torch/csrc/jit
Differs: graphs come from traces and from text; there is no compiler for Python source.

Reading order: types, ir, printer, parser, verify; tracer, interpreter, _trace; passes.
"""

from glasstorch.jit._trace import ScriptFunction as ScriptFunction
from glasstorch.jit._trace import TopLevelTracedModule as TopLevelTracedModule
from glasstorch.jit._trace import trace as trace
from glasstorch.jit.tracer import TracerWarning as TracerWarning
from glasstorch.jit.tracer import is_tracing as is_tracing
from glasstorch.jit.tracer import register_tracer as register_tracer
