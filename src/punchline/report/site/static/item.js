// One item: its picture stays, answers scroll. Questions are tabs, models are chips, and each answer has an address.
"use strict";
const FIRST = 8; // of more models, so many are shown at first
const BACK = { compare: "Compare", answers: "Answers", wall: "Comics" };
let reached = ""; // the answer that the page scrolled to last
let current = {};

// The page and address one came from: only pages of this report.
function wayBack(benchmark) {
  const back = address.get("back");
  const page = /^(compare|answers|wall)\.html(?=#|$)/.exec(back);
  return page ? [back, BACK[page[1]]] : [`wall.html#b=${encodeURIComponent(benchmark)}`, "Comics"];
}

// Ids of the list one came from, with this item; else of all items.
function listOf(data, id, back) {
  const { ids } = data.index;
  let list = recall(`list ${back}`);
  const values = new URLSearchParams(back.split("#")[1] || "");
  try {
    if (back.startsWith("wall") && (values.get("b") || benchmarks()[0]) === data.benchmark) list = placesOf(data, values).map((place) => ids[place]);
  } catch {
    // filters of another run
  }
  return Array.isArray(list) && list.includes(id) ? list.filter((one) => ids.includes(one)) : ids;
}

// Questions of an item that somebody was asked.
function asked(data, item, owns) {
  const all = [...item.asked.map(([, task, condition]) => [task, condition]), ...owns.flatMap((own) => [...((own && own.grades) || []), ...((own && own.answers) || [])].map((one) => [one.task, one.condition]))];
  const keys = new Set(all.map((names) => names.join("@")));
  return [...data.questions.values()].filter(({ key }) => keys.has(key));
}

function letterOf([pair]) {
  if (!pair) return ".";
  const [answer, score] = pair;
  return score ? score.code : answer.state === "ok" ? "-" : answer.state[0];
}

// Drawings

// The order that a model gave: to this question if it asks for one, else to the first that does.
function orderOf(data, own, question, rule) {
  const keys = [question, ...data.questions.values()].filter((one) => one.gold === data.index.sequence).map((one) => one.key);
  return ((own && own.grades) || []).find((score) => score.rule === rule && keys.includes(`${score.task}@${score.condition}`) && score.parsed)?.parsed || [];
}

// Boxes [x, y, width, height] in shares of the picture, in what was parsed of a model's answers.
function boxesOf(own, rule) {
  return ((own && own.grades) || []).filter((score) => score.rule === rule && score.sample === 0).flatMap((score) => score.parsed || []).flatMap((text) => {
    try {
      const box = JSON.parse(text);
      return Array.isArray(box) && box.length === 4 && box.every((one) => typeof one === "number" && one >= 0 && one <= 1) ? [box] : [];
    } catch {
      return [];
    }
  });
}

function drawPicture(data, item, id, owns, question, rule) {
  const gold = data.index.sequence ? sequence(item.gold[data.index.sequence]) : [];
  const hasPanels = item.boxes.some((boxes) => boxes.length);
  const isOrder = hasPanels && gold.length > 1;
  const goldBoxes = Array.isArray(item.gold.boxes) ? item.gold.boxes : [];
  const given = new Map(data.models.map((model, at) => [model, { order: isOrder ? orderOf(data, owns[at], question, rule) : [], boxes: goldBoxes.length ? boxesOf(owns[at], rule) : [] }]));
  const usual = (isOrder && question.gold === data.index.sequence) || (goldBoxes.length && question.gold === "boxes") ? ["gold"] : [];
  const drawn = address.all.has("draw") ? address.list("draw") : usual;
  const model = drawn.find((name) => given.has(name)) || "";
  const own = given.get(model) || { order: [], boxes: [] };
  const paths = [["g", "G", drawn.includes("gold") && isOrder ? gold : [], -3], ["m", "M", own.order, 1.5]];
  const boxes = [...(drawn.includes("gold") ? goldBoxes.map((box) => ["g", box]) : []), ...own.boxes.map((box) => ["m", box])];
  $("#picture").replaceChildren(picture(data, item, id, (_, at) => orders(item, at, paths, address.get("panels") === "1", boxes)));
  const what = isOrder ? "order" : "boxes";
  $("#draw").hidden = !(item.images.length && held(item.rights[0]) && (hasPanels || goldBoxes.length));
  $("#panels").hidden = !hasPanels;
  $("#panels").setAttribute("aria-pressed", String(address.get("panels") === "1"));
  $("#gold-drawn").hidden = $("#drawn").parentElement.hidden = !isOrder && !goldBoxes.length;
  $("#gold-drawn").textContent = `● Gold ${what}, solid`;
  $("#gold-drawn").setAttribute("aria-pressed", String(drawn.includes("gold")));
  $("#drawn-what").textContent = what === "order" ? "Order" : "Boxes";
  options($("#drawn"), [["", "no model"], ...[...given].filter(([, { order, boxes: some }]) => order.length || some.length).map(([name]) => [name, name])], model);
  current.draw = (values) => change({ draw: [("gold" in values ? values.gold : drawn.includes("gold")) ? "gold" : "", values.model ?? model].filter(Boolean).join(",") || "none" });
  current.isGoldDrawn = drawn.includes("gold");
}

function drawFacts(data, item, id) {
  const name = (key) => (data.index.names[key] || key).replace(/_/g, " ");
  const [, licence, credit, url] = item.rights;
  const source = url && /^https?:\/\//.test(url) ? node("a", { href: url, rel: "noreferrer" }, visible(url)) : null;
  const text = [(credit || "").includes(licence) ? "" : licence, credit].filter(Boolean).join(", ");
  $("#credit").replaceChildren(visible(text), " ", source || "");
  const facts = [["item", id], ["source", item.source], ...Object.entries(item.fields).map(([key, value]) => [name(key), plain(value)]), ...Object.entries(item.gold).map(([key, value]) => [`gold: ${name(key)}`, plain(value)])];
  $("#facts").replaceChildren(...facts.filter(([, value]) => value !== "" && value !== null).flatMap(([key, value]) => [node("dt", {}, visible(key)), node("dd", { class: "pre" }, visible(value))]));
}

// Answers

// Details that are built when they are opened: a page may have hundreds.
function folded(title, build) {
  const made = node("details", { class: "small soft", ontoggle: () => made.childElementCount > 1 || made.append(build()) }, node("summary", {}, title));
  return made;
}

// The words of an answer against those of gold: the shortest way from one to the other.
function difference(gold, text) {
  const [a, b] = [wordsIn(gold).slice(0, 600), wordsIn(text).slice(0, 600)];
  const bare = (one) => one.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  const [x, y] = [a.map(bare), b.map(bare)];
  const rows = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) for (let j = b.length - 1; j >= 0; j -= 1) rows[i][j] = x[i] === y[j] ? rows[i + 1][j + 1] + 1 : Math.max(rows[i + 1][j], rows[i][j + 1]);
  const made = node("p", { class: "said" });
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && x[i] === y[j]) made.append(`${visible(b[j])} `), (i += 1), (j += 1);
    else if (j < b.length && (i === a.length || rows[i][j + 1] >= rows[i + 1][j])) made.append(node("ins", {}, visible(b[j])), " "), (j += 1);
    else made.append(node("del", {}, visible(a[i])), " "), (i += 1);
  }
  return made;
}

