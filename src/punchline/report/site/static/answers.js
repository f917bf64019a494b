// One list over items, models and questions of a benchmark. States come from the indexes; texts are read when a search,
// a download or a row needs them.
"use strict";
const PORTION = 40; // rows shown at once
const FACETS = [["s", "State", (row) => [row.letter]], ["m", "Model", (row) => [row.model]], ["q", "Question", (row) => [row.question.key]], ["t", "Tag", (row) => row.tags]];
const SEVERITY = "fturm-npy.";
let shown = PORTION;
let view = "";
let current = { data: null, list: [] };

// All answers of a benchmark under a rule: places, models, questions, states.
const cache = new Map();
async function answersOfBenchmark(benchmark, rule) {
  const key = `${benchmark} ${rule}`;
  if (cache.has(key)) return cache.get(key);
  const data = await load(benchmark);
  const tags = data.index.ids.map((_, place) => Object.values(data.index.facets).flatMap((values) => values[place]));
  const rows = [];
  let skipped = 0;
  const attempted = (model, question) => data.index.ids.some((_, place) => !"ma.".includes(data.state(model, rule, question, place)));
  const attempts = new Map(data.models.map((model) => [model, new Set([...data.questions.keys()].filter((question) => attempted(model, question)))]));
  for (const [place, id] of data.index.ids.entries())
    for (const question of data.questions.values())
      for (const model of data.models) {
        const letter = data.state(model, rule, question.key, place);
        if (letter === ".") continue;
        if (!attempts.get(model).has(question.key)) skipped += 1;
        else rows.push({ place, id, model, question, letter, tags: tags[place] });
      }
  cache.set(key, { data, rows, skipped });
  return cache.get(key);
}

// The text of an answer, and its score; both null for a question that was not asked.
async function entryOf(data, row, rule) {
  const own = await answersAt(data, row.model, row.place);
  const [answer, score] = pairsOf(own, row.question.key, rule)[0] || [null, null];
  return { answer, score };
}

// Rows whose item or answer contains a text. Items are searched in the index; answers chunk by chunk.
async function search(data, rows, rule, text) {
  if (!text) return rows;
  const wanted = text.toLowerCase();
  const inItem = new Set(data.index.ids.keys().filter((place) => data.index.texts[place].toLowerCase().includes(wanted)));
  const found = [];
  for (const row of rows) {
    if (inItem.has(row.place)) found.push(row);
    else {
      const { answer } = await entryOf(data, row, rule);
      if (answer && (answer.text || "").toLowerCase().includes(wanted)) found.push(row);
    }
  }
  return found;
}

const label = (facet, value, data) => (facet === "s" ? word(value) : facet === "q" ? data.questions.get(value)?.name || value : value);

function drawFacets(data, rows, chosen) {
  const has = (row, [key, , of]) => !chosen[key].length || of(row).some((value) => chosen[key].includes(value));
  const counts = FACETS.map((facet) => {
    const counted = new Map();
    for (const row of rows) if (FACETS.every((other) => other === facet || has(row, other))) for (const value of facet[2](row)) counted.set(value, (counted.get(value) || 0) + 1);
    return counted;
  });
  const all = { s: [..."ypnutrfm-"], m: data.models, q: [...data.questions.keys()], t: [...new Set(rows.flatMap((row) => row.tags))].sort((a, b) => a.localeCompare(b, "en", { numeric: true })) };
  $("#facets").replaceChildren(...FACETS.map(([key, name], at) => {
    const boxes = all[key].map((value) => node("label", { class: counts[at].get(value) || chosen[key].includes(value) ? "" : "zero" },
      node("input", { type: "checkbox", "data-f": key, value, checked: chosen[key].includes(value) }), key === "s" ? stateOf(value) : visible(label(key, value, data)), node("span", { class: "num" }, number(counts[at].get(value) || 0))));
    const few = boxes.slice(0, 12);
    const rest = boxes.slice(12);
    return boxes.length ? node("fieldset", {}, node("legend", {}, name), few, rest.length ? node("details", { open: rest.some((box) => $("input", box).checked) }, node("summary", { class: "small" }, `${rest.length} more`), rest) : null) : null;
  }).filter(Boolean));
  return rows.filter((row) => FACETS.every((facet) => has(row, facet)));
}

async function drawRow(data, row, rule, text) {
  const [item, { answer, score }] = await Promise.all([itemAt(data, row.place), entryOf(data, row, rule)]);
  const title = data.index.titles[row.place] || row.id;
  const href = itemPage(data.benchmark, row.id, { question: row.question.key, model: row.model, back: "answers" });
  const gold = plain(item.gold[row.question.gold]);
  const thumb = item.images.length && held(item.rights[0]) && !isBlurred(data.index, row.id) ? node("a", { href, tabindex: "-1", "aria-hidden": "true" }, node("img", { class: "art", src: punchline.base + item.images[0].file, alt: "", loading: "lazy" })) : null;
  return node("li", { class: thumb ? "row" : "row text" }, mark(row.letter), thumb,
    node("div", {}, node("p", { class: "meta" }, node("a", { href }, marked(title, 0, 0, text)), ` · ${visible(row.question.name)}`, gold ? [" · ", node("b", {}, "gold "), ...marked(gold.replace(/\n/g, " / ").slice(0, 400), 0, 0, text)] : null),
      answer ? said(answer.text, { search: text, fold: 45, kind: "t" }) : node("p", { class: "t none" }, "No answer."),
      answer ? node("p", { class: "meta" }, visible(why(data, row.question, item, answer, score))) : null),
    node("div", {}, node("b", {}, visible(row.model)), node("br"), node("span", {}, word(row.letter)), answer && answer.tokens[1] ? node("span", { class: "soft" }, ` · ${number(answer.tokens[1])} tokens`) : null));
}

