// What all pages share: states, the address, answers of a benchmark, answer cards, copying. Whatever came from a model,
// a file or an address goes into the page as text only.
"use strict";
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
// Letters of the score files' index: word and sign. Sign and word say it; color only repeats it.
const STATES = {
  y: ["right", "✓"], p: ["partly", "≈"], n: ["wrong", "✗"], u: ["unparsed", "?"], r: ["refused", "R"], f: ["failed", "F"],
  t: ["truncated", "T"], m: ["missing", "M"], a: ["untried", "A"], "-": ["unscored", "–"], ".": ["unasked", "·"],
};
const WORDS = { unscored: "not scored", unasked: "not asked", untried: "not attempted" };
const ODD = "urftma"; // states without a value of their own
const word = (letter) => WORDS[STATES[letter][0]] || STATES[letter][0];

function node(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === false || value === null || value === undefined) continue;
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

const SVG = "http://www.w3.org/2000/svg";
function svg(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Text that neither turns the line round nor hides: control characters are shown by their code.
function visible(text) {
  return String(text).replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  );
}

const mark = (letter) => node("span", { class: `mark ${STATES[letter][0]}`, role: "img", "aria-label": word(letter) }, STATES[letter][1]);
const stateOf = (letter) =>
  node("span", { class: "state" }, node("span", { class: `mark ${STATES[letter][0]}`, "aria-hidden": "true" }, STATES[letter][1]), word(letter));
const legend = (letters) => node("ul", { class: "legend" }, letters.map((letter) => node("li", {}, stateOf(letter))));
const number = (count) => count.toLocaleString("en");

// The address is the view: key=value after #, without defaults. Fragments work from a folder, too.
const address = {
  get all() { return new URLSearchParams(location.hash.slice(1)); },
  get: (key, other = "") => address.all.get(key) ?? other,
  list: (key) => (address.all.get(key) || "").split(",").filter(Boolean),
  // This address with other values.
  with(values) {
    const all = address.all;
    for (const [key, value] of Object.entries(values)) value === "" || value === null ? all.delete(key) : all.set(key, value);
    return `#${all.toString().replace(/%2C/g, ",").replace(/%2F/g, "/").replace(/%3A/g, ":").replace(/%40/g, "@")}`;
  },
  set: (values) => history.replaceState(null, "", address.with(values)),
};

// What pages of a session tell each other; nothing where the browser stores nothing.
function recall(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key));
  } catch {
    return null;
  }
}
function remember(key, value) {
  try {
    sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    // a browser that stores nothing
  }
}

// Data

const part = (...names) => names.map(encodeURIComponent).join("/");
const itemsOf = (benchmark, name, run) => punchline.get(`items/${benchmark}/${name}`, part("items", benchmark, `${name}.js`), run);
// [run, model] of MODEL or RUN:MODEL.
const runOf = (model) => (model.includes(":") ? model.split(":", 2) : ["", model]);
function answersOf(benchmark, model, name) {
  const [run, own] = runOf(model);
  return punchline.get(`answers/${benchmark}/${own}/${name}`, part("answers", benchmark, own, `${name}.js`), run);
}
const benchmarks = () => Object.keys(punchline.about.models);

// An error with other addresses of the page, as [name, values that change].
const unknown = (text, others) => Object.assign(new Error(text), { others });

// The benchmark in the address. A name that the run does not have is an error, which lists those it has.
function chosenBenchmark() {
  const name = address.get("b", benchmarks()[0]);
  if (!benchmarks().includes(name)) throw unknown(`${name} is not in this run, which has:`, benchmarks().map((one) => [punchline.about.titles[one], { b: one, q: "", i: "" }]));
  return name;
}

