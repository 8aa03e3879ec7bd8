"""Which interview questions are there, by topic?

Those of the sections, each folded over its answer, on two pages, and those that document 003 asks. Pure functions:
files in, Markdown out.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from workbook.book.contents import chapter_title, sections
from workbook.book.render import box
from workbook.book.topics import TITLES, topics, topics_of
from workbook.review.document_003 import QUESTIONS, Asked
from workbook.review.interview import Interview, interview, moved

FIRST, SECOND = "exercises/interview.md", "exercises/interview-devices-to-training.md"
BEGINS = "cuda"  # the first topic of the second page


def page_of(topic: str) -> str:
    """The page that lists the questions of a topic."""
    order = list(TITLES)
    return FIRST if order.index(topic) < order.index(BEGINS) else SECOND


def first_questions(root: Path) -> str:
    """The questions about tensors, calls, the dispatcher and autograd."""
    return interview_questions(root, FIRST)


def second_questions(root: Path) -> str:
    """The questions about devices, compilers, networks and training."""
    return interview_questions(root, SECOND)


def interview_questions(root: Path, page: str) -> str:
    """The questions that a page lists, with a heading for each topic."""
    asked = {path: list(group) for path, group in groupby(interview(root), key=lambda one: one.section.path)}
    titles = {path: questions[0].section.title for path, questions in asked.items()}
    parts = []
    for topic in (topic for topic in topics(asked) if page_of(topic.name) == page):
        command = f"`workbook review {topic.name}`"
        others = ", ".join(f"[{titles[path]}]({place(topics_of(path)[0], page)})" for path in topic.also)
        parts.append(f"## {TITLES[topic.name]} {{ #{topic.name} }}")
        also = " also" if topic.listed else ""
        parts.append(f"{command}{also} asks those of {others}." if others else command)
        parts += [folded_question(one, page) for path in topic.listed for one in asked[path]]
    return "\n\n".join(parts)


def place(topic: str, page: str) -> str:
    """The address of a topic, for a link on one of the two pages."""
    there = page_of(topic)
    return f"#{topic}" if there == page else f"{Path(there).name}#{topic}"


def folded_question(one: Interview, page: str) -> str:
    """A question that opens to its answer, and to the way to the section that teaches it."""
    answer = f"{moved(one.answer, one.section.path, page)}\n\nTaught in {link(one.section.path, one.section.title)}."
    return f"> [!QUESTION]- {one.question}\n" + "\n".join(f"> {line}".rstrip() for line in answer.splitlines())


def link(path: str, title: str) -> str:
    """The way to a section from the page."""
    return f"[{title}](../{path})"


def document_questions(root: Path) -> str:
    """The questions of document 003 in a list, each with the sections that answer it."""
    titles = {section.path: section.title for section in sections(root)}
    return box("asked", "\n\n".join(document_question(one, titles) for one in QUESTIONS))


def document_question(one: Asked, titles: dict[str, str]) -> str:
    """One of them: as it is asked, in English, and where it is answered."""
    told = ", ".join(link(f"{path}.md", titles[f"{path}.md"]) for path in one.sections)
    lines = [
        f'<span lang="zh-Hans">{one.question}</span>',
        f":   *{one.part}* {one.english}",
        f":   *Answered in* {told}",
    ]
    if one.missing:
        what, chapter = one.missing
        lines.append(f":   *Not taught yet* {what}: chapter {chapter_title(chapter)}")
    if one.errata:
        numbers = ", ".join(f"[{number}](../reference/errata.md#{number})" for number in one.errata)
        lines.append(f":   *Errata* {numbers}")
    return "\n\n".join(lines)
