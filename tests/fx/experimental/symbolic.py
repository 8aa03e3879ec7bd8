"""What do both libraries print of the same arithmetic with symbols?"""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

# Of a size a, 5, and another, b, 7; what follows the first line decides something, so that a becomes 5.
ARITHMETIC = (
    "a+b", "a-b", "-a", "a*b", "2*a+1", "a//2", "a/2", "a%2", "a%b", "a**2", "a**b", "2**a", "a+1.5", "a*1.5",
    "a//1.5", "a/1.5", "abs(a)", "round(a)", "math.floor(a/2)", "math.ceil(a/2)", "math.trunc(a/2)",
    "torch.sym_max(a,b)", "torch.sym_min(a,3)", "torch.sym_max(a,2)", "torch.sym_max(a,1.5)", "torch.sym_int(a/2)",
    "torch.sym_float(a)", "torch.sym_sqrt(a)", "torch.sym_not(a==b)", "torch.sym_ite(a<b,a,b)",
    "torch.sym_sum([a,b,1])", "a==b", "a<b", "a>=b", "a!=3", "(a<b)&(a>2)", "(a<b)|(a>2)", "a<<2", "a>>1", "a&3", "a|3",
    "a^3", "(a+b)//2", "(2*a+4)//2", "a//b", "(a*b)//b", "(a//2)//3", "(a+b)%2", "(-a)//2", "(a-b)%3", "1/a",
    "pow(a,0.5)", "round(a/3)", "round(a/3,2)", "torch._sym_log2(a)", "a.node.hint", "a-a", "a==a",
    "torch.sym_max(a,1)", "bool(a==5)", "hash(a)", "a==5.0", "a=='x'", "a==None", "divmod(a,2)", "float(a)", "int(b)",
    "~a", "[1,2,3,4,5,6,7,8][a]", "range(b)", "complex(a)", "f'{a}'", "(a/2)==2.5", "math.sqrt(a)", "isinstance(a,int)",
    "a.node.maybe_as_int()", "torch.sym_max(2,3)", "2-a", "7//a", "7%a", "2**b", "1.5-a", "a.bit_length()", "bool(a)",
    "(a/2)**2", "-(a/2)", "abs(a/2)", "(a/2)<b", "(a/2)%2", "max(a,b)", "min(a,1)", "sum([a,b])", "sorted([b,a])",
)  # fmt: skip
# Of numbers u, v and w that depend on elements, and a size s.
UNKNOWN = (
    "u", "u>2", "bool(u>2)", "int(u)", "torch._check(u>=0)", "bool(u>=0)", "bool(u==-1)", "bool(u==0)",
    "torch._check_is_size(u)", "s_.guard_size_oblivious(u==1)", "s_.guard_size_oblivious(u!=1)",
    "s_.guard_or_false(u==1)", "s_.guard_or_true(u==1)", "s_.statically_known_true(u>=0)",
    "s_.statically_known_true(u>5)", "torch._check(u<10)", "bool(u<20)", "bool(u*2>100)",
    "s_.statically_known_true(u<10)", "torch._check(v==u*2)", "bool(v%2==0)", "torch._check(w==s)", "w",
    "torch._check(s>3)", "s_.free_symbols(u+s)==s_.free_symbols([u,s])", "s_.has_free_symbols(3)",
    "s_.has_free_symbols(s)", "s_.is_concrete_int(s)", "s_.guard_int(s)", "s_.is_concrete_int(s)", "s_.guard_int(3)",
    "s_.guard_int(u)", "s_.guard_scalar(s>2)", "s_.sym_eq([s,2],[s,2])", "s_.sym_and(u>3,v>2)", "torch._check(False)",
    "torch._check(False,lambda:'no')", "torch._check_value(False,lambda:'no')", "torch._check(1)",
    "torch._check_index(2>3)", "u==u", "bool(u==u)", "bool(u-u==0)", "bool(u+1>u)", "torch.sym_max(u,1)",
    "bool(torch.sym_max(u,1)>=1)", "bool(torch.sym_not(u>=0))", "[0,1][u]", "range(u)",
)  # fmt: skip
TERMS = (
    "a", "b", "c", "d", "a+b", "2*a", "c//2", "a*b", "c-a", "d-1", "a+1", "c%4", "(a+b)//2", "3*d", "a*2+c", "c//a",
)  # fmt: skip
SIZES = {"a": 6, "b": 6, "c": 12, "d": 7}


def module(torch: Any, path: str) -> Any:
    """A module of one of the libraries."""
    return import_module(f"{torch.__name__}.{path}")


def symbols(torch: Any, env: Any, values: Mapping[str, int]) -> dict[str, Any]:
    """A symbol for each value, by its name."""
    shapes, sources = module(torch, "fx.experimental.symbolic_shapes"), module(torch, "_dynamo.source")
    made = {}
    for name, value in values.items():
        source = sources.ConstantSource(name)
        symbol = env.create_symbol(value, source=source, dynamic_dim=shapes.DimDynamic.DYNAMIC)
        made[name] = env.create_symintnode(symbol, hint=value, source=source)
    return made


def told(expressions: Sequence[str], names: dict[str, Any]) -> Iterator[str]:
    """What each expression gives, or how it fails."""
    for text in expressions:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = eval(text, names)
            except Exception as error:  # noqa: BLE001  # whatever is raised is what is compared
                message = str(error).partition("\n\nconsider")[0].partition("Caused by")[0].strip()
                yield f"{text}: {type(error).__name__} {message}"
            else:
                yield f"{text}: {result} {type(result).__name__}"


def known(env: Any) -> str:
    """What an environment knows of its symbols."""
    asserted = sorted(str(one.expr) for each in env.deferred_runtime_asserts.values() for one in each)
    ranges = {str(symbol): str(within) for symbol, within in env.var_to_range.items()}
    return f"{env.format_guards()} {env.replacements} {ranges} {asserted}"


def arithmetic(torch: Any) -> list[str]:
    env = module(torch, "fx.experimental.symbolic_shapes").ShapeEnv()
    names = {"torch": torch, "math": math} | symbols(torch, env, {"a": 5, "b": 7})
    return [*told(ARITHMETIC, names), known(env)]


def unknown(torch: Any) -> list[str]:
    shapes = module(torch, "fx.experimental.symbolic_shapes")
    env = shapes.ShapeEnv()
    names = {"torch": torch, "s_": shapes} | {name: env.create_unbacked_symint() for name in "uvw"}
    return [*told(UNKNOWN, names | symbols(torch, env, {"s": 5})), known(env)]


def decided(torch: Any, seed: int, programs: int) -> list[str]:
    """Conditions over sizes, some of which follow from others."""
    draw, lines = random.Random(seed), []
    for _ in range(programs):
        env = module(torch, "fx.experimental.symbolic_shapes").ShapeEnv()
        right = [*TERMS, "2", "6", "0", "1", "12"]
        conditions = [
            f"bool({draw.choice(TERMS)} {draw.choice(('==', '<', '>', '<=', '>=', '!='))} {draw.choice(right)})"
            for _ in range(draw.randint(1, 5))
        ]
        lines += [*told(conditions, symbols(torch, env, SIZES)), known(env)]
    return lines
