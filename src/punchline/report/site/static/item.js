// One item: its picture, what was asked, what each model said, and where every bit of it comes from.
"use strict";
const SVG = "http://www.w3.org/2000/svg";
let shownItem = 0;

function svg(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// Boxes, labels and paths over a picture, in shares of it.
function overlay(item, at, order, rects) {
  const image = item.images[at];
  const [w, h] = [image.width, image.height];
  const made = svg("svg", { viewBox: `0 0 ${w} ${h}`, class: "overlay", "aria-hidden": "true" });
  const stroke = Math.max(w, h) / 250;
  const centre = {};
  for (const [left, top, right, bottom, label] of item.boxes[at] || []) {
    made.append(svg("rect", { x: left * w, y: top * h, width: (right - left) * w, height: (bottom - top) * h, class: "panel", "stroke-width": stroke }));
    if (label === undefined) continue;
    centre[String(label)] = [((left + right) / 2) * w, ((top + bottom) / 2) * h];
    const size = Math.max(w, h) / 18; // in a lower corner, clear of paths, which go from middle to middle
    const text = svg("text", { x: right * w - size * 0.7, y: bottom * h - size * 0.7, class: "label", "font-size": size });
    text.textContent = label;
    made.append(text);
  }
  for (const [look, labels] of order) {
    const points = labels.map((label) => centre[String(label).trim()]).filter(Boolean);
    if (points.length > 1) {
      const nudge = look === "gold" ? -1 : 1;
      made.append(svg("polyline", { points: points.map(([x, y]) => `${x},${y + nudge * stroke * 3}`).join(" "), class: `path ${look}`, "stroke-width": stroke * 2 }));
      const [x, y] = points[0];
      made.append(svg("circle", { cx: x, cy: y + nudge * stroke * 3, r: stroke * 4, class: `start ${look}` }));
    }
  }
  for (const [look, boxes] of rects) {
    for (const [x, y, width, height] of boxes) {
      made.append(svg("rect", { x: x * w, y: y * h, width: width * w, height: height * h, class: `box ${look}`, "stroke-width": stroke * 1.5 }));
    }
  }
  return made;
}

const boxesIn = (parsed) =>
  (parsed || []).flatMap((text) => {
    try {
      const box = JSON.parse(text);
      return Array.isArray(box) && box.length === 4 && box.every((n) => typeof n === "number" && n >= 0 && n <= 1) ? [box] : [];
    } catch {
      return [];
    }
  });

// A value of gold for reading.
function plain(value) {
  if (typeof value === "string") return value;
  return Array.isArray(value) && value.every((one) => typeof one !== "object") ? value.join(", ") : JSON.stringify(value);
}

function words(text) {
  return text.split(/\s+/).filter(Boolean);
}

// The words of `said` against those of `gold`: the shortest way from one to the other.
function difference(gold, said) {
  const [a, b] = [words(gold).slice(0, 600), words(said).slice(0, 600)];
  const same = (x, y) => x.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "") === y.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  const rows = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      rows[i][j] = same(a[i], b[j]) ? rows[i + 1][j + 1] + 1 : Math.max(rows[i + 1][j], rows[i][j + 1]);
  const made = node("p", { class: "difference" });
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && same(a[i], b[j])) made.append(`${visible(b[j])} `), (i += 1), (j += 1);
    else if (j < b.length && (i === a.length || rows[i][j + 1] >= rows[i + 1][j])) made.append(node("ins", {}, visible(b[j])), " "), (j += 1);
    else made.append(node("del", {}, visible(a[i])), " "), (i += 1);
  }
  return made;
}

// Places in a text count characters, as Python does; a script's own count splits those beyond 16 bits.
const letters = (text) => Array.from(text);

function said(answer, request) {
  const text = letters(answer.text || "");
  const slice = (from, to) => visible(text.slice(from, to).join(""));
  if (answer.text === null) return node("p", { class: "quiet" }, `no answer: ${visible(answer.reason || answer.state)}`);
  if (!answer.text.trim()) return node("p", { class: "quiet" }, "an answer without a letter");
  const begins = answer.thoughts < text.length ? answer.thoughts : 0;
  const [from, to] = answer.span && answer.span[0] >= begins ? answer.span : [begins, begins];
  const body = node("p", { class: "said", dir: "auto", tabindex: "0" }, slice(begins, from));
  const whole = from === begins && !slice(to).trim(); // all of it was read: nothing to point at
  body.append(...(whole || to <= from ? [slice(from)] : [node("mark", {}, slice(from, to)), slice(to)]));
  const more = answer.cut ? node("p", { class: "quiet" }, `… ${answer.cut.toLocaleString("en")} characters more: punchline show ${request.slice(0, 12)}`) : null;
  const thoughts = begins ? node("details", {}, node("summary", {}, "Thoughts"), node("p", { class: "said", dir: "auto", tabindex: "0" }, slice(0, begins))) : null;
  const reasoning = answer.reasoning ? node("details", {}, node("summary", {}, "Reasoning, as the server gave it"), node("p", { class: "said", dir: "auto", tabindex: "0" }, visible(answer.reasoning))) : null;
  return node("div", {}, reasoning, thoughts, body, more);
}

