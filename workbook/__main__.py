"""Where do `workbook` and `python -m workbook` begin?"""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line, and end with one line where Ctrl-C comes before it or in its last moments."""
    try:
        from workbook.cli import main

        return main()
    except KeyboardInterrupt:
        from workbook.stopped import say_stopped

        return say_stopped()


if __name__ == "__main__":
    sys.exit(main())
