"""What does document 003 ask at its end, and where does the book answer it?

Part 6 of the document is a list of questions for an interview. They stand here in its words and in English; its answers
do not, and where they are wrong the errata say so.
"""

from __future__ import annotations

from typing import NamedTuple


class Asked(NamedTuple):
    """A question of the document."""

    part: str  # of the document
    question: str
    english: str
    sections: tuple[str, ...]  # that answer it, by their paths in the book without their ending
    errata: tuple[str, ...] = ()  # about what the document answers
    missing: tuple[str, str] | None = None  # what no section answers yet, and the chapter that will


QUESTIONS = (
    Asked(
        "6.1",
        "PyTorch的分层架构有什么优势？",
        "What are the advantages of PyTorch's layered architecture?",
        ("01-architecture/layers",),
        ("E076",),
    ),
    Asked(
        "6.1",
        "ATen库在PyTorch中的作用是什么？",
        "What is the role of the ATen library in PyTorch?",
        ("00-start/map-of-the-house", "01-architecture/layers"),
        ("E065", "E075"),
    ),
    Asked(
        "6.2",
        "PyTorch如何实现CUDA支持？",
        "How does PyTorch implement its support for CUDA?",
        ("05-cuda/what-a-launch-is", "05-cuda/streams-and-events", "05-cuda/the-caching-allocator"),
        ("E067", "E069"),
    ),
    Asked(
        "6.2",
        "JIT编译如何提升PyTorch性能？",
        "How does JIT compilation make PyTorch faster?",
        ("06-jit/why-a-graph", "06-jit/fusion-measured"),
        ("E071", "E072"),
    ),
    Asked(
        "6.3",
        "什么时候使用JIT编译？",
        "When is JIT compilation to be used?",
        ("06-jit/why-a-graph",),
        ("E070", "E074"),
        ("deployment with `torch.export`", "10"),
    ),
    Asked(
        "6.3",
        "如何理解PyTorch的设备管理？",
        "How is PyTorch's management of devices to be understood?",
        ("03-dispatcher/a-call-is-a-set-of-keys", "05-cuda/streams-and-events", "05-cuda/the-caching-allocator"),
        ("E066", "E067"),
    ),
)
