"""Does a text of the book read like one that an editor has been through?

Counts what can be counted: the words of each sentence, phrases that readers had to read twice, headings that say
nothing. It cannot tell good prose from bad; it finds the places to look at. `python -m workbook.book.reading FILE...`
reports on texts of the book, the exercises or any Markdown; without a name, on all sections.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final, NamedTuple

from workbook.book.contents import sections

SHORT: Final = 8  # words: a sentence with fewer is a short one
LEAST_MEAN: Final = 12.5  # words in a sentence, on the average of a text
MOST_SHORT: Final = 0.27  # of the sentences of a text
ENOUGH: Final = 12  # sentences: of fewer, an average says little

# What readers had to read twice, and what to write in its place.
STUMBLES: Final = {
    r"that there (is|are) not\b": "name what is missing: 'a device that does not exist'",
    r"\bnothing that an? \w+ can\b": "say what it is instead",
    r"\bmade no question\b": "say what happened",
    r"\bleft lying\b": "'left behind'",
    r"\bof time does not hold\b": "say which number is not true",
    r"\bwere not told\b|\bwas not told\b|\bwas told of\b|\bneither was told\b": "'knows nothing of'",
    r"\bis had\b|\bcan be had\b|\bto be had\b": "'is available', 'exists'",
    r"\b[Ww]hoever\b": "name the reader, the caller or the function",
    r"\bsomebody\b|\bnobody\b|\banybody\b|\beverybody\b": "name the part of the program",
    r"\bgoes by\b": "'uses', 'depends on'",
    r"\bis asked of\b|\bare asked of\b": "'is computed from', 'applies to'",
    r"\bthe whole of it\b": "'in full'",
    r"\bwhat it is told\b|\bwhat it was told\b": "'its arguments'",
    r"\bstands? (there|here) for a reason\b": "give the reason",
    r"\bin words:": "'In other words,' or leave it out",
    r"\bnot a single\b": "'none of'",
    r"\bmakes? a difference of\b": "'changes by'",
    r"\bas it were\b|\bso to speak\b": "leave it out",
    r"\bdoes without\b|\bdo without\b": "'needs no'",
    r"\ba second time over\b": "'again'",
    r"\bwhat is more\b|\bwhat of\b": "leave it out",
    r"\bhas to be read twice\b": "write it so that it need not be",
    r"\bwrong guess(es)? at\b": "'wrong guesses about'",
    r"\bfor one that\b": "repeat the noun",
    r"\bit is that\b|\bthat it is that\b": "'the', 'this'",
    r"\bThree things and a sum\b": "say which things",
    r"\blittle is\b|\bmuch is\b": "say how much",
}

# One word for one idea: what was written, and the book's word.
SYNONYMS: Final = {
    r"\binplace\b(?!`)": "in-place",
    r"\bdata type(s)?\b": "dtype",
    r"\bdispatching key(s)?\b": "dispatch key",
    r"\bcompute graph(s)?\b|\bcomputational graph(s)?\b": "graph",
    r"\bmemory buffer of (a|the) tensor\b": "storage",
    r"\bback[- ]?propagation\b": "backward pass",
    r"\bbackwards pass\b": "backward pass",
    r"\bgradient function(s)?\b": "node",
    r"\bgraphics card(s)?\b|\bvideo card(s)?\b": "GPU",
    r"\bparametre(s)?\b": "parameter",
    r"\bcompile-time error message\b": "compiler error",
    r"\boperator function(s)?\b": "operator",
}

EMPTY_HEADINGS: Final = frozenset({"The question", "What the documents say", "Predict, then run"})
LONGEST_HEADING: Final = 64

FRONT_MATTER: Final = re.compile(r"\A---\n.*?^---\n", re.MULTILINE | re.DOTALL)
FENCED: Final = re.compile(r"^(`{3,}|~{3,})[^\n]*\n.*?^\1\s*$", re.MULTILINE | re.DOTALL)
MATH: Final = re.compile(r"\$\$.*?\$\$", re.DOTALL)
HEADING: Final = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
QUESTION: Final = re.compile(r"^> \[!\w+\][-+]?.*$", re.MULTILINE)
LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
CODE: Final = re.compile(r"`+[^`]+`+|\$[^$\n]+\$")
PLACES: Final = re.compile(r"^\*PyTorch: .*?\*$", re.MULTILINE | re.DOTALL)  # under a word of the glossary: no sentence
SENTENCE_ENDS: Final = re.compile(r"(?<=[.!?:])[\"')*]*\s+(?=[\"'(*]*[`A-Z0-9\[])|(?<=:)\s*\Z")
WORD: Final = re.compile(r"[A-Za-z0-9][\w'.-]*")


class Reading(NamedTuple):
    """What was counted in one text."""

    sentences: list[str]
    stumbles: list[str]  # each with what to write in its place
    empty_headings: list[str]

    @property
    def mean(self) -> float:
        """Words in a sentence, on the average."""
        return sum(map(_words, self.sentences)) / max(1, len(self.sentences))

    @property
    def short(self) -> float:
        """The share of the sentences that have fewer than eight words."""
        return sum(_words(one) < SHORT for one in self.sentences) / max(1, len(self.sentences))

    def faults(self) -> list[str]:
        """What an editor would look at, a line each; none of a text that reads well by these counts."""
        found = [*self.stumbles, *(f"heading says nothing: {heading}" for heading in self.empty_headings)]
        if len(self.sentences) < ENOUGH:
            return found
        if self.mean < LEAST_MEAN:
            found.append(f"{self.mean:.1f} words in a sentence on the average; at least {LEAST_MEAN} are expected")
        if self.short > MOST_SHORT:
            found.append(
                f"{self.short:.0%} of the sentences have fewer than {SHORT} words;"
                f" at most {MOST_SHORT:.0%} are expected"
            )
        return found


def words_of(text: str) -> int:
    """The words of a text's sentences: a name in code is one, and code, tables and headings are left out."""
    return sum(map(_words, read(text).sentences))