// Items, questions, and states and values of all answers of a benchmark; `models`: only of some.
async function load(benchmark, models = punchline.about.models[benchmark]) {
  const index = await itemsOf(benchmark, "index");
  const indexes = new Map(await Promise.all(models.map(async (model) => [model, await answersOf(benchmark, model, "index")])));
  const places = new Map(); // of items, in the list of another run
  for (const run of new Set(models.map((model) => runOf(model)[0]).filter(Boolean))) {
    const other = await itemsOf(benchmark, "index", run);
    const at = new Map(other.ids.map((id, place) => [id, place]));
    places.set(run, index.ids.map((id) => at.get(id)));
  }
  const placeIn = (model, place) => (model.includes(":") ? places.get(runOf(model)[0])[place] : place);
  const questions = new Map(index.questions.map(([key, name, gold]) => [key, { key, name, gold }]));
  for (const own of indexes.values()) // of questions that depend on the model's own answers
    for (const key of Object.keys(own.states.paper))
      if (!questions.has(key)) questions.set(key, { key, name: key.replace("@", ", ").replace(/_/g, " "), gold: key.split("@")[0].replace(/_\d$/, "") });
  return {
    benchmark, index, models, questions, placeIn,
    state: (model, rule, question, place) => indexes.get(model).states[rule]?.[question]?.[placeIn(model, place)] ?? ".",
    value: (model, rule, question, place) => indexes.get(model).values[rule]?.[question]?.[placeIn(model, place)] ?? null,
    model(name, other = (one) => ({ m: one })) {
      if (!models.includes(name)) throw unknown(`${name} has no answers to ${benchmark} in this run; these have:`, models.map((one) => [one, other(one)]));
      return name;
    },
    // What a page shows first: the question of the main table, if somebody answered it.
    question(name) {
      if (name && !questions.has(name)) throw unknown(`${benchmark} has no question ${name}; it has:`, [...questions.values()].map((one) => [one.name, { q: one.key, to: "" }]));
      return questions.get(name || punchline.about.main[benchmark]) || questions.values().next().value;
    },
  };
}

// Places of a benchmark's items that filters in an address leave, in its order. The wall shows them; next and previous of an item follow them.
const FLAGS = { 1: "none right", 2: "negative: better models fail more often", 3: "all right" }; // of items.csv
const flagAt = (data, rule, question, place) => Number((punchline.about.flags[data.benchmark]?.[rule]?.[question] || "")[place]) || 0;
const DIFFER = { models: "models differ", rules: "rules differ" };
function placesOf(data, values) {
  const get = (key) => values.get(key) || "";
  const question = data.question(get("q")).key;
  const rule = get("rule") || punchline.about.rules[data.benchmark];
  const asked = get("m") ? [data.model(get("m"))] : data.models;
  const facets = Object.entries(data.index.facets).filter(([name]) => get(`f.${name}`));
  const [state, text] = [get("s"), get("text").toLowerCase()];
  const fits = {
    models: (place) => new Set(data.models.map((model) => data.state(model, rule, question, place)).filter((letter) => !"fm-.".includes(letter))).size > 1,
    rules: (place) => asked.some((model) => data.state(model, "paper", question, place) !== data.state(model, "released", question, place)),
  }[state] || ((place) => asked.some((model) => data.state(model, rule, question, place) === state));
  const found = [...data.index.ids.keys()].filter((place) =>
    facets.every(([name, own]) => own[place].includes(get(`f.${name}`))) && (!text || data.index.texts[place].toLowerCase().includes(text)) && (!state || fits(place)));
  if (!get("sort")) return found;
  if (get("sort") === "flag") return found.sort((a, b) => (flagAt(data, rule, question, a) || 9) - (flagAt(data, rule, question, b) || 9) || a - b);
  const ease = new Map(found.map((place) => {
    const own = asked.map((model) => ("urt".includes(data.state(model, rule, question, place)) ? 0 : data.value(model, rule, question, place))).filter((value) => value !== null);
    return [place, own.length ? own.reduce((sum, one) => sum + one, 0) / own.length : null];
  }));
  const down = get("sort") === "easy" ? -1 : 1;
  return found.sort((a, b) => (ease.get(a) === null) - (ease.get(b) === null) || down * (ease.get(a) - ease.get(b)) || a - b); // without a score: last
}

