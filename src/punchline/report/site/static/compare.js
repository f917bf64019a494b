// Two models side by side: how often which is right, and the items where they part.
"use strict";
(async () => {
  const run = punchline.about;
  const form = document.getElementById("pair");
  const wanted = location.hash.slice(1).split("/").map(decodeURIComponent);
  const benchmarks = Object.keys(run.models);
  options(form.elements.benchmark, benchmarks.map((name) => [name, name]), Object.hasOwn(run.models, wanted[0]) ? wanted[0] : benchmarks[0]);
  function offer(a, b) {
    const models = run.models[form.elements.benchmark.value];
    const known = (name, other) => (models.includes(name) ? name : models[Math.min(other, models.length - 1)]);
    options(form.elements.a, models.map((name) => [name, name]), known(a, 0));
    options(form.elements.b, models.map((name) => [name, name]), known(b, 1));
  }
  offer(wanted[1], wanted[2]);

  const number = (code) => (code >= "0" && code <= "9" ? Number(code) : null);
  async function show() {
    const [benchmark, a, b, rule] = ["benchmark", "a", "b", "rule"].map((name) => form.elements[name].value);
    history.replaceState(null, "", `#${part(benchmark, a, b)}`);
    const [index, ours, theirs] = await Promise.all([itemsOf(benchmark, "index"), answersOf(benchmark, a, "index"), answersOf(benchmark, b, "index")]);
    const rows = [];
    const apart = [];
    for (const task of Object.keys(ours.codes[rule] || {})) {
      const [left, right] = [ours.codes[rule][task], (theirs.codes[rule] || {})[task] || ""];
      const count = { both: 0, a: 0, b: 0, neither: 0 };
      [...left].forEach((code, place) => {
        const [x, y] = [number(code), number(right[place])];
        if (x === null || y === null) return;
        count[x > 4 ? (y > 4 ? "both" : "a") : y > 4 ? "b" : "neither"] += 1;
        if (Math.abs(x - y) > 4) apart.push([Math.abs(x - y), task, place, code, right[place]]);
      });
      if (Object.values(count).some(Boolean)) rows.push([task.replace("@default", ""), count.both, count.a, count.b, count.neither]);
    }
    const head = (texts) => node("thead", {}, node("tr", {}, ...texts.map((text) => node("th", { scope: "col" }, visible(text)))));
    document.getElementById("counts").replaceChildren(
      node("table", {}, head(["Task", "Both right", `Only ${a}`, `Only ${b}`, "Neither"]),
        node("tbody", {}, ...rows.map((row) => node("tr", {}, ...row.map((text) => node("td", {}, visible(text))))))));
    apart.sort((x, y) => y[0] - x[0] || x[2] - y[2]);
    document.getElementById("number").textContent = `${apart.length} answers`;
    document.getElementById("apart").replaceChildren(...apart.slice(0, 500).map(([, task, place, x, y]) =>
      node("li", {}, node("a", { href: itemPage(benchmark, index.ids[place]) }, visible(index.ids[place])), ` ${visible(task.replace("@default", ""))}: `,
        node("span", { class: `chip ${glance(x)[0]}` }, `${visible(a)} ${glance(x)[1]}`), " ", node("span", { class: `chip ${glance(y)[0]}` }, `${visible(b)} ${glance(y)[1]}`))));
    const tests = ((punchline.compared || {})[benchmark] || []).filter((one) => one.models.includes(a) && one.models.includes(b) && a !== b);
    document.getElementById("paired").replaceChildren(...(tests.length ? tests.map((one) => {
      const turn = one.models[0] === a ? 1 : -1;
      return node("table", {}, node("caption", {}, visible(one.title)), head(["Row", "Column", "n", "Difference", "95 % interval", "p (Holm)"]),
        node("tbody", {}, ...one.differences.map((line) => node("tr", {}, ...[line.row || "all", line.column, line.n,
          line.difference === null ? "" : (turn * line.difference).toFixed(3),
          line.low === null ? "" : `${(turn > 0 ? line.low : -line.high).toFixed(3)} to ${(turn > 0 ? line.high : -line.low).toFixed(3)}`,
          line.p === null ? "" : line.p.toPrecision(2)].map((text) => node("td", {}, visible(text)))))));
    }) : [node("p", { class: "quiet" }, `Not in this report; punchline compare ${visible(a)} ${visible(b)} makes it.`)]));
    document.body.dataset.ready = "yes";
  }
  form.addEventListener("input", (event) => {
    if (event.target === form.elements.benchmark) offer(form.elements.a.value, form.elements.b.value);
    show().catch(fail);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  await show();
})().catch(fail);