// Id of the request: with the answer where only this model was asked it, else with the item.
const requestOf = (item, answer) => answer.request || item.asked.find(([, task, condition, sample]) => task === answer.task && condition === answer.condition && sample === answer.sample)?.[0] || "";

function origin(data, item, model, answer) {
  const request = requestOf(item, answer);
  const tables = (punchline.about.tables[data.benchmark] || []).filter(([, tasks, conditions]) => (!tasks.length || tasks.includes(answer.task)) && conditions.includes(answer.condition));
  const line = (...parts) => node("li", {}, ...parts);
  const code = (text) => node("code", {}, visible(text));
  const [into, out, thought] = answer.tokens;
  const tokens = [into !== null && `${number(into)} in`, out !== null && `${number(out)} out`, thought && `${number(thought)} of reasoning`].filter(Boolean).join(", ");
  return node("ul", { class: "origin" },
    item.came ? line("published image ", code(item.came[0] || "none"), ", sha256 ", code(item.came[1] || "none")) : null,
    item.pictures.map((digest) => line("picture as models see it, sha256 ", code(digest))),
    request ? line("request ", code(request)) : null,
    line("response, sha256 ", code(answer.digest), ` in the journal of ${visible(model)}`),
    tokens ? line(`tokens: ${tokens}${answer.finish === "length" ? "; stopped at the token limit" : ""}`) : null,
    tables.length ? line("counts in ", tables.flatMap(([name], at) => [at ? ", " : "", node("a", { href: `${punchline.base}tables/${part(data.benchmark, name)}.html` }, name)])) : null,
    request ? line(code(`punchline show ${request.slice(0, 12)}`)) : null);
}