// An item and all of a model's answers to it.
const chunkOf = (data, place) => String(Math.floor(place / data.index.chunk));
const itemAt = async (data, place) => (await itemsOf(data.benchmark, chunkOf(data, place)))[data.index.ids[place]];
async function answersAt(data, model, place) {
  const own = data.placeIn(model, place);
  return own === undefined ? undefined : ((await answersOf(data.benchmark, model, chunkOf(data, own))) || {})[data.index.ids[place]];
}

// [answer, its score under a rule] of a question; a joint answer has scores of several questions.
function pairsOf(own, question, rule) {
  if (!own) return [];
  const [task, condition] = question.split("@");
  const scores = (own.grades || []).filter((score) => score.task === task && score.condition === condition && score.rule === rule);
  const answers = own.answers || [];
  const of = (score) => answers.find((answer) => score.answers.includes(answer.digest.slice(0, 16)) && answer.task === task) || answers.find((answer) => score.answers.includes(answer.digest.slice(0, 16)));
  if (scores.length) return scores.map((score) => [of(score), score]).filter(([answer]) => answer);
  return answers.filter((answer) => answer.task === task && answer.condition === condition).map((answer) => [answer, null]);
}

// Pictures

const ORDER = ["own", "open", "all"];
const held = (mode) => punchline.local || ORDER.indexOf(mode) <= ORDER.indexOf(punchline.shows);
const isBlurred = (index, id) => index.blurred.includes(index.ids.indexOf(id));

// The picture of an item with drawings over it, or its caption and description.
function picture(data, item, id, over = () => []) {
  const [mode] = item.rights;
  const text = item.fields.caption || item.fields.title;
  const harmful = isBlurred(data.index, id);
  const shown = item.images.length && held(mode)
    ? item.images.map((image, at) => node("div", { class: "frame" }, node("img", { class: "art", src: punchline.base + image.file, width: image.width, height: image.height, loading: "lazy", alt: `${visible(image.name || id)}, as models see it` }), over(image, at)))
    : [node("div", { class: "capcard" }, text ? node("p", { class: "cap" }, `“${visible(text)}”`) : null,
        item.fields.description ? node("p", { class: "small soft" }, visible(item.fields.description)) : null,
        item.images.length ? node("p", { class: "small soft" }, "This report does not hold the picture: its license is not open.") : item.missing && !text ? node("p", { class: "small soft" }, `No picture: ${visible(item.missing)}`) : null)];
  const box = node("div", { class: "picture" }, shown);
  if (!harmful) return box;
  box.classList.add("blurred");
  const ask = node("button", { type: "button", class: "reveal", onclick: () => (box.classList.remove("blurred"), ask.remove(), document.body.classList.add("revealed")) }, "Annotated as harmful: show it");
  return node("div", { class: "covered" }, box, ask);
}

// Boxes of panels, labels, orders and rectangles over a picture: gold solid, A dashed, B dotted, each path shifted so that equal ones stay visible.
function orders(item, at, paths, panels = false, rectangles = []) {
  const image = item.images[at];
  const [w, h] = [image.width, image.height];
  const made = svg("svg", { viewBox: `0 0 ${w} ${h}`, class: "overlay", "aria-hidden": "true" });
  const unit = Math.max(w, h) / 250;
  const centre = {};
  for (const [left, top, right, bottom, label] of item.boxes[at] || []) {
    if (panels) made.append(svg("rect", { x: left * w, y: top * h, width: (right - left) * w, height: (bottom - top) * h, class: "outline" }));
    if (label === undefined) continue;
    centre[String(label)] = [((left + right) / 2) * w, ((top + bottom) / 2) * h];
    if (panels) made.append(svg("text", { x: right * w - unit * 9, y: bottom * h - unit * 9, class: "number", "font-size": unit * 14 }, String(label)));
  }
  for (const [kind, [x, y, width, height]] of rectangles)
    made.append(svg("rect", { x: x * w, y: y * h, width: width * w, height: height * h, class: `box ${kind}` }));
  for (const [kind, letter, labels, shift] of paths) {
    const points = labels.map((label) => centre[String(label).trim()]).filter(Boolean).map(([x, y]) => [x + shift * unit, y + shift * unit]);
    if (!points.length) continue;
    const [x, y] = points[0];
    made.append(
      svg("polyline", { points: points.map((point) => point.join(",")).join(" "), class: `path ${kind}` }),
      svg("circle", { cx: x, cy: y, r: unit * 6, class: `pathdot ${kind}` }),
      svg("text", { x, y: y + unit * 2.6, class: "pathletter", "font-size": unit * 8 }, letter)
    );
  }
  return made;
}

