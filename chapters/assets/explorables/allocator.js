// How does a reader play what the library's caching allocator has done?
//
// The facts are recordings: for each scenario and setting the steps of a program, with the segments and blocks after each.
// Segments are drawn to scale; one that went back to the driver leaves its outline.
"use strict";

GlassExplorable.define("allocator", (stage, data, kit) => {
  const { h, s, set, choice, player, drawing, speaker, framed } = kit;
  const KINDS = [["on", "in use"], ["warm", "waits for a stream"], ["off", "free"]]; // by the state's number
  const HEAD = 20, TALL = 42, SPACE = 12, LEGEND = 22, CHART = 74;
  const AROUND = 2; // lines of the program before and after the one that runs
  const MIB = 2 ** 20;

  let scenario, steps, replay, most, numbers;

  const size = (bytes) => (bytes >= MIB || bytes === 0 ? `${bytes / MIB} MiB` : `${bytes / 1024} KiB`);
  const sentence = (text) => `${text.replace(/^(the|all|what) /, (word) => word[0].toUpperCase() + word.slice(1))}.`;
  const scenarios = choice("Program", data.scenarios.map(({ key, title }) => [key, title]), "growing", start);
  const setting = h("div"), about = h("p", { class: "x-about" }), place = h("div"), streams = h("div", { class: "x-streams" });
  const code = h("div", { class: "x-listing", role: "group", "aria-label": "The program" });
  const facts = h("dl", { class: "x-numbers" });
  stage.classList.add("x-replay");
  stage.append(scenarios.node, setting, about, place);
  const say = speaker(stage);
  let settings;
  const map = drawing(stage, "Segments and blocks", draw);
  stage.append(streams, h("div", { class: "x-pairs" }, code, facts));
  const redraw = framed(() => map.redraw());

  // --- the map ---

  const write = (x, y, text, attributes = {}) => s("text", { x, y, ...attributes }, text);
  const segmentsOf = (step) => step.segments.map((number) => data.segments[number]);

  function draw(svg, width) {
    const step = steps[replay?.step ?? 0], shown = new Map(segmentsOf(step).map((segment) => [segment.number, segment]));
    const known = new Map();
    for (const past of steps) for (const segment of segmentsOf(past)) known.set(segment.number, segment);
    const largest = Math.max(...[...known.values()].map((segment) => segment.size));
    const scale = (width - 2) / largest;
    let x = 1, y = 0;
    for (const [kind, words] of KINDS) {
      svg.append(s("rect", { class: `x-block ${kind}`, x, y: 2, width: 13, height: 13, rx: 2 }), write(x + 18, 13, words, { class: "x-soft x-small" }));
      x += 32 + words.length * 5.4;
    }
    svg.append(s("rect", { class: "x-rest", x, y: 2, width: 13, height: 13 }), write(x + 18, 13, width < kit.NARROW ? "spare" : "spare: more than was asked for", { class: "x-soft x-small" }));
    y = LEGEND + 4;
    for (const segment of [...known.values()].sort((one, other) => one.number - other.number)) {
      if (!steps.slice(0, replay.step + 1).some((past) => segmentsOf(past).some(({ number }) => number === segment.number))) continue;
      const now = shown.get(segment.number);
      const head = `${size(segment.size)}, ${segment.pool} pool, ${segment.stream} stream${now ? "" : ": given back"}`;
      svg.append(write(1, y + 14, head, { class: now ? "x-bold" : "x-soft" }));
      if (now) drawBlocks(svg, now, y + HEAD, scale, width, step);
      else svg.append(s("rect", { class: "x-block gone", x: 1, y: y + HEAD, width: segment.size * scale, height: TALL, rx: 3 }));
      y += HEAD + TALL + SPACE;
    }
    const room = rowsAtMost() * (HEAD + TALL + SPACE) + LEGEND + 4; // the drawing below does not jump while steps are played
    drawChart(svg, width, Math.max(y, room));
    map.label(described(step));
    return Math.max(y, room) + CHART + 18;
  }

  const rowsAtMost = () => new Set(steps.flatMap((step) => segmentsOf(step).map(({ number }) => number))).size;

  function drawBlocks(svg, segment, y, scale, width, step) {
    let at = 0;
    const small = [];
    for (const [bytes, asked, state, name] of segment.blocks) {
      const x = 1 + at * scale, room = bytes * scale, here = step.block?.[0] === segment.number && step.block[1] === at;
      svg.append(s("rect", { class: `x-block ${KINDS[state][0]}${here ? " now" : ""}`, x: x + 0.5, y, width: Math.max(1, room - 1), height: TALL, rx: Math.min(3, room / 4) }));
      if (asked && asked < bytes) svg.append(s("rect", { class: "x-rest", x: x + asked * scale, y: y + 1, width: (bytes - asked) * scale - 1, height: TALL - 2 }));
      const word = name || "free", long = size(bytes);
      if (Math.max(word.length, long.length) * 6.3 + 4 <= room) {
        svg.append(write(x + room / 2, y + 18, word, { "text-anchor": "middle", class: `x-small ${name ? "x-mono x-bold" : "x-soft"}` }));
        svg.append(write(x + room / 2, y + 33, long, { "text-anchor": "middle", class: "x-soft x-tiny" }));
      } else if (word.length * 6.3 + 2 <= room) {
        svg.append(write(x + room / 2, y + 26, word, { "text-anchor": "middle", class: `x-small ${name ? "x-mono x-bold" : "x-soft"}` }));
      } else if (name) small.push(`${name} ${long}`);
      at += bytes;
    }
    const end = 1 + segment.size * scale + 8;
    if (small.length && end + small.join(", ").length * 6.3 < width) svg.append(write(end, y + 26, small.join(", "), { class: "x-small x-mono" }));
  }

  // What was reserved and allocated after each step.
  function drawChart(svg, width, y) {
    const top = y + 16, high = CHART - 18, left = 1, wide = width - 2;
    const x = (at) => left + (wide * at) / Math.max(1, steps.length - 1), up = (bytes) => top + high - (high * bytes) / most;
    const line = (key) => steps.map((step, at) => `${at ? "H" : "M"}${x(at).toFixed(1)} ${at ? "V" : ""}${up(step[key]).toFixed(1)}`).join("");
    svg.append(
      s("path", { class: "x-area", d: `${line("allocated")}V${top + high}H${left}Z` }),
      s("path", { class: "x-reserved", d: line("reserved") }),
      s("path", { class: "x-axis", d: `M${left} ${top + high}H${width - 1}` }),
      s("path", { class: "x-cursor", d: `M${x(replay.step).toFixed(1)} ${top - 4}V${top + high}` }),
      write(left, y + 9, width < kit.NARROW ? "reserved (line), allocated (area)" : "reserved (line) and allocated (area) after each step", { class: "x-soft x-small" }),
      write(width - 1, y + 9, size(most), { class: "x-small", "text-anchor": "end" }),
    );
  }

  function described(step) {
    const lines = segmentsOf(step).map((segment) => {
      const blocks = segment.blocks.map(([bytes, , state, name]) => `${name ? `${name} ` : ""}${size(bytes)} ${KINDS[state][1]}`);
      return `Segment of ${size(segment.size)}, ${segment.pool} pool, ${segment.stream} stream: ${blocks.join(", ")}`;
    });
    return `${lines.join(". ") || "No segment"}.`;
  }

  // --- a step ---

  function show(number) {
    const step = steps[number];
    redraw();
    const lines = steps.map((each) => each.code).map((line, at, all) => [line, at]).filter(([line, at]) => at === 0 || steps[at].code !== steps[at - 1].code || steps[at - 1].kind !== "inner");
    const now = lines.findLastIndex(([, at]) => at <= number);
    const from = Math.max(0, Math.min(now - AROUND, lines.length - 2 * AROUND - 1));
    code.replaceChildren(...lines.slice(from, from + 2 * AROUND + 1).map(([line], at) => h("code", { class: from + at === now ? "here" : "", "aria-current": from + at === now ? "step" : null }, line)));
    streams.hidden = scenario.key !== "across";
    streams.replaceChildren(...["default", "side"].map((stream) => h("p", {},
      h("span", { class: "x-name" }, `stream ${stream} has still to: `),
      ...(step.queued?.[stream] ?? ["nothing"]).map((work) => h("span", { class: step.queued?.[stream] ? "x-chip" : "x-name" }, work)))));
    const active = step.active ?? step.allocated; // it is left out where nothing waits for a stream
    const free = step.reserved - active;
    const told = [
      ["allocated", size(step.allocated)],
      ["waits for a stream", size(active - step.allocated)],
      ["free, and kept", size(free)],
      ["largest free piece", size(step.largest)],
      ["reserved", size(step.reserved)],
      ["the driver was asked", `${step.asked} time${step.asked === 1 ? "" : "s"}`],
    ];
    if (!numbers) facts.replaceChildren(...(numbers = told.map(([term]) => h("div", {}, h("dt", {}, term), h("dd")))));
    for (const [at, [, value]] of told.entries()) set(numbers[at].lastChild, { text: value });
    stage.classList.toggle("x-failing", step.kind === "fail");
    say(sentence(step.told));
  }

  function start() {
    scenario = data.scenarios.find(({ key }) => key === scenarios.value);
    settings = choice(scenario.asks, scenario.settings, scenario.settings[0][0], begin);
    setting.replaceChildren(settings.node);
    begin();
  }

  function begin() {
    steps = scenario.runs[settings.value];
    most = Math.max(...steps.map(({ reserved }) => reserved));
    set(about, { text: scenario.about });
    replay?.stop();
    replay = player({ length: steps.length, show, pause: 1100 });
    place.replaceChildren(replay.node);
    replay.go(0);
  }

  start();
  return {
    get step() { return steps[replay.step]; },
    get length() { return steps.length; },
    go: (step) => replay.go(step),
  };
});
