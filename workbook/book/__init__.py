"""How do text chapters become executed notebooks, and notebooks a site?

Reading order: `errors` `project` `notebooks` (text to executed notebook) `cells` (what chapters call)
`render` (notebook to Markdown) `house` `figures/` `pages` (pages made from data) `vendor` (KaTeX, Mermaid,
fonts) `finish` (built pages) `hook` `build`.
"""
