// Which loops of an expression run as one, what C++ do they become, and what goes through memory?
//
// Everything shown was recorded from the library: the page only chooses what is drawn.
"use strict";

GlassExplorable.define("fusion", (stage, data, kit) => {
  const { h, s, set } = kit;
  const IN_MEMORY = ["argument", "workspace", "result"];
  const WORDS = { workspace: "workspace", result: "result", row: "a row", variable: "variable" };
  let program = data.programs[0], way = 0, place = 0;

  const now = () => program.ways[way];
  const millions = (bytes) => `${(bytes / 1e6).toFixed(1)} million bytes`;
  const listed = (names) => (names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0]);
  const named = (places) => listed(places.map((one) => now().buffers[one].name));

  // --- controls ---

  const codes = data.programs.map(({ code }) => [code, code]);
  const expression = kit.select("Expression", codes, program.code, (code) => {
    program = data.programs.find((one) => one.code === code);
    place = 0;
    show();
  });
  const how = kit.choice("Its loops run", data.ways.map((name, number) => [number, name]), way, (chosen) => {
    way = chosen;
    place = 0;
    show();
  });
  stage.append(h("div", { class: "x-row" }, expression.node, how.node));
  const picture = kit.drawing(stage, "", draw);
  const nest = kit.slider("Nest", { max: 0, shown: (number) => `${number + 1} of ${now().nests.length}` }, (number) => { place = number; show(); });
  stage.append(nest.node);
  const say = kit.speaker(stage);
  const code = h("div", { class: "x-listing", role: "group", "aria-label": "The C++ of the nest" });
  stage.append(code);
  const ticked = kit.tasks(stage, [
    ["a nest that has three phases.", ({ nest: one }) => new Set(one.loops.map(([, phase]) => phase)).size > 2],
    ["values that no tensor in memory holds, but an array of one row.", ({ buffers }) => buffers.some((one) => one.place === "row")],
    ["an expression whose loops cannot be fused at all.", ({ fused, nests }) => fused && nests === program.ways[0].nests.length],
  ]);

  // --- what is shown ---

  function show() {
    const { nests, buffers, moved } = now();
    nest.set(place, nests.length - 1);
    const one = nests[place];
    code.replaceChildren(...one.code.map((line) => h("code", { class: line.includes("//") ? "here" : null }, line)));
    picture.redraw();
    picture.label(`${nests.length} nests of loops. Nest ${place + 1} reads ${named(one.reads)} and writes ${named(one.writes)} in memory`);
    const phases = new Set(one.loops.map(([, phase]) => phase)).size;
    const loops = one.loops.length === 1 ? "one loop" : `${one.loops.length} loops${phases > 1 ? `, in ${phases} phases` : ""}`;
    const found = ticked({ nest: one, buffers, fused: way === 1, nests: nests.length });
    say([
      `${nests.length === 1 ? "One nest reads and writes" : `${nests.length} nests read and write`} ${millions(moved)} in memory.`,
      `Nest ${place + 1} has ${loops}: it reads ${named(one.reads)} and writes ${named(one.writes)}.`,
      found,
    ].filter(Boolean).join(" "));
  }

  // Buffers in a row above, nests in a row below, and a line for each read and each write in memory.
  function draw(svg, width, narrow) {
    const { buffers, nests } = now(), one = nests[place];
    const gap = narrow ? 3 : 8, tall = narrow ? 26 : 42;
    const column = (count) => Math.min(118, (width - 2 - gap * (count - 1)) / count);
    const wide = column(buffers.length), under = column(Math.max(nests.length, 3));
    const across = (number) => 1 + number * (wide + gap);
    const left = (width - nests.length * under - (nests.length - 1) * gap) / 2;
    const along = (number) => left + number * (under + gap);
    const top = 20, below = top + tall + 54;
    svg.append(s("text", { x: 0, y: 12, class: "x-soft" }, narrow ? "framed: in memory; below: nests of loops" : "tensors that are in memory (framed), and values that are not; below them the nests of loops"));
    const lines = [];
    for (const [number, { reads, writes }] of nests.entries()) {
      for (const [list, isWrite] of [[reads, false], [writes, true]]) {
        for (const buffer of list) {
          const shift = isWrite ? under / 8 : -under / 8;
          const d = `M${across(buffer) + wide / 2} ${top + tall}L${along(number) + under / 2 + shift} ${below}`;
          lines.push([number === place, s("path", { d, class: number === place ? (isWrite ? null : "jump") : "faint" })]);
        }
      }
    }
    for (const [, line] of lines.sort((a, b) => a[0] - b[0])) svg.append(line);
    for (const [number, buffer] of buffers.entries()) {
      const touched = one.reads.includes(number) || one.writes.includes(number);
      const kind = !IN_MEMORY.includes(buffer.place) ? "off" : touched ? "here" : "on";
      const middle = across(number) + wide / 2;
      const name = s("text", { x: middle, y: top + 17, "text-anchor": "middle", class: narrow ? "x-mono x-tiny" : "x-mono" }, narrow ? buffer.name.replace("buf", "b") : buffer.name);
      const where = buffer.place === "argument" ? `${buffer.what} in C++` : WORDS[buffer.place];
      svg.append(s("g", { class: kind === "here" ? "x-touched" : null },
        s("rect", { x: across(number), y: top, width: wide, height: tall, rx: 2, class: kind }), name,
        narrow ? null : s("text", { x: middle, y: top + 33, "text-anchor": "middle", class: "x-soft x-tiny" }, where),
      ));
    }
    for (const [number, { loops }] of nests.entries()) {
      const many = loops.length === 1 ? now().buffers[loops[0][0]].what : `${loops.length} loops`;
      svg.append(
        s("rect", { x: along(number), y: below, width: under, height: tall, rx: 2, class: number === place ? "here" : "on" }),
        s("text", { x: along(number) + under / 2, y: below + (narrow ? 17 : 26), "text-anchor": "middle", class: `x-mono ${narrow || many.length * 7.2 > under ? "x-tiny" : ""}` }, many.length * (narrow ? 6 : 5.8) > under ? String(number + 1) : many),
      );
    }
    return below + tall + 2;
  }

  show();
  return {
    shown: () => ({ code: program.code, way: data.ways[way], nest: place, moved: now().moved, nests: now().nests.length, text: [...code.children].map((line) => line.textContent) }),
  };
});
