"""Does the figure of a module say of each attribute where it is kept, and what reaches it?"""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

import glasstorch as torch
import workbook
from glasstorch import nn
from workbook.book.cells import show_module
from workbook.book.figures import module


class Everything(nn.Module):
    """One attribute of each kind."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.frozen = nn.Parameter(torch.ones(2), requires_grad=False)
        self.register_parameter("bias", None)
        self.register_buffer("saved", torch.ones(3))
        self.register_buffer("unsaved", torch.ones(3), persistent=False)
        self.layer = nn.Linear(2, 2)
        self.listed = [nn.Linear(2, 2), nn.ReLU()]
        self.plain = torch.ones(2)
        self.size = 3


def test_each_attribute_has_its_place_and_what_reaches_it() -> None:
    rows = {member.name: (member.place, *member.answers) for member in module.members(Everything())}
    assert rows == {
        "weight": ("_parameters", True, True, True),
        "frozen": ("_parameters", False, True, True),
        "bias": ("_parameters", False, False, False),
        "saved": ("_buffers", False, True, True),
        "unsaved": ("_buffers", False, True, False),
        "layer": ("_modules", True, True, True),
        "listed": ("__dict__", False, False, False),
        "plain": ("__dict__", False, False, False),
        "size": ("__dict__", False, False, False),
    }


def test_an_attribute_that_hides_a_saved_name_is_not_saved() -> None:
    net = nn.Sequential(nn.Linear(2, 2))
    net.__dict__["0.weight"] = torch.ones(1)
    assert [member.answers for member in module.members(net) if member.place == "__dict__"] == [(False, False, False)]


def test_what_is_read_aloud_says_what_is_drawn() -> None:
    figure = module.draw(Everything())
    assert figure.title == "Where Everything keeps its attributes"
    assert "unsaved in _buffers, Tensor of sizes (3,): not trained, converted, not saved" in figure.description
    assert "listed in __dict__, a list of 2 Linear and ReLU: not trained, not converted" in figure.description
    texts = [element.text for element in ElementTree.fromstring(figure.svg()).iter("{http://www.w3.org/2000/svg}text")]
    assert texts[:4] == ["trained", "converted", "saved", "_parameters"]
    assert texts.count("yes") + texts.count("no") == 3 * 9
    assert figure.svg() == module.draw(Everything()).svg()


def test_what_cannot_be_drawn_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="nothing was assigned to this Identity"):
        module.draw(nn.Identity())
    with pytest.raises(TypeError, match="show_module: its argument is of type Tensor"):
        show_module(torch.ones(1))
    show_module(Everything())
    assert "trained" in capsys.readouterr().out
    assert workbook.show_module is show_module
