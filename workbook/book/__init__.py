"""How do text chapters become executed notebooks, and notebooks a site?

Reading order: `errors` `project` `question_cells` `notebook_text` `notebook_checks` `notebooks` (text to executed
notebook) `cells` (what chapters call) `example_programs` (programs of `examples/` in a cell) `render` (notebook to
Markdown) `recorded` (what a page that runs has to know) `section_head` `house` `figures/` `explorables/`
`documents` `source_links` `data_pages` and what it names (pages made from data) `exercise_pages` `cards` (what a
word's card tells) `nodes` `places` (what a name in a box means) `references` `quotes` (what stands there) `boxes`
(links that open it beside a page) `vendor` (typefaces) `mathematics` `finish` (built pages) `searching` (what the
search finds) `hook` `build` `swap` (a new site in the place of an old one); and `reading`, which reads the prose.
"""