def _words(sentence: str) -> int:
    return len(WORD.findall(sentence))


def read(text: str) -> Reading:
    """Count in a Markdown text: its code, tables and mathematics are left out, a name in code is one word."""
    plain = PLACES.sub("", MATH.sub(" ", FENCED.sub("\n\n", FRONT_MATTER.sub("", text))))
    headings = HEADING.findall(plain)
    sentences = [sentence for paragraph in _paragraphs(plain) for sentence in _sentences(paragraph)]
    return Reading(
        sentences,
        [
            f"{found[0]!r} in {sentence[:70]!r}: {instead}"
            for sentence in [*sentences, *headings]
            for pattern, instead in (*STUMBLES.items(), *_synonyms())
            if (found := re.search(pattern, sentence))
        ],
        [one for one in headings if one in EMPTY_HEADINGS or len(one) > LONGEST_HEADING],
    )


def _synonyms() -> list[tuple[str, str]]:
    return [(pattern, f"the book's word is '{word}'") for pattern, word in SYNONYMS.items()]


def _paragraphs(plain: str) -> list[str]:
    """The running text without headings, tables, directives, HTML and the questions of interviews."""
    plain = re.sub(r"^> ?", "", QUESTION.sub("", HEADING.sub("", plain)), flags=re.MULTILINE)
    lines = [
        "" if line.startswith(("|", "+++", "<", ":::", "!!!")) else re.sub(r"^\s*(?:[-*]|\d+\.) ", "\n", line)
        for line in plain.splitlines()
    ]
    return [" ".join(one.split()) for one in re.split(r"\n\s*\n", "\n".join(lines)) if one.strip()]


def _sentences(paragraph: str) -> list[str]:
    said = CODE.sub(_one_word, LINK.sub(r"\1", paragraph))
    return [one.strip() for one in SENTENCE_ENDS.split(said) if _words(one) > 1]


def _one_word(found: re.Match[str]) -> str:
    return "`" + (re.sub(r"\W+", "_", found[0]).strip("_") or "x") + "`"


def main(names: list[str]) -> int:
    """Report on the texts; the exit code is 1 when one of them has a fault."""
    root = Path.cwd()
    paths = [Path(name) for name in names] or [root / "chapters" / section.path for section in sections(root)]
    wrong = 0
    for path in paths:
        reading = read(path.read_text(encoding="utf-8"))
        faults = reading.faults()
        wrong += bool(faults)
        print(f"{path}: {len(reading.sentences)} sentences, mean {reading.mean:.1f}, short {reading.short:.0%}")
        for fault in faults:
            print(f"  {fault}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
