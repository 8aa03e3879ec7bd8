// How does a link to a place in the library's source open it beside the page?
//
// What an exercise asks for is left out. The server of the book gives it too, once the exercise has passed.
//
// The pane is a dialog of the browser's own: it holds the focus while it is open, Escape closes it, and the focus goes back to
// the link. The page behind stays where it is. The quotations come as a script that calls GlassQuotes, loaded when the first
// is asked for, so that it works from disk too; where they cannot be had, the link leads to the reference as it is.
"use strict";
(() => {
  const script = document.currentScript;
  const root = new URL("../", script.src);
  let quotes = null, pane = null, opener = null;
  window.GlassQuotes = (table) => { quotes = table; };

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  function load() {
    return new Promise((resolve, reject) => {
      const loaded = element("script", { src: new URL(script.dataset.quotes, location.href).href });
      loaded.addEventListener("load", resolve);
      loaded.addEventListener("error", reject);
      document.head.append(loaded);
    });
  }

  function build() {
    const close = element("button", { type: "button" }, "Close");
    const title = element("h2", { id: "quote-pane-title" });
    const code = element("code"), told = element("footer");
    const box = element("pre", { tabindex: "0", "aria-label": "The quoted source" }, code);
    told.setAttribute("aria-live", "polite");
    const made = element("dialog", { class: "quote-pane", "aria-labelledby": title.id },
      element("header", {}, title, close), element("div", { class: "highlight", style: "display: contents" }, box), told);
    close.addEventListener("click", () => made.close());
    made.addEventListener("click", (event) => { if (event.target === made && beside(event)) made.close(); });
    made.addEventListener("close", () => opener?.focus({ preventScroll: true }));
    document.querySelector("article").append(made);
    return { dialog: made, title, box, code, told, close };
  }

  // Whether a click was on the page behind the pane.
  function beside(event) {
    const box = pane.dialog.getBoundingClientRect();
    return event.clientX < box.left || event.clientX > box.right || event.clientY < box.top || event.clientY > box.bottom;
  }

  // Where a link leads; in a figure it is a link of SVG, which has no address of its own.
  const target = (link) => new URL(link.getAttribute("href"), location.href).href;

  function show(link) {
    const [caption, pieces, asked, place] = quotes[link.dataset.quote];
    pane ??= build();
    pane.title.textContent = caption;
    write(pieces);
    const reference = element("p", {}, element("a", { href: target(link) }, "Its page in the reference"));
    const say = (line) => pane.told.replaceChildren(...asked.map((exercise) => element("p", {}, ...line(exercise))), reference);
    const named = ([name, address]) => element("a", { href: address }, name);
    say((one) => ["You write this in ", named(one), GlassTyped(". The book that make study opens shows it here once the exercise has passed.")]);
    opener = link;
    pane.dialog.showModal();
    pane.box.scrollTo(0, 0);
    pane.close.focus({ preventScroll: true });
    if (!asked.length) return;
    ofServer(place).then((told) => {
      if (!told || opener !== link || !pane.dialog.open) return;
      const left = new Set(told[2].map(([name]) => name));
      if (left.size < asked.length) write(told[1]);
      say((one) => (left.has(one[0])
        ? ["You write this in ", named(one), ". It is shown here once the exercise has passed."]
        : ["You have passed ", named(one), ", which asks for this."]));
    });
  }

  function write(pieces) {
    pane.code.replaceChildren(...pieces.map((piece) => (
      typeof piece === "string" ? piece : element("span", { class: piece[0] }, piece[1]))));
  }

  // The same quotation with what the reader has passed; null where no server answers that knows it.
  async function ofServer(place) {
    if (!location.protocol.startsWith("http") || typeof GlassKey === "undefined") return null;
    const key = await GlassKey.find();
    if (!key) return null;
    try {
      const answer = await fetch(new URL(`workbook/quotes/${place}`, root), { headers: { Authorization: `token ${key}` } });
      return answer.ok ? (await answer.json()).quoted : null;
    } catch {
      return null;
    }
  }

  for (const link of document.querySelectorAll("article a[data-quote]")) {
    link.setAttribute("aria-haspopup", "dialog");
    link.addEventListener("click", async (event) => {
      if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return; // a tab of its own
      event.preventDefault();
      try {
        if (!quotes) await load();
        show(link);
      } catch {
        location.href = target(link);
      }
    });
  }
})();
