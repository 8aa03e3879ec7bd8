"""How do the tables of all operators differ from PyTorch's, and why?

`python -m tests.dispatch.tables` prints the differences by key and by the rules on both sides, the largest group first;
`--write` brings the names in different_registrations.txt up to date, below the reasons that stand there.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

MISSING: Final = "missing"
LIST: Final = Path(__file__).with_name("different_registrations.txt")
ROW: Final = re.compile(
    r"(\w+): (fallthrough )?registered (?:at|by) .*\[([a-z ]+)\]|(\w+): \w+ \[(ambiguous autogradother)\]"
)
REGISTERED: Final = re.compile(r"(\w+)(?:\[alias\])?: .*:: .* \[ (fallthrough )?.*\]")

NOT_HERE = "the library has no kernels for this backend"
# Keys at which the two libraries differ for one reason, whatever the operator.
BY_KEY: Final = {
    **dict.fromkeys(("MkldnnCPU", "MPS", "QuantizedCPU", "QuantizedMeta", "NestedTensorHPU"), NOT_HERE),
    **dict.fromkeys(("SparseCPU", "SparseMeta", "SparseCsrCPU", "SparseCsrMeta", "NestedTensorCPU"),
        "PyTorch has kernels of these layouts for more operators"),
    **dict.fromkeys(("AutogradNestedTensor", "BatchedNestedTensor"),
        "PyTorch has kernels of nested tensors for more operators"),
    **dict.fromkeys(("AutocastMTIA", "AutocastMAIA", "AutocastXPU", "AutocastMPS"),
        "autocast has policies for the devices that hold tensors here: cpu and cuda"),
    "PrivateUse1": "what serves all devices here serves a reader's too; PyTorch registers it for its own devices",
    "CUDA": "the kernels of CUDA are loaded with its driver; PyTorch's package for the CPU has none",
    "Tracer": "one fallback records every operator; PyTorch generates a kernel for each",
    "FuncTorchBatched": "vmap finds its rules by the operators' rows in one fallback; PyTorch registers each",
    "FuncTorchBatchedDecomposition": "vmap calls a composite kernel for its parts without a second registration",
    "Batched": "PyTorch's first vmap, which torch.func replaced, is left out",
    "VmapMode": "what PyTorch's first vmap does about random numbers is left out with it",
    "FuncTorchVmapMode": "the interpreter of vmap decides about random numbers by the operator's tag",
    "FuncTorchDynamicLayerFrontMode": "the interpreter of a transform decides by the operator's tags",
    "FuncTorchDynamicLayerBackMode": "a transform unwraps its tensors before the operator is called",
    "Functionalize": "one fallback replays writes and views; PyTorch generates a kernel for each",
    "Conjugate": "a rule on the schema says who may see the bit (kernels/math_bits.py); PyTorch lists the operators",
    "Negative": "a rule on the schema says who may see the bit (kernels/math_bits.py); PyTorch lists the operators",
    "ZeroTensor": "tensors of zeros without memory are left out",
    "PythonTLSSnapshot": "the keys that a mode saw are not restored by a key of their own",
    "PreDispatch": "modes before autograd are left out",
    "PythonDispatcher": "the dispatcher is written in Python; there is no second one to switch to",
    "DeferredInit": "an uninitialised parameter refuses every operator by a fallback; PyTorch refuses in a subclass",
}  # fmt: skip

ASKED: Final = ("CPU", "CompositeImplicitAutograd", "Autograd", "ADInplaceOrView", "BackendSelect")
PROGRAM: Final = """
import json, sys
import torch
import glasstorch
from glasstorch.amp.kernels import register_autocast_kernels
from glasstorch.dispatch.operator import registry
for device in ("cpu", "cuda"):
    register_autocast_kernels(device)
out = {}
for name in torch._C._dispatch_get_all_op_names():
    theirs = torch._C._dispatch_dump(name), torch._C._dispatch_dump_table(name)
    shared = name in registry.operators
    ours = (glasstorch._C._dispatch_dump(name), glasstorch._C._dispatch_dump_table(name)) if shared else ()
    out[name] = [*theirs, *ours]
