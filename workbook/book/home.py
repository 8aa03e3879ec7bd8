"""Which parts of the home page are made from data?

The contents of the book with their times, and the map of the house once more as a list: for a phone, on which the
figure would be too small to point at. Pure functions: files in, Markdown out.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from workbook.book.api import page_of as page_of_room
from workbook.book.contents import TITLES, chapter_title, first_sections, sections
from workbook.book.exercise_pages import all_exercises, page_of
from workbook.book.house import HEADS, LAYERS, Layer, not_told
from workbook.book.render import box
from workbook.book.source_map import address_of


def contents(root: Path) -> str:
    """The chapters: what to read before, their sections and exercises with durations; then what is missing."""
    written = {chapter: list(found) for chapter, found in groupby(sections(root), key=lambda section: section.chapter)}
    exercises = {
        number: list(found) for number, found in groupby(all_exercises(root), key=lambda exercise: exercise.chapter[:2])
    }
    titles = {section.path: section.title for found in written.values() for section in found}
    parts = []
    for chapter, found in written.items():
        before = dict.fromkeys(need for section in found for need in section.needs if need[:2] != chapter)
        lines = [chapter_title(chapter)]
        if before:
            lines.append(f":   After {', '.join(f'[{titles[need]}]({need})' for need in before)}")
        lines += [f":   [{section.title}]({section.path}){minutes(section.minutes)}" for section in found]
        links = [f"[{exercise.identity}]({page_of(exercise)})" for exercise in exercises.get(chapter, [])]
        if links:
            total = sum(exercise.minutes for exercise in exercises[chapter])
            lines.append(f":   Exercises {', '.join(links)}{minutes(total)}")
        parts.append("\n\n".join(lines))
    missing = [chapter_title(chapter) for chapter in TITLES if chapter not in written]
    rest = f"\n\nNot written yet: {', '.join(missing)}." if missing else ""
    return box("contents", "\n\n".join(parts)) + rest


def minutes(number: int) -> str:
    """A duration as it appears after a title; empty for 0.

    >>> minutes(20)
    ' *20 min*'
    """
    return f" *{number} min*" if number else ""


def house(root: Path) -> str:
    """The map of the house as a list, from top to bottom as in the figure, with a heading before each line."""
    first = first_sections(root)
    parts = []
    for layer in reversed(LAYERS):
        told = first if layer.built(root) else {}
        chapters = ", ".join(
            f"[{chapter_title(n)}]({told[n].path})" if n in told else not_told(n, begun=n in first)
            for n in layer.chapters
        )
        there = ", ".join(f"[`{path}`]({address_of(path)}){{ .there }}" for path in layer.there)
        lines = [
            f":   *{head}* {line}" for head, line in zip(HEADS, (rooms(layer, root), chapters, there), strict=True)
        ]
        parts.append("\n\n".join([f"{layer.number}\\. {layer.question}", *lines]))
    return box("house-list", "\n\n".join(parts))


def rooms(layer: Layer, root: Path) -> str:
    """The rooms of a layer, each with a link to its source or a note that there is none."""
    built = layer.built(root)
    names = [name if name.endswith(".py") else f"{name}/" for name in layer.rooms]
    return ", ".join(
        f"[`{shown}`]({page_of_room(name)})" if name in built else f"`{shown}` (not built yet)"
        for name, shown in zip(layer.rooms, names, strict=True)
    )
