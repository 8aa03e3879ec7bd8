// Which graphs does a function go through, what differs from step to step, and why?
//
// The library has made every stage; each line says whether it is new or gone, and why. This program shows one stage at a
// time, and counts.
"use strict";

GlassExplorable.define("passes", (stage, data, { h, set, choice, player, speaker, tasks }) => {
  let program, replay;

  const programs = choice("Function", data.programs.map(({ key, title }) => [key, title]), data.programs[0].key, begin);
  const source = h("div", { class: "x-listing", role: "group", "aria-label": "The function" });
  const place = h("div");
  const title = h("p", { class: "x-name" });
  const reason = h("p", { class: "x-about" });
  const lines = h("ol", { class: "x-graph-lines", "aria-label": "The graph" });
  stage.append(h("div", { class: "x-row" }, programs.node), source, place);
  const say = speaker(stage);
  stage.append(title, reason, lines);
  const count = (of, mark) => of.filter((line) => line[2] === mark).length;
  const operators = (of) => of.filter(([text, , mark]) => mark !== "gone" && text.includes(" = ")).length;
  const growth = (stages, step) => (step ? operators(stages[step]) - operators(stages[step - 1]) : 0);
  const most = Math.max(...data.programs.flatMap(({ stages }) => stages.map((_, step) => growth(stages, step))));
  const ticked = tasks(stage, [
    ["a step after which nothing is written to any more.", ({ key, name }) => key === "in_place" && name === "joint"],
    ["the step that adds the most operators, in any of the functions.", ({ step }) => growth(program.stages, step) === most],
    ["an operator that is gone because another had computed its result.", ({ shown }) => shown.some((line) => line[3].startsWith("computes"))],
    ["an operator that is gone because nothing uses it.", ({ shown }) => shown.some((line) => line[3] === "nothing uses it")],
    ["an operator that runs in both parts.", ({ shown }) => shown.some((line) => line[3] === "computed again")],
  ]);

  function begin(key) {
    program = data.programs.find((one) => one.key === key);
    source.replaceChildren(...program.lines.map((line) => h("code", {}, line)));
    replay?.stop();
    replay = player({ length: data.stages.length, show, shown: (step) => data.stages[step][1], pause: 1800 });
    place.replaceChildren(replay.node);
    show(0);
  }

  function show(step) {
    const [name, heading, why] = data.stages[step], shown = program.stages[step];
    set(title, { text: heading });
    set(reason, { text: why });
    let part = "";
    lines.replaceChildren(...shown.flatMap(([text, of, mark, because]) => {
      const head = of && of !== part ? [h("li", { class: "x-part" }, of === "forward" ? "The forward part" : "The backward part")] : [];
      part = of;
      const sign = { new: "+", gone: "-" }[mark] ?? "";
      const spoken = { new: "new: ", gone: "gone: " }[mark];
      return [...head, h("li", { class: mark ? `x-${mark}` : false },
        h("span", { class: "x-sign", "aria-hidden": "true" }, sign), spoken ? h("span", { class: "x-spoken" }, spoken) : null,
        h("code", {}, text), because ? h("span", { class: "x-why" }, because) : null)];
    }));
    const found = ticked({ key: program.key, name, step, shown });
    const before = operators(program.stages[Math.max(0, step - 1)]), now = operators(shown);
    const change = !step ? `${now} operators.` : before === now ? `${now} operators, as many as before.` : `${now} operators, where there were ${before}.`;
    say([`${heading}: ${change}`, `${count(shown, "new")} new lines, ${count(shown, "gone")} gone.`, found].filter(Boolean).join(" "));
  }

  begin(data.programs[0].key);
  return {
    // For tests: which step is shown, the lines of a step, and a step to go to.
    shown: () => [program.key, data.stages[replay.step][0]],
    lines: () => [...lines.querySelectorAll("li:not(.x-part) > code")].map((node) => node.textContent),
    go: (key, step) => { programs.set(key); begin(key); replay.go(step); },
  };
});