// What a card says beyond the answer: the other rule, a difference word by word, judges and scorers, where it comes from.
function more(data, question, item, model, own, [answer, score], rule) {
  const other = score && own.grades.find((one) => one.rule !== rule && one.task === score.task && one.condition === score.condition && one.sample === score.sample);
  const gold = item.gold[question.gold] ?? item.gold.text;
  const heard = (own.heard || []).filter((one) => score && score.answers.includes(one.digest.slice(0, 16)));
  return [
    other && (other.code !== score.code || other.scored !== score.scored) ? node("p", { class: "small soft" }, `Rule ${other.rule}: ${word(other.code)}${other.scored ? "" : ", not counted"}.`) : null,
    score && "wer" in score.values && typeof gold === "string" && answer.text ? folded("Word by word against gold", () => difference(gold, letters(answer.text).slice(answer.thoughts).join(""))) : null,
    heard.map((one) => folded(`What ${one.hop} said`, () => node("div", {}, said(one.text), folded("What it was asked", () => node("p", { class: "said", dir: "auto" }, visible(one.question)))))),
    folded("Where this comes from", () => origin(data, item, model, answer)),
  ].flat().filter(Boolean);
}

function drawModels(data, rows, target) {
  const { models } = data;
  const hide = (address.all.has("hide") ? address.list("hide") : models.slice(FIRST)).filter((model) => model !== target && models.includes(model));
  const there = rows.filter(({ pairs }) => pairs.length);
  $("#models").replaceChildren(...there.map(({ model, letter }) => node("button", { class: "chip toggle", type: "button", "data-m": model, "aria-pressed": String(!hide.includes(model)), title: `Show or hide ${visible(model)}` }, mark(letter), ` ${visible(model)}`)));
  const right = there.filter(({ letter }) => letter === "y").map(({ model }) => model);
  const hidden = there.filter(({ model }) => hide.includes(model)).length;
  $("#wrong").hidden = !right.some((model) => !hide.includes(model));
  $("#everyone").hidden = !hidden;
  $("#everyone").textContent = `Show all (${number(hidden)} hidden)`;
  const list = (names) => names.join(",") || (models.length > FIRST ? "none" : "");
  Object.assign(current, { toggle: (model) => change({ hide: list(hide.includes(model) ? hide.filter((one) => one !== model) : [...hide, model]), to: "" }), wrong: () => change({ hide: list([...new Set([...hide, ...right])]), to: "" }), everyone: () => change({ hide: list([]) }) });
  return there.filter(({ model }) => !hide.includes(model));
}

function drawAnswers(data, question, item, id, rows, visibleRows, rule) {
  const silent = rows.filter(({ pairs }) => !pairs.length).map(({ model }) => model);
  $("#list").replaceChildren(
    ...visibleRows.flatMap(({ model, own, pairs }) => pairs.map((pair) => answerCard(data, question, item, id, model, pair, { href: address.with({ to: `${model}/${question.key}${pair[0].sample ? `/${pair[0].sample}` : ""}`, q: "" }), extra: more(data, question, item, model, own, pair, rule) }))),
    visibleRows.length ? "" : node("p", { class: "lead" }, rows.length > silent.length ? "All models are hidden. Choose one above." : "No model was asked this."),
    silent.length && visibleRows.length ? node("p", { class: "small soft" }, `Not asked: ${visible(silent.join(", "))}.`) : "");
  const to = address.get("to");
  const target = to && document.getElementById(to);
  if (!target) return;
  target.classList.add("at");
  target.tabIndex = -1;
  if (reached === `${id} ${to}`) return;
  reached = `${id} ${to}`;
  target.scrollIntoView({ block: "start" });
  target.focus({ preventScroll: true });
}

function drawQuestions(data, item, place, list, question, rule) {
  const right = ({ key }) => {
    const states = data.models.map((model) => data.state(model, rule, key, place)).filter((letter) => !"-.mf".includes(letter));
    return states.length ? `${states.filter((letter) => letter === "y").length}/${states.length}` : "–";
  };
  $("#questions").replaceChildren(...list.map((one) => node("button", { class: "chip", type: "button", "data-q": one.key, "aria-pressed": String(one === question) }, `${visible(one.name)} `, node("b", { title: "models that are right" }, right(one)))));
  const [tab, box] = [$("#questions [aria-pressed=true]"), $("#questions")];
  if (tab) box.scrollLeft = tab.offsetLeft - box.offsetLeft - box.clientWidth / 2; // on a phone; scrollIntoView would move the page, too
  $("#question").textContent = visible(question.name);
  for (const chip of $$("[data-rule]")) chip.setAttribute("aria-checked", String(chip.dataset.rule === rule));
  const prompt = item.asked.find(([, task, condition]) => `${task}@${condition}` === question.key)?.[4];
  $("#asked").hidden = !prompt;
  $("#asked .said").textContent = visible(prompt || "");
  const gold = plain(item.gold[question.gold]);
  $("#gold").hidden = !gold;
  $("#gold").replaceChildren(node("b", {}, "Gold "), visible(gold));
}

