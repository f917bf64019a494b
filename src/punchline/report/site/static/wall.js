// All items of a benchmark: as pictures and captions with marks, or as a grid of marks. Filters stay in the address.
"use strict";
const PORTION = 60; // items drawn at once
const FEW = 12; // up to so many models have letters, more have the number of their rank
let shown = PORTION;
let current = null; // what is shown

const codes = (models) => models.map((_, at) => (models.length > FEW ? String(at + 1) : "abcdefghijkl"[at]));

// The picture of an item, else its caption, else the start of its texts.
function face(data, place) {
  const { ids, titles, thumbs, texts } = data.index;
  const [thumb, title, harmful] = [thumbs[place], titles[place], isBlurred(data.index, ids[place])];
  if (thumb && held(thumb[1])) return [node("img", { class: harmful ? "art blurred" : "art", src: punchline.base + thumb[0], alt: "", loading: "lazy", decoding: "async" }), node("b", { class: harmful ? "t veiled" : "t" }, visible(title || ids[place]))];
  const text = title ? `“${title}”` : texts[place].split("\n").filter((line) => line.includes(" ")).join(" ").slice(0, 240);
  return [text ? node("p", { class: harmful ? "cap veiled" : "cap" }, visible(text)) : null, title ? null : node("b", { class: "t" }, visible(ids[place]))];
}

// The flag of an item in words.
function flag(data, question, place) {
  const found = flagAt(data, $("#rule").value, question, place);
  return found ? node("span", { class: "small flag" }, `Flagged: ${FLAGS[found]}`) : null;
}

const counted = (states) => Object.keys(STATES).map((letter) => [letter, states.filter((one) => one === letter).length]).filter(([, count]) => count);

function card(data, question, place, states, names) {
  const said = names.length > FEW ? counted(states).map(([letter, count]) => `${count} ${word(letter)}`) : states.map((letter, at) => `${visible(data.models[at])} ${word(letter)}`);
  return node("li", { id: `item/${data.index.ids[place]}` }, node("a", { href: itemPage(data.benchmark, data.index.ids[place], { question, back: "wall" }) }, face(data, place),
    flag(data, question, place),
    node("span", { class: "tiny", role: "img", "aria-label": said.join(", ") }, states.map((letter, at) => node("span", { "aria-hidden": "true", title: `${visible(data.models[at])}: ${word(letter)}` }, mark(letter), names[at])))));
}

function line(data, question, place, states) {
  const id = data.index.ids[place];
  const scored = states.filter((letter) => !"fm-.".includes(letter)).length;
  return node("tr", { id: `item/${id}` }, node("th", { scope: "row" }, node("a", { href: itemPage(data.benchmark, id, { question, back: "wall" }) }, face(data, place)), flag(data, question, place)),
    states.map((letter, at) => node("td", {}, node("a", { href: itemPage(data.benchmark, id, { question, model: data.models[at], back: "wall" }), title: `${visible(data.models[at])}: ${word(letter)}` }, mark(letter)))),
    node("td", { class: "num" }, scored ? `${states.filter((letter) => letter === "y").length}/${scored}` : "–"));
}

function grid(data, body, names) {
  const heads = data.models.map((model, at) => node("th", { scope: "col" }, node("span", { class: "name" }, visible(model)), node("abbr", { title: visible(model) }, names[at])));
  return node("div", { class: "gridwrap", tabindex: "0", role: "region", "aria-label": "Grid of marks" },
    node("table", { class: names.length > FEW ? "grid many" : "grid" }, node("thead", {}, node("tr", {}, node("th", { scope: "col" }, "Comic"), heads, node("th", { scope: "col" }, "Right"))), body));
}

