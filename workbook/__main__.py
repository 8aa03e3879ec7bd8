"""Where does `python -m workbook` begin?"""

import sys

from workbook.cli import main

if __name__ == "__main__":
    sys.exit(main())