function drawWay(data, id) {
  const [back, name] = wayBack(data.benchmark);
  const list = listOf(data, id, back);
  const at = list.indexOf(id);
  $("#back").href = punchline.base + back;
  $("#back").textContent = `← ${name}`;
  $("#position").textContent = `${number(at + 1)} of ${number(list.length)}${list.length < data.index.ids.length ? " in this list" : ""}`;
  $("#previous").disabled = at <= 0;
  $("#next").disabled = at === list.length - 1;
  remember(`at ${back}`, id);
  current.step = async (by) => {
    if (list[at + by] === undefined) return;
    await change({ i: list[at + by], to: "", q: address.get("q") || address.get("to").split("/")[1] || "" });
    scrollTo(0, 0);
  };
}

async function show() {
  const hash = location.hash;
  const data = await load(chosenBenchmark());
  const { ids, titles } = data.index;
  const place = ids.indexOf(address.get("i", ids[0]));
  if (place < 0) throw unknown(`${address.get("i")} is not an item of ${data.benchmark} in this run, which has ${number(ids.length)}. See the`, [["first one", { i: ids[0], q: "", to: "" }]]);
  const id = ids[place];
  const [item, ...owns] = await Promise.all([itemAt(data, place), ...data.models.map((model) => answersAt(data, model, place))]);
  if (hash !== location.hash) return;
  const [target, wanted] = address.get("to").split("/");
  const named = address.get("q") || wanted;
  const list = asked(data, item, owns);
  const usual = data.question(named);
  const question = named || list.includes(usual) ? usual : list[0] || usual;
  if (target) data.model(target, (one) => ({ to: `${one}/${question.key}` }));
  const rule = address.get("rule", punchline.about.rules[data.benchmark]);
  if (current.id !== id) document.body.classList.remove("revealed");
  document.body.classList.toggle("harmful", isBlurred(data.index, id));
  current = { id };
  const hasTitle = item.images.length && held(item.rights[0]) && titles[place] && titles[place].length < 100; // else it stands in the picture's place
  document.title = `${visible(titles[place] || id)} · Punchline`;
  $("#title").textContent = visible(hasTitle ? titles[place] : `${punchline.about.titles[data.benchmark]} ${id}`);
  const rows = data.models.map((model, at) => {
    const pairs = pairsOf(owns[at], question.key, rule);
    return { model, own: owns[at], pairs, letter: letterOf(pairs) };
  });
  drawWay(data, id);
  drawQuestions(data, item, place, list, question, rule);
  drawPicture(data, item, id, owns, question, rule);
  drawFacts(data, item, id);
  drawAnswers(data, question, item, id, rows, drawModels(data, rows, target), rule);
}

const refresh = start(show);
const change = (values) => (address.set(values), refresh());
document.addEventListener("click", async ({ target }) => {
  const [question, model, rule] = ["q", "m", "rule"].map((name) => target.closest(`[data-${name}]`));
  const again = (selector, value, key) => $$(selector).find((one) => one.dataset[key] === value)?.focus({ preventScroll: true });
  if (question) await change({ q: question.dataset.q, to: "" }), again("[data-q]", question.dataset.q, "q");
  else if (model) await current.toggle(model.dataset.m), again("[data-m]", model.dataset.m, "m");
  else if (rule) change({ rule: rule.dataset.rule });
  else if (target.closest("#previous, #next")) current.step(target.closest("#next") ? 1 : -1);
  else if (target.id === "wrong") current.wrong();
  else if (target.id === "everyone") current.everyone();
  else if (target.id === "panels") change({ panels: address.get("panels") === "1" ? "" : "1" });
  else if (target.id === "gold-drawn") current.draw({ gold: !current.isGoldDrawn });
});
$("#drawn").addEventListener("change", ({ target }) => current.draw({ model: target.value }));
keys({ j: () => current.step(1), k: () => current.step(-1), u: () => $("#back").click() });