const sequence = (value) => (Array.isArray(value) ? value : String(value ?? "").split(/[,\s]+/)).map(String).filter(Boolean);

// Texts

// A value of gold for reading.
function plain(value) {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.every((one) => typeof one !== "object") ? value.join(", ") : JSON.stringify(value);
  return typeof value === "object" ? [...new Set(Object.values(value).map(plain))].join(" / ") : String(value);
}

const letters = (text) => Array.from(text); // places count characters, as Python does; a script's own count splits some
const wordsIn = (text) => text.split(/\s+/).filter(Boolean);
const FOLD = 60; // words that a long text shows at first
const LONGEST = 800; // characters that it shows at first
const short = (text, most = 60) => (text.length > most ? `${text.slice(0, most)}…` : text);
const list = (texts) => texts.map((text) => short(text)).join(", ");

// A text with the part that was read, or what was searched for, marked.
function marked(text, from = 0, to = 0, search = "") {
  const all = letters(text);
  const slice = (start, end) => visible(all.slice(start, end).join(""));
  if (search) {
    const at = text.toLowerCase().indexOf(search.toLowerCase());
    if (at >= 0) return [visible(text.slice(0, at)), node("mark", {}, visible(text.slice(at, at + search.length))), visible(text.slice(at + search.length))];
  }
  if (to <= from) return [visible(text)];
  return [slice(0, from), node("mark", {}, slice(from, to)), slice(to)];
}

// A text of which long ones show FOLD words, or LONGEST characters, and say how many there are.
function said(text, { from = 0, to = 0, search = "", fold = FOLD, kind = "said" } = {}) {
  if (text === null || text === undefined) return node("p", { class: `${kind} none` }, "No answer.");
  if (!text.trim()) return node("p", { class: `${kind} none` }, "An empty answer.");
  const all = letters(text);
  if (!all.slice(0, from).join("").trim() && !all.slice(to).join("").trim()) to = from; // all of it was read: nothing to point at
  const count = wordsIn(text).length;
  const body = node("p", { class: kind, dir: "auto" });
  const wordy = count > fold * 1.25;
  if (!wordy && text.length <= LONGEST * 1.25) {
    body.append(...marked(text, from, to, search));
    return body;
  }
  const start = `${short(wordy ? text.match(new RegExp(`^\\s*(?:\\S+\\s+){${fold}}`))[0].trimEnd() : text, LONGEST).replace(/…$/, "")} …`;
  const fill = (open) => {
    body.replaceChildren(...(open ? marked(text, from, to, search) : marked(start, from, Math.min(to, letters(start).length - 2), search)));
    button.textContent = open ? "show less" : `show all ${wordy ? `${number(count)} words` : `${number(letters(text).length)} characters`}`;
    button.setAttribute("aria-expanded", String(open));
  };
  const button = node("button", { type: "button", class: "more", onclick: () => fill(button.getAttribute("aria-expanded") !== "true") });
  fill(false);
  return node("div", {}, body, button);
}

