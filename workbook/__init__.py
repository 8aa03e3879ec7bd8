"""The reader's side of Glass Torch: the `workbook` command, the notebook builder and the book's renderer.

In a notebook of your own: `from workbook import draw_graph, show_memory`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbook.book.costs import show_cost as show_cost
    from workbook.book.figures.live import draw_graph as draw_graph
    from workbook.book.figures.live import draw_nodes as draw_nodes
    from workbook.book.figures.live import draw_program as draw_program
    from workbook.book.figures.live import show_bars as show_bars
    from workbook.book.figures.live import show_keys as show_keys
    from workbook.book.figures.live import show_lanes as show_lanes
    from workbook.book.figures.live import show_memory as show_memory
    from workbook.book.figures.live import show_memory_map as show_memory_map
    from workbook.book.figures.live import show_module as show_module
    from workbook.book.figures.live import show_profile as show_profile
    from workbook.book.figures.live import show_table as show_table
    from workbook.predictions.widget import predict as predict

FIGURES = (
    *(
        "draw_graph",
        "draw_nodes",
        "draw_program",
        "show_bars",
        "show_keys",
        "show_lanes",
        "show_memory",
        "show_memory_map",
    ),
    *("show_module", "show_profile", "show_table"),
)


def __getattr__(name: str) -> Any:
    """The figures, the table and the questions, imported on first use, so that the command starts without them."""
    if name == "predict":
        from workbook.predictions.widget import predict

        return predict
    if name == "show_cost":
        from workbook.book.costs import show_cost

        return show_cost
    if name in FIGURES:
        from workbook.book.figures import live

        return getattr(live, name)
    raise AttributeError(f"module 'workbook' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *FIGURES, "predict", "show_cost"]
