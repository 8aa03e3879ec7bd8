"""How does MkDocs get the book's pages?

A thin hook: the work is done by functions that know nothing of MkDocs.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

from workbook.book import api, boxes, exercise_pages, operator_pages, quotes, searching, vendor
from workbook.book.cache import FOLDER, Cache, digest, digest_of_files, renderer
from workbook.book.cards import Cards
from workbook.book.data_pages import fill_in
from workbook.book.errors import BookError
from workbook.book.explorables.catalogue import FOLDER as EXPLORABLES
from workbook.book.explorables.catalogue import as_explorable, data_script, loading, name_of, shown_in
from workbook.book.finish import finish_pages, inlined_figure, with_breaks, with_hanging_lines
from workbook.book.house import PACKAGE
from workbook.book.notebook_checks import check_in_step, read_notebook
from workbook.book.notebook_text import is_notebook_source, notebook_sources
from workbook.book.page_cache import PageCache
from workbook.book.project import CHAPTERS
from workbook.book.render import render
from workbook.book.section_head import with_head
from workbook.book.source_links import linked
from workbook.book.source_map import lines
from workbook.book.withheld import all_asked
from workbook.exercises.sheet import unanswered

OUTPUT_FIGURES = "assets/outputs"
VENDOR = "assets/vendor"
PREDICTIONS = ("assets/predictions.js",)  # for pages that ask
RUNNING = ("assets/live/parts.js", "assets/live/kernel.js", "assets/live/runner.js")  # for pages with cells
WRITING = ("assets/live/parts.js", "assets/live/exercise.js")  # for pages of exercises
FONTS = "assets/fonts.css"
TYPING, TYPED = "00-start/how-to-read.md", "how-commands-are-typed"  # where other ways to type a command are told

ASKS = '<div class="prediction"'
RUNS = " data-cell="
WRITES = " data-exercise="
IMAGE = re.compile(r'(?:<p>)?<img\b[^>]*\bsrc="(?P<source>[^":]+\.svg)"[^>]*?/?>(?:</p>)?')


@contextmanager
def reported() -> Iterator[None]:
    """Convert our errors to errors that MkDocs reports without a traceback."""
    try:
        yield
    except BookError as error:
        raise PluginError(str(error)) from error


def root_of(config: MkDocsConfig) -> Path:
    """The project's folder."""
    return Path(config.config_file_path).parent


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Find the typefaces, and put the pages made from the library's source and the exercises' files into the
    navigation."""
    root = root_of(config)
    with reported():
        found = vendor.vendored(root)
        rooms, exercises = api.room_pages(root), exercise_pages.exercise_pages(root)
        operators = operator_pages.family_pages(root)
        labs, entries = exercise_pages.lab_sheets(root), exercise_pages.nav_entries(root)
    config.extra["vendored"], config.extra["pages"], config.extra["labs"] = found, rooms | operators | exercises, labs
    searching.take_over(config.plugins)
    cache = Cache(root / FOLDER)
    asked = (
        f"{one.dotted} {one.exercise.identity} {one.exercise.title} {one.exercise.page}" for one in all_asked(root)
    )
    library = digest(digest_of_files(root / PACKAGE), *asked)
    config.extra["cache"] = PageCache(cache, renderer(root), library, OUTPUT_FIGURES)
    with reported():
        config.extra["cards"] = Cards.of_book(root)
    add_to_nav(config.nav or [], f"{api.FOLDER}/index.md", api.nav_entries(root))
    add_to_nav(config.nav or [], f"{operator_pages.FOLDER}/index.md", operator_pages.nav_entries(root))
    add_to_nav(config.nav or [], f"{exercise_pages.FOLDER}/index.md", entries)
    return config


def add_to_nav(nav: list[Any], after: str, pages: Sequence[Any]) -> bool:
    """Insert pages after another one in the navigation. Returns whether that was found."""
    if after in nav:
        place = nav.index(after) + 1
        nav[place:place] = pages
        return True
    parts = [part for entry in nav if isinstance(entry, dict) for part in entry.values() if isinstance(part, list)]
    return any(add_to_nav(part, after, pages) for part in parts)


def vendored_of(config: MkDocsConfig) -> vendor.Vendored:
    """The vendored files that on_config found."""
    found = config.extra["vendored"]
    assert isinstance(found, vendor.Vendored), "on_config comes first"
    return found


def cards_of(config: MkDocsConfig) -> Cards:
    """The cards that on_config made."""
    cards = config.extra["cards"]
    assert isinstance(cards, Cards), "on_config comes first"
    return cards


def pages_of(config: MkDocsConfig) -> PageCache:
    """The page cache that on_config created."""
    pages = config.extra["cache"]
    assert isinstance(pages, PageCache), "on_config comes first"
    return pages


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Refuse all notebooks that do not match their text in one error; add the vendored files."""
    problems = []
    for source in notebook_sources(root_of(config), [Path(config.docs_dir)]):
        try:
            check_in_step(source)
        except BookError as error:
            problems.append(str(error))
    if problems:
        raise PluginError("\n".join(problems))
    for uri, markdown in config.extra["pages"].items():
        files.append(generated(config, uri, markdown.encode()))
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        files.remove(file)
        files.append(generated(config, file.src_uri, unanswered(file.content_bytes)))
    for uri, lab in config.extra["labs"].items():
        files.append(generated(config, uri, unanswered(lab.read_bytes())))
    found = vendored_of(config)
    for place, path in found.files.items():
        files.append(generated(config, f"{VENDOR}/{place}", path))
    if (style := files.get_file_from_path(FONTS)) is not None:
        files.remove(style)
        files.append(generated(config, FONTS, found.style(style.content_string).encode()))
    return files