// Why a score is what it is, in a sentence.
function why(data, question, item, answer, score) {
  if (!score) return answer.state === "failed" ? `The request failed: ${answer.reason || "no reason given"}.` : "This question is not scored automatically.";
  const counts = score.code === "f" || score.code === "m" ? "Counts as missing." : score.scored ? `Counts as wrong under rule ${score.rule}.` : `Not counted under rule ${score.rule}.`;
  if (score.code === "f") return `The request failed: ${answer.reason || "no reason given"}. ${counts}`;
  if (score.code === "r") return `The model declined to answer. ${counts}`;
  if (score.code === "t") return `The answer was cut off before it could be read. ${counts}`;
  if (score.code === "u") return `${(answer.text || "").trim() ? "No answer could be read from the text." : "The answer is empty."} ${counts}`;
  if (score.code === "a") return "The baseline does not attempt this task.";
  if (score.code === "m") return `Missing: ${answer.reason || "no reason given"}.`;
  const parsed = score.parsed || [];
  const given = data.index.why[parsed.join()];
  if (given) return given;
  const all = Object.entries(score.values).filter(([name]) => !name.includes("tokens"));
  const told = all.filter(([, value]) => value === { y: 1, n: 0 }[score.code]); // the sentence says it
  const values = all.filter((one) => told.length !== 1 || one !== told[0]).map(([name, value]) => `${name.replace(/_/g, " ")} ${value}`).join(", ");
  const tail = score.scored ? (values ? ` ${values}.` : "") : ` Not counted under rule ${score.rule}.`;
  if (score.judge) return `Judge ${score.judge}: ${score.code === "y" ? "passed" : score.code === "n" ? "not passed" : word(score.code)}.${tail}`;
  if (score.code === "y") return `Equal to gold.${tail}`;
  const gold = item.gold[question.gold];
  if (question.gold === data.index.sequence && gold !== undefined) {
    const wanted = sequence(gold);
    const wrong = wanted.map((label, at) => (label === parsed[at] ? 0 : at + 1)).filter(Boolean);
    return parsed.length !== wanted.length ? `${parsed.length} panels are ordered, the comic has ${wanted.length}.${tail}` : `Order differs at ${wrong.length > 1 ? "positions" : "position"} ${wrong.join(", ")}.${tail}`;
  }
  if (Array.isArray(gold) && gold.every((one) => typeof one === "string") && parsed.length && !("wer" in score.values)) {
    if (gold.length === 1 && parsed.length === 1) return `Parsed ${short(parsed[0])}, gold ${short(gold[0])}.${tail}`;
    const [wanted, labels] = [gold.map((one) => one.toLowerCase()), parsed.map((one) => one.toLowerCase())];
    const missing = gold.filter((one) => !labels.includes(one.toLowerCase()));
    const extra = parsed.filter((one) => !wanted.includes(one.toLowerCase()));
    return [missing.length ? `Missing: ${list(missing)}.` : "", extra.length ? `Not in gold: ${list(extra)}.` : ""].filter(Boolean).join(" ") + tail;
  }
  if (score.code === "-") return `No score is defined here.${tail}`;
  return `${score.code === "p" ? "Agrees in part with gold." : "Differs from gold."}${tail}`;
}

// The address of an item's page; `list`: the page to go back to and its whole address.
function itemPage(benchmark, id, { question = "", model = "", back = "" } = {}) {
  const values = new URLSearchParams({ b: benchmark, i: id, ...(question && { q: question }), ...(model && { to: `${model}/${question}` }), ...(address.get("rule") && { rule: address.get("rule") }), ...(back && { back: `${back}.html${location.hash}` }) });
  return `${punchline.base}item.html#${values.toString().replace(/%2F/g, "/").replace(/%40/g, "@")}`;
}