function chip(grade) {
  const [look, word] = glance(grade.code);
  const values = Object.entries(grade.values).map(([name, value]) => `${name} ${value}`).join(", ");
  const told = grade.state !== "ok" ? grade.state : grade.scored ? word : "not in the denominator";
  const looks = grade.state === "ok" && !grade.scored ? "none" : look;
  return node("span", { class: `chip ${looks}`, title: values }, `${grade.rule}: ${visible(told)}`);
}

function tokens(answer) {
  const [prompt, completion, reasoning] = answer.tokens;
  const told = [prompt !== null && `${prompt} in`, completion !== null && `${completion} out`, reasoning && `${reasoning} of thought`].filter(Boolean);
  return told.length ? `${told.join(", ")} tokens` : "";
}

// The id of what was asked: with the answer where only this model was asked it, else with the item.
const requestOf = (item, answer) =>
  answer.request || (item.asked.find(([, task, condition, sample]) => task === answer.task && condition === answer.condition && sample === answer.sample) || [""])[0];

// Details that are made when somebody looks: a page may have hundreds.
function whenOpened(title, make) {
  const made = node("details", {}, node("summary", { onclick: () => made.childElementCount > 1 || made.append(make()) }, title));
  return made;
}

function answerBlock(benchmark, item, model, answer, own, tables) {
  const request = requestOf(item, answer);
  const grades = own.grades.filter((grade) => grade.answers.includes(answer.digest.slice(0, 16)) && grade.condition === answer.condition);
  const told = grades.filter((grade) => grade.task === answer.task);
  const read = told.find((grade) => grade.rule === "paper" && grade.parsed);
  const gold = item.gold[answer.task] ?? (told.some((grade) => "wer" in grade.values) ? item.gold.text : undefined);
  const spoken = told.some((grade) => "wer" in grade.values) && typeof gold === "string" && answer.text;
  const heard = (own.heard || []).filter((one) => (grades.length ? grades : told).some((grade) => grade.answers.includes(one.digest.slice(0, 16))));
  const links = tables.filter(([, tasks, conditions]) => (!tasks.length || tasks.includes(answer.task)) && conditions.includes(answer.condition));
  return node("li", { class: "answer" },
    node("div", { class: "who" }, node("b", {}, visible(model)), answer.sample ? ` sample ${answer.sample}` : "", " ",
      ...(told.length ? told : grades).flatMap((grade) => [chip(grade), " "]),
      answer.finish === "length" ? node("span", { class: "chip state failed" }, "cut off") : null,
      node("span", { class: "quiet" }, ` ${tokens(answer)}`)),
    said(answer, request),
    read ? node("p", { class: "quiet" }, "read: ", node("code", {}, visible(read.parsed.join(" · ")))) : null,
    spoken ? whenOpened("Word by word against the gold text", () => difference(gold, letters(answer.text).slice(answer.thoughts).join(""))) : null,
    ...heard.map((one) => node("details", {}, node("summary", {}, `${visible(one.hop)} said`), said(one, one.request),
      node("details", {}, node("summary", {}, "What it was asked"), node("p", { class: "said", tabindex: "0" }, visible(one.question))))),
    whenOpened("Where this comes from", () => node("ul", {},
      ...(item.came ? [node("li", {}, "published image ", node("code", {}, visible(item.came[0] || "")), " sha256 ", node("code", {}, visible(item.came[1] || "none")))] : []),
      ...item.pictures.map((digest) => node("li", {}, "picture as the model saw it, sha256 ", node("code", {}, digest))),
      node("li", {}, "request ", node("code", {}, request)),
      node("li", {}, "response, sha256 ", node("code", {}, answer.digest), ` in the journal of ${visible(model)}`),
      node("li", {}, "counts in ", ...links.flatMap(([name]) => [node("a", { href: `${punchline.base}tables/${part(benchmark, name)}.html` }, name), " "])),
      node("li", {}, node("code", {}, `punchline show ${request.slice(0, 12)}`)))));
}

