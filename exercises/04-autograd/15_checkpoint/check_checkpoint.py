"""Is a place kept instead of a tensor, does the second run fill it, and is nothing held for longer than needed?"""

import weakref
from collections.abc import Callable
from typing import Any

import glasstorch as torch
from glasstorch.utils.checkpoint import CheckpointError
from glasstorch.utils.checkpoint.frame import CHECKS, Frame, Key, Place, StopRecomputation
from workbook.exercises.asking import Ask, Raises, expect

Tensor = torch.Tensor


def tensor(*values: float) -> Tensor:
    """A vector with a history."""
    return torch.tensor(values, requires_grad=True) * 1


def frame_with(*places: Place, early_stop: bool = False, is_forward_done: bool = True) -> Frame:
    """A frame with these places."""
    frame = Frame(lambda: None, early_stop, CHECKS["default"])
    frame.places = [weakref.ref(place) for place in places]
    frame.expected = [None for _ in places]
    frame.is_forward_done = is_forward_done
    return frame


def numbers(came: Tensor | None) -> object:
    """A tensor as numbers."""
    return came if came is None else came.tolist()


def found(frame: Frame, place: Place, number: int) -> object:
    """The tensor that is stored for a place, as numbers."""
    key = place.keys.get(number)
    return numbers(frame.runs[number].tensors.get(key)) if isinstance(key, Key) else key


def test_what_is_kept(ask: Ask) -> None:
    """what the frame notes for each tensor that a node saves"""
    frame = frame_with()
    first, second = (ask("keep", frame, tensor(*values)).value for values in ((1.0, 2.0), (3.0,)))
    noted = [reference() is place for reference, place in zip(frame.places, (first, second), strict=False)]
    because = "the n-th tensor that is saved in the second run belongs to the n-th place"
    expect(noted, [True, True], asked="whether frame.places has both places, in their order", because=because)
    sizes = [list(facts["shape"]) for facts in frame.expected]
    because = "the facts are compared with those of the tensors of the second run"
    expect(sizes, [[2], [1]], asked="the sizes among the facts in frame.expected", because=because)
    del first, second
    ask.last = None  # which has the second
    asked = "the places after the nodes that kept them are gone"
    because = "the frame may live longer than one of its nodes, so it must not keep a place alive"
    expect([reference() for reference in frame.places], [None, None], asked=asked, because=because)


def test_a_place_is_filled(ask: Ask) -> None:
    """the tensors that the second run stores for its places, also when the first place is gone"""
    for is_gone in (False, True):
        places = [Place(), Place()]
        frame = frame_with(*places)
        if is_gone:
            del places[0]
        for values in ((1.0, 2.0), (3.0,)):
            ask("fill", frame, tensor(*values), 7)
        because = (
            "the n-th tensor belongs to the n-th place; run.tensors holds it for as long as the place holds its key"
        )
        came = [found(frame, place, 7) for place in places]
        asked = f"the tensors stored for two places{', the first of which is gone,' * is_gone} in pass 7"
        expect(came, [[3.0]] if is_gone else [[1.0, 2.0], [3.0]], asked=asked, because=because)


def test_what_the_node_keeps(ask: Ask) -> None:
    """the tensor that fill returns, which a node of the second run keeps"""
    place, given = Place(), tensor(1.0, 2.0)
    came = ask("fill", frame_with(place), given, 7)
    because = "it shares the memory and has no history, which would keep the graph of the second run alive"

    def facts(came: Tensor) -> list[object]:
        return [came.tolist(), came.data_ptr() == given.data_ptr(), came.requires_grad]

    asked = "the returned tensor: its values, whether it shares the memory, and whether it requires grad"
    expect(came, [[1.0, 2.0], True, False], read=facts, asked=asked, because=because)


def test_the_end(ask: Ask) -> None:
    """how the second run ends"""
    for early_stop, accepted in ((True, ["goes on", "StopRecomputation"]), (False, ["goes on", "goes on"])):
        places = [Place(), Place()]
        frame = frame_with(*places, early_stop=early_stop)
        came = [ask("fill", frame, tensor(1.0), 7).error for _ in places]
        names = ["goes on" if error is None else type(error).__name__ for error in came]
        asked = f"what happens after each of two tensors, with two places and early_stop={early_stop}"
        because = "with early_stop the run ends when the last place is filled, since nothing after it is needed"
        expect(names, accepted, asked=asked, because=because)


def test_too_many(ask: Ask) -> None:
    """the error for a tensor without a place"""
    accepted = Raises(CheckpointError, "trying to save more tensors during recomputation")
    came = ask("fill", frame_with(), tensor(1.0), 7)
    expect(came, accepted, because="the function saves more tensors than in the first run")
    frame = frame_with(is_forward_done=False)
    came = ask("fill", frame, tensor(1.0), 7)
    because = "a backward pass runs inside the function, whose first run has not saved all its tensors yet"
    expect(came, [1.0], read=numbers, asked="what fill returns where is_forward_done is False", because=because)
    because = "the first run is not done, so the numbers of saved tensors cannot be compared"
    expect(frame.may_differ, True, asked="frame.may_differ after that", because=because)


class Asked(Frame):
    """A frame whose hooks are the reader's."""

    def __init__(self, ask: Ask, again: Callable[..., object]) -> None:
        super().__init__(again, False, CHECKS["default"])
        self.ask = ask
        self.runs_so_far = 0

    def fill(self, tensor: Tensor, number: Any) -> Tensor:
        came = self.ask("fill", self, tensor, number)
        if isinstance(came.error, StopRecomputation | CheckpointError):
            raise came.error
        return came.value


def two_places(ask: Ask) -> tuple[Asked, list[Place]]:
    """A frame of a function that saves two tensors, and its places."""

    def again() -> None:
        frame.runs_so_far += 1
        x = torch.tensor([frame.runs_so_far * 1.0], requires_grad=True)
        (x * 10).exp()  # saves its result
        (x * 2).sin()  # saves its argument

    frame = Asked(ask, again)
    places = [Place(), Place()]
    frame.places = [weakref.ref(place) for place in places]
    facts = {"shape": torch.Size([1]), "dtype": torch.float32, "device": torch.device("cpu")}
    frame.expected = [facts, facts]
    frame.is_forward_done = True
    return frame, places


def test_a_tensor_is_given_out(ask: Ask) -> None:
    """the tensors that are given out in two backward passes"""
    frame, (_, place) = two_places(ask)
    for number, accepted in ((7, [2.0]), (8, [4.0])):
        came = ask("give_out", frame, place, number)
        because = "here the argument of the sine is twice the number of the run, and each pass has a run of its own"
        expect(came, accepted, read=numbers, asked=f"the argument of the sine, in pass {number}", because=because)


def test_once(ask: Ask) -> None:
    """what the frame still holds after a tensor was given out, and the error when it is needed again"""
    frame, (_, place) = two_places(ask)
    ask("give_out", frame, place, 7)
    ask.last = None
    held = [list(one.shape) for one in frame.runs[7].tensors.values()]
    because = "the frame drops the tensor that was given out; the other one is still needed"
    expect(held, [[1]], asked="the shapes of the tensors that the frame still holds", because=because)
    came = ask("give_out", frame, place, 7)
    because = "the tensor has been given out in this pass, and the frame has dropped it"
    expect(came, Raises(CheckpointError, "was already unpacked once"), because=because)
