"""Is the line that is reported the program's own?"""

from __future__ import annotations

import sys
from pathlib import Path

from glasstorch.devices import runtime, stream
from glasstorch.devices.driver_sim import SimDriver
from glasstorch.devices.simulator.python_line import Line, calling_line


def test_the_line_of_a_direct_call_is_that_of_the_caller() -> None:
    line = calling_line()
    assert Path(line.file).name == "test_python_line.py"
    assert str(line).endswith("line = calling_line()")


def test_frames_of_the_library_are_left_out() -> None:
    driver = SimDriver()
    runtime.use_driver(driver)
    try:
        address = driver.malloc(8)
        number = sys._getframe().f_lineno - 1
        stream.synchronize()
        assert driver.leaks()[0].line == Line(__file__, number)
        driver.free(address)
    finally:
        runtime.use_driver(None)


def test_a_file_without_source_is_named_with_its_number() -> None:
    assert str(Line("<made up>", 3)) == "<made up>:3"


def test_a_cell_of_a_notebook_is_called_one() -> None:
    assert str(Line("/anywhere/ipykernel_812/147668.py", 3)) == "line 3 of a cell"
    assert str(Line("/anywhere/ipykernel.py", 3)) == "/anywhere/ipykernel.py:3"