function drawFilters(data, question, rule) {
  const { index, models, questions } = data;
  options($("#b"), benchmarks().map((name) => [name, punchline.about.titles[name]]), data.benchmark);
  options($("#q"), [...questions.values()].map(({ key, name }) => [key, name]), question);
  options($("#m"), [["", "any model"], ...models.map((model) => [model, model])], address.get("m"));
  options($("#s"), [["", "any state"], ...Object.keys(STATES).map((letter) => [letter, `${STATES[letter][1]} ${word(letter)}`]), ...Object.entries(DIFFER)], address.get("s"));
  $("#rule").value = rule;
  $("#sort").value = address.get("sort");
  $("#sort [value=flag]").disabled = !punchline.about.flags[data.benchmark];
  if (document.activeElement !== $("#text")) $("#text").value = address.get("text");
  const facets = Object.entries(index.facets);
  $("#properties").hidden = !facets.length;
  if (facets.some(([name]) => address.get(`f.${name}`))) $("#properties").open = true;
  $("#facets").replaceChildren(...facets.map(([name, values]) => {
    const select = node("select", { id: `f.${name}` });
    const all = [...new Set(values.flat())].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    options(select, [["", "any"], ...all.map((value) => [value, value || "(empty)"])], address.get(`f.${name}`));
    return node("label", { class: "field" }, visible((index.names[name] || name).replace(/_/g, " ")), select);
  }));
  for (const chip of $$("[data-view]")) chip.setAttribute("aria-pressed", String(chip.dataset.view === address.get("view")));
}

// Draw rows of the list as far as `shown`; those that are there stay.
function drawRows({ list, makeRow, box }) {
  box.append(...list.slice(box.childElementCount, shown).map(makeRow));
  $("#more").hidden = list.length <= shown;
  $("#more").textContent = `Show ${PORTION} more (${number(Math.max(0, list.length - shown))} left)`;
}

// The item one comes back from is drawn, and scrolled to.
function comeBack(ids) {
  const id = recall(`at wall.html${location.hash}`);
  const at = current.list.findIndex((place) => ids[place] === id);
  if (at < 0) return;
  remember(`at wall.html${location.hash}`, null);
  shown = Math.max(shown, Math.ceil((at + 1) / PORTION) * PORTION);
  drawRows(current);
  const row = document.getElementById(`item/${id}`);
  row.scrollIntoView({ block: "center" });
  $("a", row).focus({ preventScroll: true });
}

async function show() {
  const hash = location.hash;
  const data = await load(chosenBenchmark());
  if (hash !== location.hash) return;
  const { index, models } = data;
  const question = data.question(address.get("q")).key;
  const rule = address.get("rule", punchline.about.rules[data.benchmark]);
  const list = placesOf(data, address.all);
  drawFilters(data, question, rule);
  $("#count").textContent = `${number(list.length)} of ${number(index.ids.length)}`;
  $("#clear").hidden = list.length === index.ids.length;
  const names = codes(models);
  const isGrid = address.get("view") === "grid";
  const states = (place) => models.map((model) => data.state(model, rule, question, place));
  const seen = new Set(index.ids.flatMap((_, place) => states(place)));
  $("#legend").replaceChildren(legend(Object.keys(STATES).filter((letter) => "yn".includes(letter) || seen.has(letter))));
  $("#codes").parentElement.classList.toggle("only-narrow", isGrid); // a grid has names in its heads
  $("#codes").replaceChildren(...models.map((model, at) => node("li", {}, node("b", {}, names[at]), ` ${visible(model)}`)));
  const box = node(isGrid ? "tbody" : "ul", isGrid ? {} : { class: "wall" });
  const makeRow = (place) => (isGrid ? line(data, question, place, states(place)) : card(data, question, place, states(place), names));
  [shown, current] = [PORTION, { list, makeRow, box }];
  drawRows(current);
  $("#out").replaceChildren(!list.length ? node("p", { class: "lead" }, "Nothing matches these filters.") : isGrid ? grid(data, box, names) : box);
  comeBack(index.ids);
}

const refresh = start(show);
const change = (values) => (address.set(values), refresh());
const clean = (...more) => Object.fromEntries([...address.all.keys()].filter((key) => key.startsWith("f.")).concat("m", "s", "text", more).map((key) => [key, ""]));
let typing = 0;
document.addEventListener("input", ({ target }) => {
  if (target.id !== "text") return;
  clearTimeout(typing);
  typing = setTimeout(() => change({ text: target.value }), 150);
});
document.addEventListener("change", async ({ target }) => {
  if (target.id === "b") change({ ...clean("q", "rule"), b: target.value });
  else if (target.matches("select")) {
    await change({ [target.id]: target.value });
    document.getElementById(target.id).focus();
  }
});
document.addEventListener("click", ({ target }) => {
  const chip = target.closest("[data-view]");
  if (chip) change({ view: chip.dataset.view });
  else if (target.id === "more") (shown += PORTION), drawRows(current);
  else if (target.id === "clear") ($("#text").value = ""), change(clean());
});
new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && $("#more").click(), { rootMargin: "600px" }).observe($("#more"));
keys({ "/": () => $("#text").focus() });