function picture(item, index, models, blurred) {
  const box = document.getElementById("picture");
  const controls = document.getElementById("layers");
  box.replaceChildren();
  controls.replaceChildren();
  const [mode, licence, credit, url] = item.rights;
  const source = url && /^https?:\/\//.test(url) ? node("a", { href: url, rel: "noreferrer" }, visible(url)) : null;
  const told = [(credit || "").includes(licence) ? "" : licence, credit].filter(Boolean).join(", ");
  if (!item.images.length) {
    box.append(node("p", { class: "quiet" }, item.missing ? `no picture: ${visible(item.missing)}` : "this item has no picture"), ...(source ? [source] : []));
    return;
  }
  if (!held(mode)) {
    box.append(node("p", {}, "This report holds no pictures of this source. "), ...(source ? [node("p", {}, "See it where it was published: ", source)] : []));
    return;
  }
  const frames = item.images.map((image, at) => {
    const shown = node("img", { src: punchline.base + image.file, width: image.width, height: image.height, alt: `${visible(image.name || "the picture")} as models see it` });
    return node("div", { class: "frame" }, shown);
  });
  const figure = node("figure", {}, ...frames, node("figcaption", { class: "quiet" }, visible(told), source ? " " : "", ...(source ? [source] : [])));
  if (blurred) {
    figure.classList.add("blurred");
    const show = () => (figure.classList.remove("blurred"), document.body.classList.remove("harmful"), button.remove());
    const button = node("button", { type: "button", onclick: show }, "Annotated as harmful: show it");
    box.append(button);
  }
  box.append(figure);
  const layers = [];
  const gold = index.sequence ? item.gold[index.sequence] : item.gold.reordering_generation;
  const sequence = Array.isArray(gold) ? gold : typeof gold === "string" ? gold.split(",") : [];
  if (item.boxes.some((boxes) => boxes.length)) layers.push(["panels", "panels and labels"]);
  if (sequence.length > 1 && item.boxes.some((boxes) => boxes.length)) layers.push(["gold order", "gold order"]);
  if (Array.isArray(item.gold.boxes) && item.gold.boxes.length) layers.push(["gold boxes", "gold boxes"]);
  for (const { model, order, boxes } of models) if (order.length > 1 || boxes.length) layers.push([`model ${model}`, `${model}`]);
  const on = new Set();
  const draw = () =>
    frames.forEach((frame, at) => {
      frame.querySelector("svg")?.remove();
      if (!on.size) return;
      const order = [];
      const rects = [];
      if (on.has("gold order")) order.push(["gold", sequence]);
      if (on.has("gold boxes")) rects.push(["gold", item.gold.boxes]);
      for (const { model, order: own, boxes } of models)
        if (on.has(`model ${model}`)) order.push(["model", own]), rects.push(["model", boxes]);
      const made = overlay(item, at, order, rects);
      if (!on.has("panels")) for (const one of made.querySelectorAll(".panel, .label")) one.remove();
      frame.append(made);
    });
  for (const [name, text] of layers) {
    const input = node("input", { type: "checkbox", onchange: (event) => (event.target.checked ? on.add(name) : on.delete(name), draw()) });
    controls.append(node("label", {}, input, ` ${visible(text)}`));
  }
}

