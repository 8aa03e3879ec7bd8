"""Which changes of a graph are so common that they need not be written again?

Reading order: `shape_prop` notes what each node gives; `tools_common` orders nodes; `utils/` finds a pattern in a
graph, and makes one node of several.

Mirrors: torch/fx/passes/__init__.py
"""