def generated(config: MkDocsConfig, uri: str, content: Path | bytes) -> File:
    """A file of the site that does not exist in the docs folder."""
    if isinstance(content, Path):
        return File.generated(config, uri, abs_src_path=str(content), inclusion=InclusionLevel.INCLUDED)
    return File.generated(config, uri, content=content, inclusion=InclusionLevel.INCLUDED)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """A notebook's page from its executed twin; a page of data from its data; any other page as it is. Either way it
    becomes HTML only where that was not done before."""
    vars(page)["render"] = partial(pages_of(config).render, page)
    if page.file.abs_src_path is None:
        return markdown  # generated, and finished
    source = Path(page.file.abs_src_path)
    with reported():
        if not is_notebook_source(source):
            return fill_in(markdown, root_of(config))
        name = page.file.src_uri.removesuffix(".md").replace("/", "-")
        up = posixpath.relpath(OUTPUT_FIGURES, posixpath.dirname(page.file.src_uri))
        rendered = render(read_notebook(source), name=name, figures=up)
    for file_name, content in rendered.files.items():
        uri = f"{OUTPUT_FIGURES}/{file_name}"
        if files.get_file_from_path(uri) is None:
            files.append(generated(config, uri, content))
    return linked(rendered.markdown, lines(root_of(config)))


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put our figures into the page itself, where they follow its colours; let paths and lines of code break; say under
    a section's title how to run it."""
    folder = posixpath.dirname(page.file.dest_uri)

    def inlined(match: re.Match[str]) -> str:
        file = files.get_file_from_path(posixpath.normpath(posixpath.join(folder, match["source"])))
        if file is None:
            return match[0]
        figure = file.src_uri
        drawing = inlined_figure(match[0], file.content_string, lambda link: address_on(page, figure, link, files))
        name = name_of(figure)
        return drawing if name is None else as_explorable(drawing, name)

    html = with_hanging_lines(with_breaks(IMAGE.sub(inlined, html)))
    if names := shown_in(html):
        html += "\n" + loading(names, folder)
        add_data(names, config, files)
    if page.file.abs_src_path is not None and is_notebook_source(Path(page.file.abs_src_path)):
        notebook = posixpath.basename(page.file.src_uri).removesuffix(".md") + ".ipynb"
        told = files.get_file_from_path(TYPING)
        typing = f"{told.url_relative_to(page.file)}#{TYPED}" if told is not None else ""
        html = with_head(html, notebook, f"{CHAPTERS}/{page.file.src_uri}", typing)
    needed = {ASKS: PREDICTIONS, RUNS: RUNNING, WRITES: WRITING}
    programs = (program for sign, programs in needed.items() if sign in html for program in programs)
    html = with_quotes(html, page, config, files)
    html = cards_of(config).on(html, page.file.dest_uri)
    return html + "".join(f'\n<script src="{posixpath.relpath(each, folder)}" defer></script>' for each in programs)


def with_quotes(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let a page's boxes open what stands at the places that they name, and add the quotations to the site."""
    address = page.file.dest_uri
    described = {name.removesuffix(".md") + ".html" for name in config.extra["pages"]}
    html, places = boxes.with_links(html, address, described)
    if not places:
        return html
    pages = pages_of(config)
    key = digest("quotes", address, pages.renderer, pages.library, *places)
    script = pages.cache.get(key)
    if script is None:
        script = quotes.script(places, address, root_of(config)).decode()
        pages.cache.put(key, script)
    files.append(generated(config, quotes.script_of(address), script.encode()))
    return f"{html}\n{quotes.loading(address)}"


def add_data(names: list[str], config: MkDocsConfig, files: Files) -> None:
    """Add to the site what the explorables of a page have to know."""
    pages = pages_of(config)
    for name in names:
        uri = f"{EXPLORABLES}/{name}.data.js"
        if files.get_file_from_path(uri) is None:
            key = digest("explorable", name, pages.renderer, pages.library)
            files.append(generated(config, uri, data_script(name, pages.cache, key)))


def address_on(page: Page, figure: str, link: str, files: Files) -> str:
    """The address of a figure's link from a page that shows it: a room links to its page of the reference."""
    if urlsplit(link).scheme:
        return link
    target = posixpath.normpath(posixpath.join(CHAPTERS, posixpath.dirname(figure), link))
    if target.startswith(f"{PACKAGE.as_posix()}/"):
        target = f"{CHAPTERS}/{api.page_of(target.removeprefix(f'{PACKAGE.as_posix()}/'))}"
    file = files.get_file_from_path(target.removeprefix(f"{CHAPTERS}/"))
    if file is None:
        raise PluginError(
            f"{figure}: its link {link} leads to no page of the book\n"
            "  accepted: a section of the navigation, a folder of the library, an address that begins https://"
        )
    return file.url_relative_to(page.file)


def on_post_build(config: MkDocsConfig) -> None:
    """Turn mathematics into MathML, and prevent requests to other hosts."""
    with reported():
        finish_pages(Path(config.site_dir))
        searching.add_words(Path(config.site_dir))
    pages_of(config).cache.drop_unused()
