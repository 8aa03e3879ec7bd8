"""Are files found by the question that they answer, and definitions by their name?"""

from __future__ import annotations

import re

import pytest

from glasstorch._search import LIBRARY, MOST, definitions_of, files, files_about, stems


@pytest.mark.parametrize(
    ("words", "file"),
    [
        ("caching allocator", "devices/allocator.py"),
        ("split of a block", "devices/blocks.py"),
        ("pointwise fusion", "jit/passes/fuse_pointwise.py"),
        ("fused loop", "jit/codegen/cpp_loop.py"),
        ("order of streams", "devices/simulator/stream_queues.py"),
        ("order of dispatch keys", "core/keys.py"),
        ("check of the version counter", "autograd/saved.py"),
        ("padding of stft", "operators/composite/fft/signal_borders.py"),
        ("normal draws", "core/random/draws.py"),
        ("broadcast shapes", "core/geometry.py"),
        ("printing tensors", "printing.py"),
        ("DLPack", "outside_data/dlpack.py"),
    ],
)
def test_what_a_reader_looks_for_is_among_the_first_three(words: str, file: str) -> None:
    assert file in [path for path, _ in files_about(words)][:3]


def test_a_file_whose_question_has_the_words_precedes_one_whose_header_has_them() -> None:
    found = files_about("caching allocator")
    asked = [{"cach", "allocat"} <= stems(f"{path} {question}") for path, question in found]
    assert sorted(asked, reverse=True) == asked
    assert asked[:2] == [True, True]
    assert not asked[-1]


def test_few_files_are_listed_and_none_for_words_that_all_or_no_files_have() -> None:
    assert len(files_about("tensor")) == MOST
    assert files_about("") == files_about("of the") == files_about("zebra stripes") == []


def test_the_forms_of_a_word_are_one() -> None:
    assert stems("fusion") == stems("fused") == stems("Fuses") == stems("fusing")
    assert stems("CachingAllocator") == stems("caching_allocator") == stems("the caching allocators")


def test_what_differs_from_pytorch_and_the_words_reading_order_are_not_searched() -> None:
    (tensor,) = (file for file in files() if file.path == "core/tensor_impl.py")
    assert "version counter" in tensor.header  # a note that follows the entry
    assert "Differs:" not in tensor.header
    assert not any("Reading order:" in file.header for file in files())


@pytest.mark.parametrize("name", ["CachingAllocator", "promote_types", "CachingAllocator.retire", "run"])
def test_a_definition_is_found_at_its_line(name: str) -> None:
    found = definitions_of(name)
    for qualified, place in found:
        file, _, line = place.rpartition(":")
        text = (LIBRARY / file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
        assert re.match(rf" *(class|def) {name.rpartition('.')[2]}\b", text), place
        assert qualified == name or qualified.endswith(f".{name}")
    assert found, name


def test_a_method_is_found_with_and_without_its_class() -> None:
    ((name, place),) = definitions_of("CachingAllocator.allocate")
    assert (name, place) in definitions_of("allocate")
    assert definitions_of("zebra") == []