async function show() {
  const mine = (shownItem += 1);
  const [benchmark, id] = location.hash.slice(1).split("/").map(decodeURIComponent);
  const run = punchline.about;
  if (!Object.hasOwn(run.models, benchmark)) throw new Error(`no benchmark ${benchmark || "is named"}`);
  const index = await itemsOf(benchmark, "index");
  const place = index.ids.indexOf(id);
  if (place < 0) throw new Error(`no item ${id} of ${benchmark}`);
  const chunk = String(Math.floor(place / index.chunk));
  const item = (await itemsOf(benchmark, chunk))[id];
  const answers = await Promise.all(run.models[benchmark].map(async (model) => [model, ((await answersOf(benchmark, model, chunk)) || {})[id]]));
  if (mine !== shownItem) return;
  document.title = `${visible(id)}, ${benchmark}`;
  document.getElementById("title").textContent = visible(id);
  const facts = [["benchmark", benchmark], ["source", item.source], ...Object.entries(item.fields)].filter(([, value]) => value !== null && value !== "");
  document.getElementById("facts").replaceChildren(...facts.flatMap(([name, value]) => [node("dt", {}, visible(name.replace(/_/g, " "))), node("dd", {}, visible(value))]));
  const golds = Object.entries(item.gold).map(([name, value]) => [index.names[name] ? `${name} (${index.names[name]})` : name, plain(value)]);
  document.getElementById("gold").replaceChildren(...golds.flatMap(([name, value]) => [node("dt", {}, visible(name)), node("dd", {}, visible(value))]));
  const sequences = answers.filter(([, own]) => own).map(([model, own]) => {
    const read = (own.grades || []).filter((grade) => grade.rule === "paper" && grade.parsed && grade.sample === 0);
    const labels = new Set((item.boxes[0] || []).map((box) => String(box[4])));
    const order = read.find((grade) => labels.size > 1 && grade.parsed.length > 1 && grade.parsed.every((label) => labels.has(label)));
    return { model, order: order ? order.parsed : [], boxes: read.flatMap((grade) => boxesIn(grade.parsed)) };
  });
  const blurred = Object.entries(index.blurred).some(([name, bad]) => item.gold[name] === bad);
  document.body.classList.toggle("harmful", blurred && item.images.length > 0 && held(item.rights[0]));
  picture(item, index, sequences, blurred);
  const tables = run.tables[benchmark] || [];
  const asked = [...item.asked];
  const known = new Set(asked.map(([, task, condition]) => `${task}@${condition}`));
  for (const [, own] of answers)
    for (const answer of (own && own.answers) || [])
      if (!known.has(`${answer.task}@${answer.condition}`)) known.add(`${answer.task}@${answer.condition}`), asked.push(["", answer.task, answer.condition, 0, ""]);
  document.getElementById("tasks").replaceChildren(...asked.filter((one) => one[3] === 0).map(([, task, condition, , question]) => {
    const all = answers.flatMap(([model, said]) => ((said && said.answers) || []).filter((answer) => answer.task === task && answer.condition === condition).map((answer) => [model, answer, said]));
    const own = all.filter(([, answer]) => answer.text !== null).map(([model, answer, said]) => answerBlock(benchmark, item, model, answer, said, tables));
    const silent = Map.groupBy(all.filter(([, answer]) => answer.text === null), ([, answer]) => `${answer.state}: ${answer.reason || "no reason given"}`);
    const none = [...silent].map(([why, those]) => node("p", { class: "quiet" }, visible(`${why} (${those.map(([model]) => model).join(", ")})`)));
    const gold = item.gold[task];
    return node("section", { class: "task" }, node("h2", {}, visible(index.names[task] ? `${task}: ${index.names[task]}` : task), condition === "default" ? "" : ` (${condition})`),
      question ? node("details", {}, node("summary", {}, "Question"), node("p", { class: "said", tabindex: "0" }, visible(question))) : null,
      gold === undefined ? null : node("p", {}, "gold: ", node("b", {}, visible(plain(gold)))),
      own.length ? node("ul", { class: "answers" }, ...own) : null, ...none,
      all.length ? null : node("p", { class: "quiet" }, "no model was asked"));
  }));
  let order = index.ids.map((_, at) => at);
  try {
    const kept = JSON.parse(sessionStorage.getItem(`wall ${benchmark}`));
    if (Array.isArray(kept) && kept.includes(place)) order = kept;
  } catch {
    // nothing kept: all items
  }
  const at = order.indexOf(place);
  for (const [name, step] of [["previous", -1], ["next", 1]]) {
    const link = document.getElementById(name);
    const other = order[at + step];
    link.hidden = other === undefined;
    if (other !== undefined) link.href = itemPage(benchmark, index.ids[other]);
  }
  document.getElementById("position").textContent = `${at + 1} of ${order.length}`;
  document.getElementById("back").href = `${punchline.base}wall/${part(benchmark)}.html`;
  document.getElementById("problem").hidden = true;
  document.body.dataset.ready = `${benchmark}/${id}`;
}

document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, select, textarea") || event.ctrlKey || event.altKey || event.metaKey) return;
  const name = { j: "next", ArrowRight: "next", k: "previous", ArrowLeft: "previous", u: "back" }[event.key];
  if (name && !document.getElementById(name).hidden) document.getElementById(name).click();
  if (event.key === "?") document.getElementById("keys").toggleAttribute("open");
});
addEventListener("hashchange", () => show().catch(fail));
show().catch(fail);
