// A wall of items: filters in the address, cards filled in as they come into view.
"use strict";
(async () => {
  const benchmark = document.body.dataset.benchmark;
  const models = punchline.about.models[benchmark];
  const form = document.getElementById("filters");
  const grid = document.getElementById("wall");
  const index = await itemsOf(benchmark, "index");
  const marks = {};
  await Promise.all(models.map(async (model) => (marks[model] = (await answersOf(benchmark, model, "index")).codes)));
  const tasks = [...new Set(Object.values(marks).flatMap((own) => Object.keys(own.paper)))];
  const answered = (task) => Object.values(marks).reduce((sum, own) => sum + (own.paper[task] || "").replace(/[^0-9]/g, "").length, 0);
  const fullest = tasks.reduce((best, task) => (answered(task) > answered(best) ? task : best), tasks[0]);
  const wanted = new URLSearchParams(location.hash.slice(1));

  const facets = Object.entries(index.facets);
  for (const [name, values] of facets) {
    const shown = [...new Set(values.flat())].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    const select = node("select", { name: `facet ${name}` });
    options(select, [["", "any"], ...shown.map((value) => [value, value])], wanted.get(`facet ${name}`) || "");
    document.getElementById("facets").append(node("label", {}, `${index.names[name] || name.replace(/_/g, " ")} `, select));
  }
  options(form.elements.task, tasks.map((task) => [task, task.replace("@default", "").replace("@", ", ")]), wanted.get("task") || fullest);
  options(form.elements.model, [["", "any model"], ...models.map((model) => [model, model])], wanted.get("model") || "");
  const pictured = (place) => Boolean(index.thumbs[place] && held(index.thumbs[place][1]));
  if (new Set(index.ids.map((_, place) => pictured(place))).size > 1) form.elements.sort.prepend(node("option", { value: "pictures", selected: true }, "with a picture first"));
  for (const name of ["rule", "verdict", "sort", "q"]) if (wanted.has(name)) form.elements[name].value = wanted.get(name);

  const value = (code) => (code >= "0" && code <= "9" ? Number(code) : null);
  const codes = (task, rule, place) => models.map((model) => ((marks[model][rule] || {})[task] || [])[place] || ".");
  const TESTS = {
    right: (own) => own.some((code) => code === "9"),
    wrong: (own) => own.some((code) => value(code) !== null && code !== "9"),
    missing: (own) => own.includes("m"),
    failed: (own) => own.includes("f"),
    refused: (own) => own.includes("r"),
    unread: (own) => own.includes("u"),
  };

  let shown = [];
  let filled = 0;
  function card(place) {
    const id = index.ids[place];
    const thumb = index.thumbs[place];
    const own = codes(form.elements.task.value, form.elements.rule.value, place);
    const dots = models.map((model, at) => {
      const [look, word] = glance(own[at]);
      return node("span", { class: `dot ${look}`, title: `${visible(model)}: ${word}` });
    });
    const blur = Object.entries(index.blurred).some(([name, bad]) => ((index.facets[name] || [])[place] || []).includes(bad));
    const picture = pictured(place)
      ? node("img", { src: punchline.base + thumb[0], alt: "", loading: "lazy", class: blur ? "blurred" : "" })
      : node("span", { class: "nothing" }, "no picture here");
    const count = own.filter((code) => code === "9").length;
    const scored = own.filter((code) => value(code) !== null).length;
    return node("li", {}, node("a", { href: itemPage(benchmark, id) }, picture, node("span", { class: "id" }, visible(id)),
      node("span", { class: "dots", role: "img", "aria-label": `right by ${count} of ${scored} models` }, ...dots)));
  }
  function fill() {
    const next = shown.slice(filled, filled + 60);
    filled += next.length;
    grid.append(...next.map(card));
  }
  function filter() {
    const chosen = new FormData(form);
    const [task, rule, model, verdict, sort] = ["task", "rule", "model", "verdict", "sort"].map((name) => chosen.get(name));
    const words = chosen.get("q").toLowerCase();
    const facetsChosen = facets.filter(([name]) => chosen.get(`facet ${name}`));
    const at = models.indexOf(model);
    shown = index.ids.map((id, place) => place).filter((place) => {
      if (words && !index.ids[place].toLowerCase().includes(words)) return false;
      if (!facetsChosen.every(([name, values]) => values[place].includes(chosen.get(`facet ${name}`)))) return false;
      if (!verdict) return true;
      const own = codes(task, rule, place);
      if (verdict === "models") return new Set(own.filter((code) => value(code) !== null)).size > 1;
      if (verdict === "rules") {
        const other = codes(task, rule === "paper" ? "released" : "paper", place);
        return own.some((code, n) => (at < 0 || n === at) && code !== other[n]);
      }
      return TESTS[verdict](at < 0 ? own : [own[at]]);
    });
    if (sort === "hardest") {
      const ease = (place) => {
        const own = codes(task, rule, place).map(value).filter((one) => one !== null);
        return own.length ? own.reduce((a, b) => a + b, 0) / own.length : 10;
      };
      const known = new Map(shown.map((place) => [place, ease(place)]));
      shown.sort((a, b) => known.get(a) - known.get(b) || a - b);
    }
    if (sort === "pictures") shown.sort((a, b) => pictured(b) - pictured(a) || a - b);
    const kept = new URLSearchParams([...chosen].filter(([, text]) => text));
    history.replaceState(null, "", `#${kept}`);
    try {
      sessionStorage.setItem(`wall ${benchmark}`, JSON.stringify(shown));
    } catch {
      // a browser that keeps nothing: next and previous then go through all items
    }
    grid.replaceChildren();
    filled = 0;
    document.getElementById("count").textContent = `${shown.length} of ${index.ids.length} items`;
    fill();
  }
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && fill(), { rootMargin: "600px" }).observe(
    document.getElementById("more")
  );
  filter();
  document.body.dataset.ready = "yes";
})().catch(fail);
