"""Which of PyTorch's operators are in the library, and what does PyTorch's own declaration say of each?

`tests/truth/pytorch_operators.tsv` has a line for each declaration in PyTorch's `native_functions.yaml`: facts that a
program reads from the installed wheel (`python -m workbook.book.pytorch_operators`), and a test holds fresh. A page of
the book says of each whether it is here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

import glasstorch
from glasstorch.dispatch.operator import registry
from glasstorch.operators.families import FAMILIES
from workbook.book.errors import BookError
from workbook.book.project import TRUTH

TABLE = "pytorch_operators.tsv"
COLUMNS = "name\tpython_module\tvariants\tdispatch\ttags"
IMPLICIT = "CompositeImplicitAutograd"  # what a declaration means that names no kernel
LETTERS = {"function": "f", "method": "m"}

HERE, COMPOSED, MISSING = "here", "composed", "missing"

# What an operator is about whose name no family here has: the first pattern that is found in `name.overload`.
OTHER_FAMILIES: Final = (
    ("quantization", "quant|qscheme|^q_|int_repr|fbgemm|_int8pack|_int4|int_mm|scaled_mm"),
    (
        "sparse layouts",
        "spars|csr|csc|bsr|bsc|cslt|_(row|col)_|^c?(row|col)_|coalesc|value|indices$|nnz|_dim[IV]|dense_di|sspadd|hspm",
    ),
    ("nested tensors", "nested|jagged|padded_dense"),
    ("one device's library", "mkldnn|cudnn|miopen|_cuda|cufft|xnn|mps|vulkan|metal|nnpack|mkl"),
    ("steps of an optimizer", "^_fused_(adam|sgd|adagrad)|_amp_"),
    ("attention", "attention|transformer|flash|efficient"),
    ("copies of views", r"_copy$|_copy\."),
    ("gradients", "backward|_grad"),
    ("recurrent cells", "lstm|gru|rnn|thnn_fused"),
    ("for tests and the compiler", "^_test|assert|sym_|_print|_functional|_dummy|_prim"),
)
THE_REST = "others"


class Facts(NamedTuple):
    """What PyTorch declares of one operator, apart from its schema."""

    name: str  # add.Tensor
    module: str  # nn, linalg, ...: where Python has it, if that is not torch itself
    variants: str  # f, m or fm: a function, a method
    dispatch: tuple[str, ...]  # the keys that have kernels, or the operator whose structured kernel it shares
    tags: tuple[str, ...]

    def __str__(self) -> str:
        return "\t".join([self.name, self.module, self.variants, " ".join(self.dispatch), " ".join(self.tags)])

    @classmethod
    def parse(cls, line: str) -> Facts:
        """Read a line of the table.

        >>> Facts.parse("add.Tensor\\t\\tfm\\tvia:add.out\\tcore pointwise").tags
        ('core', 'pointwise')
        """
        try:
            name, module, variants, dispatch, tags = line.split("\t")
        except ValueError:
            raise BookError(f"{TABLE}: the line {line!r} has other columns than {COLUMNS.split()}") from None
        return cls(name, module, variants, tuple(dispatch.split()), tuple(tags.split()))

    @property
    def base(self) -> str:
        return self.name.partition(".")[0]


def facts_of_wheel() -> list[Facts]:
    """The facts from the file in the installed wheel, in its order."""
    spec = find_spec("torchgen")
    if spec is None or spec.origin is None:
        raise BookError("PyTorch is not installed, from whose wheel the table of its operators is made")
    path = Path(spec.origin).parent / "packaged" / "ATen" / "native" / "native_functions.yaml"
    return list(map(_facts, yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)))


def _facts(row: dict[str, Any]) -> Facts:
    name = row["func"].partition("(")[0]
    variants = "".join(LETTERS[word] for word in sorted(_words(row.get("variants", "function"))))
    if "structured_delegate" in row:
        dispatch = [f"via:{row['structured_delegate']}"]
    else:
        dispatch = []
    dispatch += sorted({key for keys in row.get("dispatch", {}) for key in _words(keys)})
    return Facts(
        name, row.get("python_module", ""), variants, tuple(dispatch or [IMPLICIT]), _words(row.get("tags", []))
    )


def _words(value: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(re.split(r",\s*", value)) if isinstance(value, str) else tuple(value)


def text_of(rows: Sequence[Facts]) -> str:
    return "\n".join([COLUMNS, *map(str, rows)]) + "\n"


@lru_cache(maxsize=2)
def table(root: Path) -> tuple[Facts, ...]:
    """The rows of the committed table."""
    lines = (root / TRUTH / TABLE).read_text(encoding="utf-8").splitlines()
    return tuple(map(Facts.parse, lines[1:]))


def status(facts: Facts) -> str:
    """Whether the library has the operator (here), a program can call what it is for (composed), or neither."""
    if f"aten::{facts.name}" in registry.operators:
        return HERE
    return COMPOSED if any(map(_has, _public(facts))) else MISSING


def _public(facts: Facts) -> Iterator[str]:
    """The Python names of an operator."""
    short = facts.base.removeprefix(f"{facts.module}_")
    module = {"": "", "nn": "nn.functional."}.get(facts.module, f"{facts.module}.")
    if "f" in facts.variants:
        yield module + short
    if "m" in facts.variants:
        yield f"Tensor.{facts.base}"


def _has(path: str) -> bool:
    try:
        return callable(attrgetter(path)(glasstorch))
    except AttributeError:
        return False


@lru_cache(maxsize=1)
def _families() -> dict[str, str]:
    """The family of each name here, also without underscores around it."""
    titles = {family.name: family.title for family in FAMILIES}
    found: dict[str, str] = {}
    for operator in list(registry.operators.values()):
        if operator.family:
            base = operator.qualified_overload.partition(".")[0]
            for name in (base, base.strip("_")):
                found.setdefault(name, titles[operator.family])
    return found


def family_of(facts: Facts) -> str:
    """The family of an operator: that of its name here, or what PyTorch's name says it is about."""
    families = _families()
    if f"aten::{facts.name}" in registry.operators:
        return families[facts.base]
    if facts.base in families or facts.base.strip("_") in families:
        return families.get(facts.base) or families[facts.base.strip("_")]
    return next((title for title, pattern in OTHER_FAMILIES if re.search(pattern, facts.name)), THE_REST)


