"""What can a reader play with on a page, and where do its facts come from?

An explorable has a module here with two functions: `data()` runs the library and returns the facts that the page's
program needs, as JSON values, and `figure()` draws the static figure that stands where the program cannot run. The
program is `chapters/assets/explorables/NAME.js`. A text shows an explorable as an image of its figure,
`![what it shows](../assets/explorables/NAME.svg "the caption")`, and the site's hook does the rest.

    python -m workbook.book.explorables            draw the static figures into chapters/assets/explorables/
    python -m workbook.book.explorables --check    say which ones are not as they would be drawn now

Reading order: `catalogue` (what there is, and how it comes into a page), then one file for each explorable in the order
of the chapters: `strides`, `dispatch`, `engine` (its recordings are made by `recorded_pass`), `versions`, `launch`,
`allocator` (by `recorded_memory`), `passes`, `fusion`.
"""
