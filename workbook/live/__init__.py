"""How does a page of the book run what it shows?

Reading order:
    gate.py       Who may run code through a page?
    kernels.py    Which kernels run the cells of a page?
    opening.py    How does the key reach the page, and nobody else?
"""