def report(root: Path) -> dict[str, dict[str, list[Facts]]]:
    """The operators by family, and in it by status; families in the order of this library, then the others."""
    titles = [*(family.title for family in FAMILIES), *(title for title, _ in OTHER_FAMILIES), THE_REST]
    found: dict[str, dict[str, list[Facts]]] = {
        title: {HERE: [], COMPOSED: [], MISSING: []} for title in dict.fromkeys(titles)
    }
    for facts in table(root):
        found[family_of(facts)][status(facts)].append(facts)
    return {title: by_status for title, by_status in found.items() if any(by_status.values())}


def pytorch_operators(root: Path) -> str:
    """The Markdown of the page, without its introduction: counts, then the names that are not here."""
    families = report(root)
    lines = ["| Family | Missing | Composed | Here |", "|---|--:|--:|--:|"]
    sums = {kind: sum(len(of[kind]) for of in families.values()) for kind in (HERE, COMPOSED, MISSING)}
    for title, of in families.items():
        shown = f"[{title}](#{_anchor(title)})" if of[COMPOSED] or of[MISSING] else title
        lines.append(f"| {shown} | {len(of[MISSING]):,} | {len(of[COMPOSED]):,} | {len(of[HERE]):,} |")
    lines.append(f"| **All {sum(sums.values()):,}** | {sums[MISSING]:,} | {sums[COMPOSED]:,} | {sums[HERE]:,} |")
    lines += ["", "## Not here, by family"]
    for title, of in families.items():
        if of[COMPOSED] or of[MISSING]:
            lines += ["", f"### {title.capitalize()} {{ #{_anchor(title)} }}"]
        for kind in (MISSING, COMPOSED):
            if of[kind]:
                lines += ["", f"*{kind.capitalize()}, {len(of[kind])}:*", "", _names(of[kind])]
    return "\n".join(lines)


def _anchor(title: str) -> str:
    return "family-" + re.sub(r"\W+", "-", title)


def _names(rows: Sequence[Facts]) -> str:
    """The names, each with its overloads behind it and its kernels and tags as its title."""
    overloads: dict[str, list[Facts]] = {}
    for facts in rows:
        overloads.setdefault(facts.base, []).append(facts)
    parts = []
    for base, these in overloads.items():
        told = "; ".join(_said(facts) for facts in these)
        names = " ".join(f.name.partition(".")[2] for f in these).strip()
        parts.append(f'<span title="{told}"><code>{base}</code>{f" <small>{names}</small>" if names else ""}</span>')
    return '<p class="names" markdown="0">' + " ".join(parts) + "</p>"


def _said(facts: Facts) -> str:
    """`add.Tensor: structured, as add.out; core, pointwise`"""
    kinds = ", ".join(key.replace("via:", "the structured kernel of ") for key in facts.dispatch)
    return f"{facts.name}: {kinds}" + (f" ({', '.join(facts.tags)})" if facts.tags else "")


def main() -> None:
    """Write the table from the installed wheel."""
    path = Path(__file__).parents[2] / TRUTH / TABLE
    rows = facts_of_wheel()
    path.write_text(text_of(rows), encoding="utf-8", newline="\n")
    sys.stdout.write(f"{path.name}: {len(rows):,} operators\n")


if __name__ == "__main__":
    main()