// One answer: who, state, Copy, Link; the text; what was parsed and why it is scored so.
function answerCard(data, question, item, id, model, [answer, score], { side = "", search = "", extra = [], href = itemPage(data.benchmark, id, { question: question.key, model }) } = {}) {
  const thoughts = answer.thoughts && answer.text && answer.thoughts < letters(answer.text).length ? answer.thoughts : 0;
  const text = thoughts ? letters(answer.text).slice(thoughts).join("") : answer.text;
  const [from, to] = answer.span && answer.span[0] >= thoughts ? answer.span.map((place) => place - thoughts) : [0, 0];
  const parsed = score && score.parsed && score.parsed.length && wordsIn(score.parsed.join(" ")).length < 12 && score.parsed.join().length < 120 && !score.judge ? score.parsed.join(", ") : "";
  const reasoning = [thoughts ? letters(answer.text).slice(0, thoughts).join("") : "", answer.reasoning].filter((one) => one && one.trim()).join("\n\n");
  const tokens = answer.tokens[2] || wordsIn(reasoning).length;
  return node("article", { class: "answer", id: `${model}/${question.key}${answer.sample ? `/${answer.sample}` : ""}` },
    node("header", {}, side ? node("span", { class: `side ${side}`, "aria-hidden": "true" }, side.toUpperCase()) : null,
      node("span", { class: "who" }, visible(model), answer.sample ? ` (sample ${answer.sample})` : ""), score ? stateOf(score.code) : answer.state === "failed" ? stateOf("f") : stateOf("-"),
      answer.text && node("button", { type: "button", class: "quietbtn", "aria-label": `Copy the answer of ${visible(model)}`, onclick: () => copy(answer.text) }, "Copy"),
      node("a", { href, "aria-label": `Link to this answer of ${visible(model)}` }, "Link")),
    said(text, { from, to, search }),
    answer.cut ? node("p", { class: "small soft" }, `${number(answer.cut)} characters more: punchline show ${answer.digest.slice(0, 12)}`) : null,
    node("p", { class: "why" }, parsed ? ["Parsed: ", node("b", { class: "num" }, visible(parsed)), ". "] : null, visible(why(data, question, item, answer, score))),
    reasoning ? node("details", { class: "small soft" }, node("summary", {}, `Reasoning, ${number(tokens)} ${answer.tokens[2] ? "tokens" : "words"}`), node("p", { class: "said", dir: "auto" }, visible(reasoning))) : null,
    ...extra);
}

// Copying, saving, messages, keys

function toast(text) {
  $(".toast")?.remove();
  document.body.append(node("div", { class: "toast", role: "status" }, text));
  setTimeout(() => $(".toast")?.remove(), 2000);
}

function copy(text, done = "Copied") {
  const failed = () => toast("The browser did not allow copying: select the text instead");
  navigator.clipboard ? navigator.clipboard.writeText(text).then(() => toast(done), failed) : failed();
}

// A CSV file of rows. A cell that a spreadsheet would take for a formula gets a quote.
function download(name, rows) {
  const cell = (value) => `"${String(value ?? "").replace(/^(?=[=+\-@\t\r])/, "'").replace(/"/g, '""')}"`;
  const link = node("a", { download: name, href: URL.createObjectURL(new Blob(["\ufeff", rows.map((row) => row.map(cell).join(",")).join("\r\n"), "\r\n"], { type: "text/csv" })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  toast(`${number(rows.length - 1)} rows saved as ${name}`);
}

// Keys of a page, by what they do; never while typing.
function keys(map) {
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey || !map[event.key]) return;
    event.preventDefault();
    map[event.key]();
  });
}

function options(select, values, chosen) {
  select.replaceChildren(...values.map(([value, text]) => node("option", { value, selected: value === chosen }, visible(text))));
}

// Filters are open on wide screens and folded on narrow ones.
if (matchMedia("(max-width: 62rem)").matches) for (const folded of $$(".fold-narrow")) folded.open = false;

// Run a page's function now and whenever the address changes; an error is shown above the page.
function start(show) {
  const problem = document.getElementById("problem");
  const run = async () => {
    try {
      await show();
      problem.hidden = true;
      document.body.dataset.ready = location.hash;
    } catch (error) {
      problem.hidden = false;
      problem.replaceChildren(visible(error.message), ...(error.others || []).flatMap(([name, values]) => [" ", node("a", { href: address.with(values) }, visible(name))]));
      document.body.dataset.ready = "error";
    }
  };
  addEventListener("hashchange", run);
  run();
  return run;
}
