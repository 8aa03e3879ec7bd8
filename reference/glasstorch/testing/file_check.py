"""Does a text contain these strings, in this order?

    >>> from glasstorch.testing import FileCheck
    >>> FileCheck().check("aten::mul").check_not("aten::add").check_next("return").run("aten::mul\\nreturn")

Each check begins where the last one ended. `check_not` looks between its neighbours, and checks that follow each other
as `check_dag` may be found in any order.

Mirrors: torch/csrc/jit/testing/file_check.cpp, torch/csrc/jit/frontend/source_range.cpp (the excerpt in a message)
Differs: a regular expression is one of Python's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, Self

Span = tuple[int, int]

CONTEXT = 3  # lines before and after what a message points at, its own among them
GROUPED = ("NOT", "DAG")  # checks of these kinds that follow each other are one
COMMENT = re.compile(r"#\s*CHECK(-COUNT(?P<exactly>-EXACTLY)?-(?P<count>\d+)|-(?P<kind>[A-Z-]+?))?: ?(?P<wanted>.*)")
ANY_COMMENT = re.compile(r"#\s*CHECK")
ESCAPES = str.maketrans(
    {c: "\\" + c for c in "\\'\""}
    | {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
)
METHODS = ("NEXT", "SAME", "NOT", "DAG", "SOURCE-HIGHLIGHTED", "REGEX")


class Check(NamedTuple):
    """A string that is looked for; `kind` is empty for a plain one, and `times` belongs to COUNT."""

    kind: str
    wanted: str
    times: int = 0

    def __str__(self) -> str:
        kind = f"COUNT-{self.times}" if self.kind == "COUNT" else self.kind
        return f"CHECK{'-' if kind else ''}{kind}: {self.wanted}"


class FileCheck:
    """Checks that are run on a text; each method adds one and returns the instance.

    A check that fails raises RuntimeError with the lines around the place.
    """

    __module__ = "torch"

    def __init__(self) -> None:
        self._groups: list[list[Check]] = []
        self._has_run = False

    def check(self, test_string: str) -> Self:
        """The string comes next, after anything else."""
        return self._add(Check("", test_string))

    def check_not(self, test_string: str) -> Self:
        """The string is not found between the check before and the one after, or the ends of the text."""
        return self._add(Check("NOT", test_string))

    def check_same(self, test_string: str) -> Self:
        """The string comes next, in the line where the last check ended."""
        return self._add(Check("SAME", test_string))

    def check_next(self, test_string: str) -> Self:
        """The string comes next, in the line after the one where the last check ended."""
        return self._add(Check("NEXT", test_string))

    def check_count(self, test_string: str, count: int, exactly: bool = False) -> Self:
        """The string comes so many times; with `exactly` it does not come again before the next check."""
        if count == 0 and not exactly:
            raise RuntimeError("check_count: Count == 0 && !exactly doesn't do anything")
        if count:
            self._add(Check("COUNT", test_string, count))
        return self._add(Check("NOT", test_string)) if exactly else self

    def check_dag(self, test_string: str) -> Self:
        """The string comes, in any order with those of the neighbouring `check_dag`s."""
        return self._add(Check("DAG", test_string))

    def check_source_highlighted(self, test_string: str) -> Self:
        """The string comes, and the line below has `~` under it and nowhere else."""
        return self._add(Check("SOURCE-HIGHLIGHTED", test_string))

    def check_regex(self, test_string: str) -> Self:
        """A match of the regular expression comes next."""
        return self._add(Check("REGEX", test_string))

    def run(self, *texts: Any) -> None:
        """Run the checks on a text or a graph; given two, the first has further checks in comments: `# CHECK: a`."""
        if len(texts) not in (1, 2):
            raise TypeError(f"run(): takes a text, or checks and a text, but got {len(texts)} arguments")
        if len(texts) == 2:
            self._read(texts[0])
        self._has_run = True
        if not self._groups:
            raise RuntimeError("No checks have been added to this instance ofFilecheck! Check for bad input.")
        _Search(str(texts[-1])).run(self._groups)

    def __repr__(self) -> str:
        return f"<torch.FileCheck object at {id(self):#x}>"

    def __del__(self) -> None:
        if not self._has_run:
            checks = "".join(f"\t{check}\n" for group in self._groups for check in group)
            print(f"You have not run this instance of FileCheck!\nFileCheck checks:\n{checks}", end="")

    def _add(self, check: Check) -> Self:
        self._has_run = False
        if not isinstance(check.wanted, str):
            raise TypeError(f"check(): incompatible function arguments: expected a str, got {check.wanted!r}")
        if self._groups and check.kind in GROUPED and self._groups[-1][0].kind == check.kind:
            self._groups[-1].append(check)
        else:
            self._groups.append([check])
        return self

    def _read(self, comments: str) -> None:
        for begun in ANY_COMMENT.finditer(comments):
            line = comments[begun.start() :].partition("\n")[0]
            found = COMMENT.fullmatch(line)
            kind = found and found["kind"]
            if found is None or not (kind is None or kind in METHODS):
                excerpt = pointed_at(comments, (begun.end(), begun.end() + 1))
                raise RuntimeError(f"Could not parse check at:\n{excerpt}Check for bad input.")
            if found["count"]:
                self.check_count(found["wanted"], int(found["count"]), bool(found["exactly"]))
            else:
                self._add(Check(kind or "", found["wanted"]))


class _Search:
    """One run of checks over a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.kinds: dict[str, Callable[[Check, int], Span]] = {
            "": self.plain,
            "SAME": self.same,
            "NEXT": self.next,
            "COUNT": self.count,
            "SOURCE-HIGHLIGHTED": self.highlighted,
            "REGEX": self.regex,
        }

    def run(self, groups: list[list[Check]]) -> None:
        last, forbidden = 0, list[Check]()  # where the last check ended, and what must not come before the next one
        for group in groups:
            if group[0].kind == "NOT":
                forbidden = group
                continue
            begin, end = self.any_order(group, last) if group[0].kind == "DAG" else self.one(group[0], last)
            self.refuse(forbidden, (last, begin))
            last, forbidden = end, []
        self.refuse(forbidden, (last, len(self.text)))

    def refuse(self, checks: list[Check], span: Span) -> None:
        for check in checks:
            self.absent(check, check.wanted, span)

    def one(self, check: Check, begin: int) -> Span:
        return self.kinds[check.kind](check, begin)

    def any_order(self, checks: list[Check], begin: int) -> Span:
        found = [self.plain(check, begin) for check in checks]
        return min(start for start, _ in found), max(end for _, end in found)

    def plain(self, check: Check, begin: int) -> Span:
        start = self.find(check, check.wanted, begin)
        return start, start + len(check.wanted)

    def same(self, check: Check, begin: int) -> Span:
        found = self.plain(check, begin)
        self.absent(check, "\n", (begin, found[0]))
        return found

    def next(self, check: Check, begin: int) -> Span:
        line = self.find(check, "\n", begin) + 1
        found = self.plain(check, line)
        self.absent(check, "\n", (line, found[0]))
        return found

    def count(self, check: Check, begin: int) -> Span:
        found = first = self.plain(check, begin)
        for _ in range(check.times - 1):
            found = self.plain(check, found[1])
        return first[0], found[1]

    def highlighted(self, check: Check, begin: int) -> Span:
        start, end = found = self.plain(check, begin)
        line = self.text.rfind("\n", 0, start) + 1
        below = self.text.find("\n", start) + 1
        left, right = below + start - line, below + end - line
        if not below or self.text[left:right] != "~" * len(check.wanted) or "\n" in self.text[below:right]:
            excerpt = pointed_at(self.text, found)
            raise RuntimeError(f"Expected to find {quoted(check.wanted)}highlighted but it is not.\n{excerpt}")
        self.absent(check, "~", (below, left))
        ends = self.text.find("\n", right)
        self.absent(check, "~", (right, ends if ends >= 0 else len(self.text)))
        return found

    def regex(self, check: Check, begin: int) -> Span:
        try:
            pattern = re.compile(check.wanted)
        except re.error as error:
            raise RuntimeError(f"{check.wanted!r} is not a regular expression: {error}") from None
        if (found := pattern.search(self.text, begin)) is None:
            raise RuntimeError(
                f"Expected to find regex {quoted(check.wanted)} but did not find it\nSearched string:\nFrom {check}\n"
            )
        return found.span()

    def find(self, check: Check, wanted: str, begin: int) -> int:
        start = self.text.find(wanted, begin)
        if start < 0:
            # PyTorch takes the length of the string for the end of what it points at
            self.fail(
                check, f"Expected to find {quoted(wanted)} but did not find it\nSearched string:", (begin, len(wanted))
            )
        return start

    def absent(self, check: Check, unwanted: str, span: Span) -> None:
        start = self.text.find(unwanted, *span)
        if start >= 0:
            self.fail(check, f"Expected to not find {quoted(unwanted)} but found it", (start, start + len(unwanted)))

    def fail(self, check: Check, what: str, span: Span) -> NoReturn:
        raise RuntimeError(f"{what}\n{pointed_at(self.text, span)}From {check}\n")


def quoted(text: str) -> str:
    """A string in double quotes, with the escapes of C."""
    return '"' + text.translate(ESCAPES) + '"'


def pointed_at(text: str, span: Span) -> str:
    """The lines around a part of a text, with `~` below the part; the whole text where the part is all of it."""
    start, end = span[0], min(span[1], len(text))
    if span[1] - span[0] == len(text):
        return text
    lines = text.splitlines(keepends=True)
    first = text.count("\n", 0, start)
    last = text.count("\n", 0, end)
    shown = [*lines[max(first - CONTEXT + 1, 0) : first]]
    if start < end:
        for number in range(first, last + 1):
            at = sum(map(len, lines[:number]))
            line = lines[number] if number < len(lines) else ""
            marked = line[: end - at]
            shown.append(line if line.endswith("\n") else line + "\n")
            blank = max(start - at, 0)
            if marked_length := len(marked.rstrip("\n")) - blank:
                shown.append(" " * blank + "~" * marked_length + (" <--- HERE\n" if number == last else "\n"))
        shown += lines[last + 1 : last + CONTEXT]
    else:
        until = last + CONTEXT if last + CONTEXT > first else len(lines)
        shown += lines[first:until]
    return "".join(shown)
