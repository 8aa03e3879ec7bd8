// How does a word show its card?
//
// A card comes after the pointer has rested on its link for a moment, and at once when the keyboard reaches the link. It stays
// while the pointer is on the link or on the card, and Escape takes it away without moving anything. A finger needs no
// card: a tap follows the link. The facts are in the page, in a script of data with the identity "cards".
"use strict";
(() => {
  const REST = 350, GRACE = 200, GAP = 6; // milliseconds before a card comes and goes; pixels between it and its link
  const facts = JSON.parse(document.getElementById("cards").textContent);
  const article = document.querySelector("article");
  const card = document.createElement("div");
  card.id = "hover-card";
  card.className = "hover-card";
  card.setAttribute("role", "tooltip");
  card.hidden = true;
  article.append(card);
  let shown = null, waiting = 0;

  // A text in which code stands in backquotes, as a paragraph.
  function paragraph(text, name = "") {
    const made = document.createElement("p");
    made.className = name;
    text.split("`").forEach((piece, place) => {
      const node = place % 2 ? document.createElement("code") : document.createTextNode("");
      node.textContent = piece;
      made.append(node);
    });
    return made;
  }

  function show(link) {
    hide();
    const [title, says, where] = facts[link.dataset.card];
    card.replaceChildren(paragraph(title), paragraph(says), ...(where ? [paragraph(where, "hover-card-where")] : []));
    card.hidden = false;
    place(link);
    link.setAttribute("aria-describedby", card.id);
    shown = link;
  }

  // Below the link, or above it where there is more room; never beyond the sides of the window.
  function place(link) {
    const box = link.getClientRects()[0], inside = card.offsetParent.getBoundingClientRect();
    const width = document.documentElement.clientWidth;
    const above = innerHeight - box.bottom < card.offsetHeight + GAP && box.top > innerHeight / 2;
    const left = Math.max(GAP, Math.min(box.left, width - card.offsetWidth - GAP));
    const top = above ? box.top - GAP - card.offsetHeight : box.bottom + GAP;
    card.style.left = `${left - inside.left}px`;
    card.style.top = `${top - inside.top}px`;
  }

  function hide() {
    clearTimeout(waiting);
    shown?.removeAttribute("aria-describedby");
    shown = null;
    card.hidden = true;
  }

  function after(time, action) {
    clearTimeout(waiting);
    waiting = setTimeout(action, time);
  }

  for (const link of article.querySelectorAll("a[data-card]")) {
    link.addEventListener("pointerenter", (event) => {
      if (event.pointerType === "touch") return;
      if (link === shown) clearTimeout(waiting);
      else after(REST, () => show(link));
    });
    link.addEventListener("pointerleave", () => after(GRACE, hide));
    link.addEventListener("focus", () => { if (link.matches(":focus-visible")) show(link); });
    link.addEventListener("blur", hide);
  }
  card.addEventListener("pointerenter", () => clearTimeout(waiting));
  card.addEventListener("pointerleave", () => after(GRACE, hide));
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
})();
