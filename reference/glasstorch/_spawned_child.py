"""What does a process that a program started run before it imports the program?

Mirrors: nothing; see _spawned.py
Differs: it is run by its path, and imports glasstorch from the folder that the program has it from.
"""

import sys
from importlib import import_module
from pathlib import Path

if "glasstorch" not in sys.modules:
    _folder = str(Path(__file__).parents[1])
    sys.path.insert(0, _folder)
    try:
        import_module("glasstorch")
    finally:
        sys.path.remove(_folder)

import_module("glasstorch._as_torch").install()
