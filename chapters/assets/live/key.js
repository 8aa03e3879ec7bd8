// How does this tab get the key of its server?
//
// The address that `workbook read` opens has it behind the `#`, from where it goes into the storage of the tab. A new tab asks
// the others of this address. It is never sent but in the requests that run code (kernel.js).
"use strict";

const GlassKey = (() => {
  const NAME = "glasstorch.key";
  let kept = null; // for a browser that stores nothing
  const get = () => { try { return sessionStorage.getItem(NAME) ?? kept; } catch { return kept; } };
  const set = (key) => { kept = key; try { sessionStorage.setItem(NAME, key); } catch { /* this page has it all the same */ } };

  const given = /^#key=([\w-]+)$/.exec(location.hash);
  if (given) {
    set(given[1]);
    history.replaceState(null, "", location.pathname + location.search);
  }
  const others = "BroadcastChannel" in window && location.protocol.startsWith("http") ? new BroadcastChannel(NAME) : null;
  let heard = () => {};
  others?.addEventListener("message", ({ data }) => {
    if (data.asked && get()) others.postMessage({ key: get() });
    if (data.key && !get()) set(data.key);
    if (data.key) heard();
  });

  // The key, or null where neither this tab nor another has one.
  const find = () => new Promise((resolve) => {
    if (get() || !others) return resolve(get());
    heard = () => resolve(get());
    setTimeout(heard, 500);
    others.postMessage({ asked: true });
  });
  // How to come to a page that can run code. `root` is the address of the book's first page.
  const advice = async (root) => {
    if (location.protocol === "file:") {
      return "A page that is opened from disk cannot run Python. In the clone, type " + GlassTyped(".venv/bin/workbook read") +
        ": it opens the book with all that runs.";
    }
    const ours = await fetch(new URL("workbook/predictions", root)).then((answer) => answer.ok, () => false);
    return GlassTyped(ours
      ? "This tab was opened without the key of its server. Open the address that begins with file:// in the terminal where make study runs."
      : "There is no Python behind this copy of the book. Clone the repository and type make study: it opens the book with all that runs.");
  };
  return { find, advice, forget: () => { kept = null; try { sessionStorage.removeItem(NAME); } catch { /* nothing is kept */ } } };
})();
