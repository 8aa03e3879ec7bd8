"""Where do `workbook` and `python -m workbook` begin?"""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; a Ctrl-C before or after it ends with one line, too."""
    try:
        from workbook.cli import main

        return main()
    except KeyboardInterrupt:
        from workbook.stopped import say_stopped

        return say_stopped()


if __name__ == "__main__":
    sys.exit(main())