async function save() {
  const { data, list, rule } = current;
  const rows = [["benchmark", "item", "question", "model", "state", "gold", "parsed", "answer", "why"]];
  for (const row of list) {
    const [item, { answer, score }] = await Promise.all([itemAt(data, row.place), entryOf(data, row, rule)]);
    rows.push([data.benchmark, row.id, row.question.key, row.model, word(row.letter), plain(item.gold[row.question.gold]), score && score.parsed ? score.parsed.join("; ") : "", answer ? answer.text : "", answer ? why(data, row.question, item, answer, score) : ""]);
  }
  download(`answers-${data.benchmark}.csv`, rows);
}

async function show() {
  const hash = location.hash;
  const benchmark = chosenBenchmark();
  const rule = address.get("rule", punchline.about.rules[benchmark]);
  const text = address.get("text");
  const sort = address.get("sort");
  const { data, rows, skipped } = await answersOfBenchmark(benchmark, rule);
  options($("#b"), benchmarks().map((name) => [name, punchline.about.titles[name]]), benchmark);
  $("#rule").value = rule;
  $("#sort").value = sort;
  if (document.activeElement !== $("#text")) $("#text").value = text;
  const chosen = Object.fromEntries(FACETS.map(([key]) => [key, address.list(key)]));
  // A comma may be part of a tag or a name: values are also taken whole.
  const found = await search(data, rows, rule, text);
  if (hash !== location.hash) return;
  let list = drawFacets(data, found, chosen);
  if (sort === "state") list = list.toSorted((a, b) => SEVERITY.indexOf(a.letter) - SEVERITY.indexOf(b.letter));
  if (sort === "long") {
    const sizes = new Map(await Promise.all(list.map(async (row) => [row, ((await entryOf(data, row, rule)).answer?.text || "").length])));
    list = list.toSorted((a, b) => sizes.get(b) - sizes.get(a));
  }
  current = { data, list, rule };
  const active = FACETS.flatMap(([key, name]) => chosen[key].map((value) => [key, value, `${name.toLowerCase()}: ${label(key, value, data)}`]));
  if (text) active.unshift(["text", text, `text: ${text}`]);
  $("#active").replaceChildren(...active.map(([key, value, shownAs]) => node("button", { type: "button", class: "chip", "data-off": key, "data-v": value, "aria-label": `Remove filter ${visible(shownAs)}` }, `${visible(shownAs)} ×`)), ...(active.length ? [node("button", { type: "button", class: "quietbtn", "data-off": "all" }, "Clear all")] : []));
  $("#count").replaceChildren(node("b", {}, number(list.length)), ` of ${number(rows.length)} `, node("span", { class: "wide" }, "answers", skipped ? `; ${number(skipped)} of models that attempt no item of a question are not listed` : ""));
  if (view !== hash) [view, shown] = [hash, PORTION];
  sessionStorage.setItem(`list answers.html${hash}`, JSON.stringify([...new Set(list.map((row) => row.id))]));
  const drawn = await Promise.all(list.slice(0, shown).map((row) => drawRow(data, row, rule, text)));
  if (hash !== location.hash) return;
  $("#list").replaceChildren(...drawn);
  const parsed = found.length && chosen.s.length && chosen.s.every((letter) => "ut".includes(letter)) && !found.some((row) => "ut".includes(row.letter));
  $("#none").replaceChildren(...(list.length ? [] : parsed ? [`Every one of these ${number(found.length)} answers was parsed.`] : ["No answer matches. ", node("button", { type: "button", "data-off": "all" }, "Clear all filters")]));
  $("#more").hidden = list.length <= shown;
  $("#more").textContent = `Show ${PORTION} more (${number(Math.max(0, list.length - shown))} left)`;
}

const refresh = start(show);
const change = (values) => (address.set(values), refresh());
let typing = 0;
document.addEventListener("input", ({ target }) => {
  if (target.id !== "text") return;
  clearTimeout(typing);
  typing = setTimeout(() => change({ text: target.value }), 150);
});
document.addEventListener("change", async ({ target }) => {
  const { f } = target.dataset;
  if (f) {
    await change({ [f]: $$(`[data-f=${f}]:checked`).map((box) => box.value).join(",") });
    $$(`[data-f=${f}]`).find((box) => box.value === target.value)?.focus();
  } else if (target.id === "b") change({ b: target.value, q: "", m: "", t: "" });
  else if (["sort", "rule"].includes(target.id)) change({ [target.id]: target.value });
});
document.addEventListener("click", ({ target }) => {
  const off = target.closest("[data-off]");
  if (off) {
    const key = off.dataset.off;
    if (key === "all" || key === "text") $("#text").value = "";
    change(key === "all" ? { text: "", s: "", m: "", q: "", t: "" } : { [key]: address.list(key).filter((value) => value !== off.dataset.v).join(",") });
  } else if (target.id === "more") (shown += PORTION), refresh();
  else if (target.id === "csv") save();
});
keys({ "/": () => $("#text").focus() });
