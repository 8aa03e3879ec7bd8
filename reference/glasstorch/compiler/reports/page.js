"use strict";
const rows = [...document.querySelectorAll("button.row")];
const said = document.getElementById("said");
const places = row => row.dataset.from.split(" ");
const byPlace = new Map();
for (const row of rows) for (const place of places(row)) {
  if (!byPlace.has(place)) byPlace.set(place, []);
  byPlace.get(place).push(row);
}
const linked = chosen => new Set(chosen.flatMap(place => byPlace.get(place) ?? []));
let chosenBy = null;

function choose(row) {
  chosenBy = row === chosenBy ? null : row;
  const marked = chosenBy ? linked(places(chosenBy)) : new Set();
  for (const one of rows) {
    one.classList.toggle("chosen", marked.has(one));
    one.setAttribute("aria-pressed", String(marked.has(one)));
  }
  let stages = 0, lines = 0;
  for (const box of document.querySelectorAll(".parts details")) {
    const found = [...box.querySelectorAll(".chosen")];
    box.querySelector(".count").textContent = found.length ? `${found.length} line${found.length > 1 ? "s" : ""}` : "";
    stages += found.length > 0; lines += found.length;
    if (found.length && !found.includes(chosenBy)) show(box.querySelector(".code"), found[0]);
  }
  if (chosenBy && chosenBy.matches(".stage")) {
    const source = document.querySelector(".source.chosen");
    if (source) { source.closest("details").open = true; source.scrollIntoView({block: "nearest"}); }
  }
  const text = chosenBy ? chosenBy.textContent.trim() : "";
  said.textContent = !chosenBy ? "" : `${text.length > 60 ? text.slice(0, 59) + "…" : text}: ${lines} line` +
    `${lines === 1 ? "" : "s"} in ${stages} stage${stages === 1 ? "" : "s"}`;
}

function show(box, row) {  // scrolls the box alone, not the page
  const above = row.offsetTop - box.offsetTop;
  if (above < box.scrollTop || above > box.scrollTop + box.clientHeight - row.offsetHeight) box.scrollTop = above - 40;
}

function near(row) {
  for (const one of document.querySelectorAll(".near")) one.classList.remove("near");
  if (row) for (const one of linked(places(row))) one.classList.add("near");
}

for (const box of document.querySelectorAll(".code")) {  // one stop of the Tab key for each box
  const own = [...box.querySelectorAll("button.row")];
  own.forEach((row, i) => { row.tabIndex = i ? -1 : 0; });
  box.addEventListener("keydown", event => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key], at = own.indexOf(document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    const next = own[Math.min(Math.max(at + step, 0), own.length - 1)];
    own[at].tabIndex = -1; next.tabIndex = 0; next.focus();
  });
}
document.addEventListener("click", event => {
  const row = event.target.closest("button.row");
  if (row) choose(row);
});
document.addEventListener("keydown", event => { if (event.key === "Escape" && chosenBy) choose(chosenBy); });
document.addEventListener("pointerover", event => near(event.target.closest?.("button.row")));
document.addEventListener("focusin", event => near(event.target.closest?.("button.row")));
