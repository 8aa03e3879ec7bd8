"""How does a page of the book run what it shows, and check what its reader writes?

Reading order:
    gate.py       Who may run code through a page?
    kernels.py    Which kernels run the cells of a page?
    desk.py       How does the page of an exercise read, write and check the reader's answer?
    checks.py     How does a check that a page has begun run, and how does it end with its page, or with the server?
    quotation.py  What may a page quote of the library once its reader has passed the exercises that ask for it?
    opening.py    How is the key handed to the page and kept from everyone else?
"""
