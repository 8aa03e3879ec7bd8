// Where was this reader, and how does this reader type a command?
//
// The last section and heading are kept in this browser, and the home page offers to go on there: to nobody who has read
// nothing yet, and to nobody whose browser keeps nothing. On Windows commands are shown as they are typed there.
"use strict";
(() => {
  const KEY = "glass-torch:place"; // {page, title, heading, anchor}; the page from the site's root
  const site = new URL("../", document.currentScript.src);

  const storage = {
    read() {
      try {
        return JSON.parse(localStorage.getItem(KEY));
      } catch {
        return null; // no storage, or not ours
      }
    },
    write(place) {
      try {
        localStorage.setItem(KEY, JSON.stringify(place));
      } catch {
        // Nothing is kept: the home page is then as it is for everybody.
      }
    },
  };

  // The page's path below the site's root; the query and the fragment are no part of it.
  const here = decodeURI(location.pathname).slice(decodeURI(site.pathname).length) || "index.html";

  // A heading's own words, without the sign of its link.
  const wordsOf = (heading) => {
    const copy = heading.cloneNode(true);
    copy.querySelectorAll(".headerlink").forEach((link) => link.remove());
    return copy.textContent.trim();
  };

  // The last heading above the middle of the window.
  const headingInSight = () => {
    const above = [...document.querySelectorAll("article h2[id]")].filter(
      (heading) => heading.getBoundingClientRect().top < innerHeight / 2,
    );
    return above.at(-1);
  };

  let scrolled = false;

  // Who opens a section again and has not scrolled yet is still at the heading of the last time.
  function keepPlace() {
    const title = document.querySelector("article h1");
    if (!title || (!scrolled && storage.read()?.page === here)) return;
    const heading = scrollY > 0 ? headingInSight() : undefined;
    storage.write({
      page: here,
      title: wordsOf(title),
      heading: heading ? wordsOf(heading) : "",
      anchor: heading?.id ?? "",
    });
  }

  // A place that was kept; null for anything else, such as an address that leads out of the book.
  function keptPlace() {
    const place = storage.read();
    const isText = (name) => typeof place[name] === "string";
    if (!place || !["page", "title", "heading", "anchor"].every(isText)) return null;
    return /^(?:\d\d-[\w-]+|exercises)\/[\w.-]+\.html$/.test(place.page) && place.title ? place : null;
  }

  function offerToGoOn(place) {
    const link = document.createElement("a");
    link.href = new URL(place.page + (place.anchor ? `#${encodeURIComponent(place.anchor)}` : ""), site).href;
    link.textContent = place.heading ? `${place.title}: ${place.heading}` : place.title;
    const offer = document.createElement("p");
    offer.className = "go-on";
    offer.append("Continue where you were: ", link);
    document.querySelector("article .lead")?.after(offer);
  }

  // Commands, also those that other scripts show, as this reader types them.
  const MAKE = "make (?=(?:study|test|test-all|site|lab|bench|gen|clean|help)(?![\\w-]))";
  const ofWindows = (text) =>
    text.replaceAll(".venv/bin/", ".venv\\Scripts\\").replace(new RegExp(`\\b${MAKE}`, "g"), "py workbook\\bootstrap.py ");
  const typed = /^Win/.test(navigator.platform) ? ofWindows : (text) => text;
  window.GlassTyped = typed;

  // In prose, a paragraph that says it in both ways is left as it is.
  const command = new RegExp(`^(?:\\.venv/bin/\\w|${MAKE})`);
  const inProse = [...document.querySelectorAll("article :not(pre) > code")].filter(
    (code) => command.test(code.textContent) && !/\.venv\\Scripts|bootstrap\.py/.test(code.parentElement.textContent),
  );
  for (const code of [...document.querySelectorAll("article .highlight:not(.cell-input) code"), ...inProse]) {
    const nodes = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    while (nodes.nextNode()) nodes.currentNode.data = typed(nodes.currentNode.data);
  }

  if (here === "index.html") {
    const place = keptPlace();
    if (place) offerToGoOn(place);
  } else if (/^(?:\d\d-|exercises\/)/.test(here)) {
    keepPlace();
    let waiting = 0;
    addEventListener("scroll", () => {
      scrolled = true;
      clearTimeout(waiting);
      waiting = setTimeout(keepPlace, 300);
    });
    addEventListener("pagehide", keepPlace);
  }
})();