query = "_dispatch_get_registrations_for_dispatch_key"
told = {key: [list(getattr(t._C, query)(key)) for t in (torch, glasstorch)] for key in sys.argv[1:]}
json.dump([out, told], sys.stdout)
"""


class Both(NamedTuple):
    """An operator in PyTorch and here: what is registered, and what each key leads to."""

    their_kernels: Mapping[str, str]  # key or alias -> "kernel" or "fallthrough"
    their_table: Mapping[str, str]  # runtime key -> rule, after "fallthrough " where it is passed by
    kernels: Mapping[str, str]
    table: Mapping[str, str]


def table_of(text: str) -> dict[str, str]:
    """The rules that a dump of a table tells."""
    rules = {}
    for row in text.splitlines():
        found = ROW.fullmatch(row)
        assert found is not None, f"cannot read {row!r}"
        rules[found[1] or found[4]] = (found[2] or "") + (found[3] or found[5])
    return rules


def kernels_of(text: str) -> dict[str, str]:
    """What a dump of an operator says is registered; kernels that were replaced are left out."""
    rows = text.splitlines()
    while rows and not rows[0].startswith("alias analysis kind"):
        rows.pop(0)
    found = {}
    for row in rows[1:]:
        if row and "(inactive)" not in row:
            match = REGISTERED.fullmatch(row)
            assert match is not None, f"cannot read {row!r}"
            found[match[1]] = "fallthrough" if match[2] else "kernel"
    return found


@cache
def asked() -> tuple[dict[str, list[str]], dict[str, list[list[str]]]]:
    """What both libraries tell of every operator of PyTorch, in a process in which nothing else was registered.

    The dumps of each operator; and for each of ASKED the operators with a kernel there.
    """
    done = subprocess.run([sys.executable, "-c", PROGRAM, *ASKED], capture_output=True, text=True, check=True)
    dumped, told = json.loads(done.stdout)
    return dumped, told


def dumps() -> dict[str, list[str]]:
    """PyTorch's dumps of an operator, and ours where we have it."""
    return asked()[0]


@cache
def shared() -> dict[str, Both]:
    """The operators that both libraries have."""
    return {
        name: Both(kernels_of(text[0]), table_of(text[1]), kernels_of(text[2]), table_of(text[3]))
        for name, text in sorted(dumps().items())
        if len(text) == 4
    }


def differing_kernels(both: Both) -> Iterator[tuple[str, str, str]]:
    """Each key or alias at which not the same is registered, with what PyTorch has and what is here."""
    for key in sorted(both.their_kernels.keys() | both.kernels.keys()):
        theirs, ours = both.their_kernels.get(key, "nothing"), both.kernels.get(key, "nothing")
        if theirs != ours:
            yield key, theirs, ours


def differing_rules(both: Both) -> Iterator[tuple[str, str, str]]:
    """Each runtime key with not the same rule, with PyTorch's and ours."""
    for key in sorted(both.their_table.keys() | both.table.keys()):
        theirs, ours = both.their_table.get(key, MISSING), both.table.get(key, MISSING)
        if theirs != ours:
            yield key, theirs, ours


def registrations_that_differ() -> dict[tuple[str, str, str], list[str]]:
    """By key, what PyTorch has and what is here: the operators. Keys with a reason of their own are left out."""
    groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for name, both in shared().items():
        for difference in differing_kernels(both):
            if difference[0] not in BY_KEY:
                groups[difference].append(name.removeprefix("aten::"))
    return dict(groups)


# The list -----------------------------------------------------------------------------------------------------------

HEADING: Final = re.compile(r"# (\w+): in PyTorch (\w+), here (\w+)\. (.+)")


class Listed(NamedTuple):
    """A kind of difference, why it is there, and the operators that have it."""

    reason: str
    names: tuple[str, ...]


def listed() -> dict[tuple[str, str, str], Listed]:
    """The list of differences."""
    found = {}
    for part in LIST.read_text(encoding="utf-8").split("\n\n"):
        heading, *names = part.strip().splitlines()
        match = HEADING.fullmatch(heading)
        assert match is not None, f"cannot read {heading!r}"
        found[match[1], match[2], match[3]] = Listed(match[4], tuple(" ".join(names).split()))
    return found


def written(groups: Mapping[tuple[str, str, str], Iterable[str]]) -> str:
    """The list with these operators; each group must have its reason in the list that there is."""
    parts, known = [], listed() if LIST.exists() else {}
    for (key, theirs, ours), names in sorted(groups.items(), key=lambda item: item[0]):
        reason = known[key, theirs, ours].reason if (key, theirs, ours) in known else "NO REASON YET"
        lines = textwrap.wrap(" ".join(sorted(names)), 118, break_long_words=False, break_on_hyphens=False)
        parts.append("\n".join([f"# {key}: in PyTorch {theirs}, here {ours}. {reason}", *lines]))
    return "\n\n".join(parts) + "\n"


def report() -> str:
    """The differences of the tables, by key, PyTorch's rule and ours, the largest group first."""
    groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for name, both in shared().items():
        for difference in differing_rules(both):
            groups[difference].append(name.removeprefix("aten::"))
    lines = [f"{len(shared())} operators, {sum(map(len, groups.values()))} entries that differ"]
    for (key, theirs, ours), names in sorted(groups.items(), key=lambda item: -len(item[1])):
        why = "  (one reason for the key)" if key in BY_KEY else ""
        lines.append(f"{len(names):5}  {key}: PyTorch {theirs}, here {ours}{why}  {' '.join(names[:3])}")
    return "\n".join(lines)


if __name__ == "__main__":
    if "--write" in sys.argv:
        LIST.write_text(written(registrations_that_differ()), encoding="utf-8")
    else:
        print(report())
