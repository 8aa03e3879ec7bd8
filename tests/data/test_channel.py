"""Do objects go through a channel whole, whatever they hold and however long they are?"""

from __future__ import annotations

import os
import threading
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.data import channel as module
from glasstorch.data.channel import Channel


def sent(value: Any) -> Any:
    """An object after its way through a channel, in this process."""
    one, other = Channel.pair()
    thread = threading.Thread(target=one.send, args=(value,))
    thread.start()
    got = other.receive()
    thread.join()
    one.close()
    other.close()
    return got


@pytest.mark.parametrize("size", [0, 1, 1000, 100_000])
def test_tensors_arrays_and_texts_arrive(size: int) -> None:
    value = {
        "float": glasstorch.rand(size),
        "int": glasstorch.arange(size).view(size, 1),
        "bfloat": glasstorch.rand(size).bfloat16(),
        "array": np.arange(size, dtype=np.int16),
        "text": "x" * size,
        "turned": np.ones((2, size))[:, ::2],
    }
    got = sent(value)
    for key in ("float", "int", "bfloat"):
        assert glasstorch.equal(got[key], value[key])
        assert (got[key].dtype, got[key].stride()) == (value[key].dtype, value[key].stride())
        got[key] += 1  # it is its own
    assert got["array"].tolist() == value["array"].tolist()
    assert got["array"].flags.writeable
    assert got["turned"].shape == value["turned"].shape
    assert got["text"] == value["text"]


def test_tensors_that_share_memory_share_it_there_too() -> None:
    x = glasstorch.arange(6.0).view(2, 3)
    turned, same = sent([x.t(), x])
    same += 1
    assert turned.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert turned.stride() == (1, 3)


def test_a_sample_does_not_bring_the_whole_dataset() -> None:
    big = glasstorch.arange(1_000_000.0).view(1000, 1000)
    for part in (big[7], big[:, 3][:4], big[2:4, ::3], big[5, 5]):
        got = sent(part)
        assert got.tolist() == part.tolist()
        assert got.stride() == part.stride()
        assert got.untyped_storage().nbytes() < 100_000
    assert sent(big[3:3]).shape == (0, 1000)


def kept_with(array: Any) -> int:
    """How many bytes stay in memory as long as an array does."""
    while isinstance(array, np.ndarray) and array.base is not None:
        array = array.base
    return memoryview(array.obj if isinstance(array, memoryview) else array).nbytes


@pytest.mark.parametrize("size", [1_000, 100_000])
def test_who_keeps_the_labels_does_not_keep_the_images(size: int) -> None:
    images, labels, indices = sent([glasstorch.ones(size), glasstorch.arange(8), np.arange(8)])
    assert kept_with(images.untyped_storage().memory) >= images.nbytes
    assert kept_with(labels.untyped_storage().memory) == labels.nbytes
    assert kept_with(indices) == indices.nbytes
    labels += 1
    indices += 1
    assert labels.tolist() == indices.tolist() == list(range(1, 9))


def test_what_is_in_shared_memory_stays_shared() -> None:
    shared = [glasstorch.full((2,), float(i)).share_memory_() for i in range(600)]  # more than go at once
    got = sent([shared, shared[3].view(1, 2), glasstorch.ones(100_000)])
    assert [x.tolist() for x in got[0]] == [[i, i] for i in range(600)]
    assert got[2].sum() == 100_000
    got[1].fill_(-1)
    assert shared[3].tolist() == [-1, -1]
    assert got[0][3].is_shared()
    assert not got[2].is_shared()


def test_parameters_bits_and_attributes_are_kept() -> None:
    parameter = glasstorch.nn.Parameter(glasstorch.ones(2))
    named = glasstorch.ones(3)
    named.note = "mine"
    got = sent([parameter, glasstorch.tensor([1 + 2j]).conj(), named, glasstorch.empty(1 << 40, device="meta")])
    assert (type(got[0]), got[0].requires_grad) == (glasstorch.nn.Parameter, True)
    assert (got[1].tolist(), got[1].is_conj()) == ([1 - 2j], True)
    assert got[2].note == "mine"
    assert (got[3].is_meta, got[3].shape) == (True, (1 << 40,))
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        sent_alone(parameter * 2)


def sent_alone(value: Any) -> None:
    one, other = Channel.pair()
    try:
        one.send(value)
    finally:
        one.close()
        other.close()


def test_what_cannot_be_pickled_leaves_the_channel_as_it_was() -> None:
    one, other = Channel.pair()
    with pytest.raises((AttributeError, TypeError)):
        one.send([glasstorch.ones(100_000), lambda: 3])
    one.send("next")
    assert other.receive() == "next"
    one.close()
    other.close()


def test_the_end_of_a_channel_is_an_error_for_the_other_one() -> None:
    one, other = Channel.pair()
    one.send("last")
    one.close()
    assert other.receive() == "last"
    with pytest.raises(EOFError):
        other.receive()
    with pytest.raises(EOFError):
        other.send(1)
    other.close()


def test_a_message_that_is_cut_off_is_the_end() -> None:
    one, other = Channel.pair()
    one.socket.sendall(module.HEADER.pack(100, 1, 0, False) + b"x" * 50)
    one.close()
    with pytest.raises(EOFError):
        other.receive()
    assert other.fileno() == -1  # nothing can be read from its middle


def test_two_ends_that_both_send_do_not_wait_for_each_other() -> None:
    one, other = Channel.pair()
    come: tuple[deque[Any], deque[Any]] = (deque(), deque())

    def talk(end: Channel, received: deque[Any]) -> None:
        for number in range(200):
            end.send((number, "x" * 50_000), received)
        while len(received) < 200:
            received.append(end.receive())

    threads = [threading.Thread(target=talk, args=pair) for pair in zip((one, other), come, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [[number for number, _ in received] for received in come] == [list(range(200))] * 2
    one.close()
    other.close()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the system does not list open files")
def test_messages_leave_no_descriptor_behind() -> None:
    shared = glasstorch.ones(3).share_memory_()
    sent([shared, glasstorch.ones(100_000)])
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        sent([shared, glasstorch.ones(100_000), glasstorch.ones(10)])
    assert len(os.listdir("/proc/self/fd")) == before
