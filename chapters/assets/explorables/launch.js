// Which threads have an element, which memory does a warp fetch, and where do its threads part?
//
// The launch is computed here from its numbers; a test compares it with the same model in Python.
"use strict";

GlassExplorable.define("launch", (stage, data, kit) => {
  const { h, s, set } = kit;
  const WARP = data.warp;
  const BRANCHES = {
    "none": () => 0,
    "i % 2": (i) => i % 2,
    "threadIdx.x % 32 < 16": (i, thread) => Number(thread % WARP < WARP / 2),
    "threadIdx.x / 32 % 2": (i, thread) => Math.floor(thread / WARP) % 2,
  };

  // --- the model ---

  // For each warp, its threads: `{ i, thread, active, way }`; an address is in bytes from the beginning of x.
  function warpsOf(launch) {
    const warps = [];
    for (let block = 0; block < launch.blocks; block += 1) {
      for (let first = 0; first < launch.block; first += WARP) {
        const threads = [];
        for (let thread = first; thread < Math.min(first + WARP, launch.block); thread += 1) {
          const i = block * launch.block + thread, inside = i < launch.n;
          threads.push({ i, thread, inside, active: inside || !launch.guard, way: BRANCHES[launch.branch](i, thread), address: (launch.offset + launch.stride * i) * launch.size });
        }
        warps.push({ block, threads });
      }
    }
    return warps;
  }

  function warpFacts({ threads }, launch) {
    const active = threads.filter((one) => one.active);
    const addresses = [...new Set(active.map((one) => one.address))];
    const sectors = [...new Set(addresses.map((address) => Math.floor(address / data.sector)))].sort((a, b) => a - b);
    return {
      active: active.length,
      sectors,
      lines: new Set(addresses.map((address) => Math.floor(address / data.line))).size,
      used: addresses.length * launch.size,
      ways: new Set(active.map((one) => one.way)).size,
    };
  }

  function launchFacts(launch, warps) {
    const each = warps.map((warp) => warpFacts(warp, launch)), threads = launch.blocks * launch.block;
    const sum = (of) => each.reduce((all, warp) => all + of(warp), 0);
    return {
      threads, missed: Math.max(launch.n - threads, 0), beyond: Math.max(threads - launch.n, 0), warps: warps.length,
      sectors: sum((warp) => warp.sectors.length), used: sum((warp) => warp.used), parted: sum((warp) => Number(warp.ways > 1)),
    };
  }

  // --- controls ---

  const launch = { n: 180, block: 64, blocks: 3, guard: true, size: 4, stride: 1, offset: 0, branch: "none" };
  let chosen = 0, warps = [];
  const later = kit.framed(() => show());
  const change = (name, number = true) => (value) => { launch[name] = number ? Number(value) : value; later(); };
  const program = h("pre", { class: "x-program" });
  const n = kit.slider("Elements, n", { min: 1, max: data.most.elements, value: launch.n }, change("n"));
  const blocks = kit.slider("Blocks", { min: 1, max: data.most.blocks, value: launch.blocks }, change("blocks"));
  const block = kit.choice("Threads in a block", data.blocks.map((size) => [size, size]), launch.block, change("block"));
  const guard = kit.toggle("if (i < n)", launch.guard, change("guard", false));
  const size = kit.select("x of", data.sizes.map(([name, bytes]) => [bytes, name]), launch.size, change("size"));
  const stride = kit.select("step", data.strides.map((step) => [step, step]), launch.stride, change("stride"));
  const offset = kit.select("from", data.offsets.map((first) => [first, first]), launch.offset, change("offset"));
  const branch = kit.select("branch", data.branches.map((name) => [name, name]), launch.branch, change("branch", false));
  stage.append(
    n.node, blocks.node,
    h("div", { class: "x-row" }, block.node, guard.node),
    h("div", { class: "x-row" }, size.node, stride.node, offset.node, branch.node),
    program,
  );
  const picture = kit.drawing(stage, "", draw);
  const warp = kit.slider("Warp", { max: 0 }, (number) => { chosen = number; later(); });
  stage.append(warp.node);
  const say = kit.speaker(stage);
  const ticked = kit.tasks(stage, [
    ["a launch that leaves elements without a thread.", ({ missed }) => missed > 0],
    ["a warp that fetches eight bytes for each one that it uses.", ({ one }) => one.used > launch.size && one.sectors.length * data.sector >= 8 * one.used],
    ["a way to let as many threads read as many numbers next to each other, and fetch a sector more.", ({ one }) => launch.stride === 1 && one.active === WARP && one.sectors.length * data.sector > one.used],
    ["a branch at which the threads of a block part, and those of no warp.", ({ parted }) => !parted && launch.block > WARP && launch.branch !== "none" && new Set(warps.flatMap((each) => each.threads).filter((each) => each.active).map((each) => each.way)).size > 1],
  ]);

  // --- what is shown ---

  function show() {
    warps = warpsOf(launch);
    chosen = Math.min(chosen, warps.length - 1);
    warp.set(chosen, warps.length - 1);
    const whole = launchFacts(launch, warps), one = warpFacts(warps[chosen], launch);
    const place = [launch.offset ? `${launch.offset} + ` : "", launch.stride === 1 ? "i" : `${launch.stride} * i`].join("");
    const inner = launch.branch === "none" ? `out[i] = x[${place}];` : `out[i] = ${launch.branch} ? f(x[${place}]) : g(x[${place}]);`;
    set(program, { text: `int i = blockIdx.x * blockDim.x + threadIdx.x;\n${launch.guard ? "if (i < n) " : ""}${inner}` });
    picture.redraw();
    const found = ticked({ ...whole, one });
    picture.label(`${whole.warps} warps in ${launch.blocks} blocks; warp ${chosen} has ${one.active} active threads, which read the sectors ${one.sectors.join(", ")}`);
    say([sentence(whole), warpSentence(one), found].filter(Boolean).join(" "));
  }

  const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

  function sentence(whole) {
    const start = `${many(whole.threads, "thread")} for ${many(launch.n, "element")}: `;
    if (whole.missed) return `${start}${many(whole.missed, "element")} without a thread.`;
    if (!whole.beyond) return `${start}each has one.`;
    return `${start}${many(whole.beyond, "thread")} ${launch.guard ? `${whole.beyond === 1 ? "has" : "have"} nothing to do` : `${whole.beyond === 1 ? "reads and writes" : "read and write"} behind the end`}.`;
  }

  function warpSentence(one) {
    if (!one.active) return `No thread of warp ${chosen} has an element, and nothing is fetched.`;
    const moved = one.sectors.length * data.sector;
    const ways = one.ways > 1 ? " They part at the branch: the warp goes both ways, one after the other." : "";
    return `In warp ${chosen}, ${many(one.active, "thread")} read${one.active === 1 ? "s" : ""} ${one.used} bytes out of ${many(one.sectors.length, "sector")} of ${data.sector} bytes, in ${many(one.lines, "line")}: ${Math.round((100 * one.used) / moved)} % of ${moved} bytes are used.${ways}`;
  }

  const KINDS = ["idle", "first", "second", "alarm"];
  const kindOf = (one) => (!one.active ? "idle" : !one.inside ? "alarm" : one.way ? "second" : "first");

  function draw(svg, width, narrow) {
    const edge = narrow ? 22 : 58, across = Math.ceil(launch.block / WARP);
    const gap = 6, lane = Math.min(7, (width - edge - gap * across) / (WARP * across)), row = 20;
    svg.append(s("text", { x: 0, y: 12, class: "x-soft" }, narrow ? "blocks, warps, threads" : "the threads, by block and warp: full where one has an element"));
    const shapes = Object.fromEntries(KINDS.map((kind) => [kind, ""]));
    for (const [number, { block: of, threads }] of warps.entries()) {
      const x = edge + (number % across) * (WARP * lane + gap), y = 20 + of * row;
      for (const [place, one] of threads.entries()) shapes[kindOf(one)] += `M${x + place * lane} ${y}h${lane * 0.84}v13h${-lane * 0.84}z`;
      if (number === chosen) svg.append(s("rect", { class: "x-chosen", x: x - 2.5, y: y - 2.5, width: threads.length * lane + 4, height: 18, rx: 2 }));
      if (number % across === 0) svg.append(s("text", { x: 0, y: y + 11, class: "x-soft x-small" }, narrow ? String(of) : `block ${of}`));
    }
    for (const kind of KINDS) svg.append(s("path", { class: `x-lane ${kind}`, d: shapes[kind] }));
    return drawWarp(svg, width, 20 + launch.blocks * row + 24);
  }

  // The threads of the chosen warp above, the memory from its first line to its last below, and what leads where.
  function drawWarp(svg, width, top) {
    const { threads } = warps[chosen], one = warpFacts(warps[chosen], launch);
    svg.append(s("text", { x: 0, y: top, class: "x-soft" }, `warp ${chosen}, and the memory that it reads`));
    const lane = (width - 2) / WARP, y = top + 10, below = y + 78;
    const perLine = data.line / data.sector, shapes = Object.fromEntries(KINDS.map((kind) => [kind, ""]));
    const first = Math.floor((one.sectors[0] ?? 0) / perLine) * perLine;
    const last = Math.max(Math.ceil(((one.sectors.at(-1) ?? 0) + 1) / perLine) * perLine, first + 2 * perLine);
    const sector = (width - 2) / (last - first);
    let ways = "", alarms = "", fetched = "", other = "", lines = "";
    for (const [place, thread] of threads.entries()) {
      const x = 1 + place * lane;
      shapes[kindOf(thread)] += `M${x} ${y}h${lane * 0.84}v14h${-lane * 0.84}z`;
      if (!thread.active) continue;
      const way = `M${x + lane * 0.42} ${y + 15}L${1 + (thread.address / data.sector - first + launch.size / data.sector / 2) * sector} ${below - 1}`;
      if (thread.inside) ways += way;
      else alarms += way;
    }
    for (let number = first; number < last; number += 1) {
      const shape = `M${1 + (number - first) * sector} ${below}h${sector * 0.9}v16h${-sector * 0.9}z`;
      if (one.sectors.includes(number)) fetched += shape;
      else other += shape;
      if (number % perLine === 0) lines += `M${1 + (number - first) * sector} ${below + 20}h${sector * (perLine - 0.1)}`;
    }
    for (const kind of KINDS) svg.append(s("path", { class: `x-lane ${kind}`, d: shapes[kind] }));
    svg.append(
      s("path", { class: "x-way", d: ways }), s("path", { class: "x-way alarm", d: alarms }),
      s("path", { class: "x-lane fetched", d: fetched }), s("path", { class: "x-lane idle", d: other }), s("path", { class: "x-line", d: lines }),
      s("text", { x: 0, y: below + 36, class: "x-soft x-small" }, `full: a sector of ${data.sector} bytes that is fetched; underlined: a line of ${data.line} bytes`),
    );
    return below + 42;
  }

  show();
  return {
    shown: () => ({ ...launch, ...launchFacts(launch, warps) }),
    // For tests: what many launches do, as a whole and in one of their warps.
    facts: (list) => list.map(([one, number]) => {
      const all = warpsOf(one);
      return [launchFacts(one, all), warpFacts(all[number % all.length], one)];
    }),
  };
});
