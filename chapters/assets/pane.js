// How does a link to a place in the library's source open it beside the page?
//
// The pane is a dialog of the browser's own: it holds the focus while it is open, Escape closes it, and the focus goes back to
// the link. The page behind stays where it is. The quotations come as a script that calls GlassQuotes, loaded when the first
// is asked for, so that it works from disk too; where they cannot be had, the link leads to the reference as it is.
"use strict";
(() => {
  const script = document.currentScript;
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

  function show(link) {
    const [caption, pieces, asked] = quotes[link.dataset.quote];
    pane ??= build();
    pane.title.textContent = caption;
    pane.code.replaceChildren(...pieces.map((piece) => (
      typeof piece === "string" ? piece : element("span", { class: piece[0] }, piece[1]))));
    const exercises = asked.map(([name, address]) => element("p", {}, "You write this in ", element("a", { href: address }, name), "."));
    const reference = element("p", {}, element("a", { href: link.href }, "Its page in the reference"));
    pane.told.replaceChildren(...exercises, reference);
    opener = link;
    pane.dialog.showModal();
    pane.box.scrollTo(0, 0);
    pane.close.focus({ preventScroll: true });
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
        location.href = link.href;
      }
    });
  }
})();
