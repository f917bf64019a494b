// Two models, item by item. Every item is in exactly one group, so that the counts add up to the number of items.
"use strict";
const GROUPS = ["ab", "ba", "wrong", "odd", "right", "all"];
const PORTION = 20; // pairs shown at once
let shown = PORTION;
let view = ""; // what the list shows: another view starts at its top

// Student's t: the quantile, from the integral of its density.
function studentQuantile(probability, freedom) {
  const density = (x) => (1 + (x * x) / freedom) ** (-(freedom + 1) / 2);
  const area = (to, steps = 400) => {
    const h = to / steps;
    let sum = density(0) + density(to);
    for (let at = 1; at < steps; at += 1) sum += density(at * h) * (at % 2 ? 4 : 2);
    return (sum * h) / 3;
  };
  // The whole area from 0 to infinity, by x = u / (1 - u): B(1/2, v/2) * sqrt(v) / 2.
  let whole = freedom % 2 ? Math.PI / 2 : 1;
  for (let v = freedom % 2 ? 1 : 2; v < freedom; v += 2) whole *= v / (v + 1);
  whole *= Math.sqrt(freedom);
  let [low, high] = [0, freedom === 1 ? 20 : 10];
  for (let step = 0; step < 40; step += 1) {
    const middle = (low + high) / 2;
    if (area(middle) / whole < 2 * probability - 1) low = middle;
    else high = middle;
  }
  return low;
}

// Difference of two means over the same items, with the 95 % interval of Bonett and Price (2012): the t interval with two
// clusters more, whose differences are 1 and -1. The influence of each cluster is estimated by the jackknife.
function pairedDifference(pairs, clusters) {
  const sums = new Map();
  for (const [place, a, b] of pairs) {
    const cluster = clusters.length ? clusters[place] : place;
    const sum = sums.get(cluster) || [0, 0];
    sums.set(cluster, [sum[0] + a - b, sum[1] + 1]);
  }
  const total = pairs.reduce((sum, [, a, b]) => sum + a - b, 0);
  const count = sums.size;
  const value = total / pairs.length;
  if (count < 2) return { value: pairs.length ? value : null, low: null, high: null };
  const without = [...sums.values()].map(([sum, size]) => (total - sum) / (pairs.length - size));
  const mean = without.reduce((sum, one) => sum + one, 0) / count;
  const squares = without.reduce((sum, one) => sum + ((count - 1) * (mean - one)) ** 2, 0);
  const centre = (value * count) / (count + 2);
  const all = squares + count * (value - centre) ** 2 + 2 * (1 + centre ** 2);
  const half = studentQuantile(0.975, count - 1) * Math.sqrt(all / ((count + 1) * (count + 2)));
  return { value, low: Math.max(-1, centre - half), high: Math.min(1, centre + half) };
}

function groupOf(a, b, x, y) {
  if (ODD.includes(a) || ODD.includes(b) || x === null || y === null) return "odd";
  if (x === y) return x >= 1 ? "right" : "wrong";
  return x > y ? "ab" : "ba";
}

function names(isGraded) {
  const [more, less] = isGraded ? ["A better than B", "B better than A"] : ["A right, B wrong", "B right, A wrong"];
  return { ab: more, ba: less, wrong: isGraded ? "equal, not right" : "both wrong", odd: "unparsed, refused, failed, missing or not attempted", right: "both right", all: "all" };
}

// Both answers of every item that either model was asked about, and what a difference under a rule counts.
function compared(data, a, b, question, rule) {
  const pairs = [];
  data.index.ids.forEach((id, place) => {
    const [s, t] = [data.state(a, rule, question, place), data.state(b, rule, question, place)];
    if (s === "." && t === ".") return;
    const counts = (letter, value) => (value === null && rule === "paper" && "urt".includes(letter) ? 0 : value);
    const [x, y] = [counts(s, data.value(a, rule, question, place)), counts(t, data.value(b, rule, question, place))];
    pairs.push({ place, id, s, t, x, y, group: groupOf(s, t, x, y) });
  });
  return pairs;
}

function drawVerdict(pairs, clusters, rule, a, b) {
  const used = pairs.filter(({ x, y }) => x !== null && y !== null);
  const { value, low, high } = pairedDifference(used.map(({ place, x, y }) => [place, x, y]), clusters);
  const digits = (one) => `${one < 0 ? "−" : ""}${Math.abs(one).toFixed(3)}`;
  const excluded = pairs.length - used.length;
  const untried = pairs.filter(({ s, t }) => s === "a" || t === "a").length;
  const reasons = [untried ? `${number(untried)} not attempted by a baseline` : "", excluded > untried ? "an answer is missing, failed or not scored" : ""].filter(Boolean).join(", ");
  const about = `Rule ${rule}, ${number(used.length)} of ${number(pairs.length)} items${excluded ? `; ${number(excluded)} excluded: ${reasons}` : ""}${rule === "paper" ? "; unparsed and refused count as wrong" : ""}.`;
  if (value === null) {
    $("#verdict").replaceChildren(node("p", { class: "lead" }, node("b", {}, "No item has a scored answer of both.")), node("p", { class: "soft small" }, about));
    $("#bar").replaceChildren();
    return;
  }
  const lead = low === null ? "Too few items for an interval" : low > 0 ? `${a} is better` : high < 0 ? `${b} is better` : "The difference could be zero";
  $("#verdict").replaceChildren(
    node("p", { class: "lead" }, node("b", {}, `${visible(lead)}: `), "A − B = ", node("span", { class: "num", id: "difference" }, digits(value)), low === null ? "." : [", 95 % interval ", node("span", { class: "num", id: "interval" }, `${digits(low)} to ${digits(high)}`), "."]),
    node("p", { class: "soft small" }, about));
  const x = (one) => `${50 + 50 * one}%`;
  $("#bar").replaceChildren(svg("line", { class: "zero", x1: "50%", x2: "50%", y1: 0, y2: 34 }),
    ...(low === null ? [] : [svg("line", { class: "ci", x1: x(low), x2: x(high), y1: 17, y2: 17 })]), svg("circle", { class: "dot", cx: x(value), cy: 17, r: 6 }),
    svg("text", { x: 0, y: 50 }, "B better"), svg("text", { x: "50%", y: 50, "text-anchor": "middle" }, "0"), svg("text", { x: "100%", y: 50, "text-anchor": "end" }, "A better"));
}

async function pairCard(data, question, pair, a, b, rule, place, count, drawn) {
  const item = await itemAt(data, pair.place);
  const sides = await Promise.all([[a, "a"], [b, "b"]].map(async ([model, side]) => [model, side, pairsOf(await answersAt(data, model, pair.place), question.key, rule)]));
  const paths = drawn && item.boxes.length ? [["g", "G", sequence(item.gold[data.index.sequence]), -3], ...sides.map(([, side, found]) => [side === "a" ? "m" : "b", side.toUpperCase(), (found[0] && found[0][1] && found[0][1].parsed) || [], side === "a" ? 1.5 : 6])] : [];
  const gold = plain(item.gold[question.gold]);
  return node("article", { class: "pair", tabindex: "-1", id: pair.id, "aria-label": visible(data.index.titles[pair.place] || pair.id) },
    node("div", {}, picture(data, item, pair.id, (image, at) => (paths.length && at === 0 ? orders(item, at, paths) : [])),
      node("p", { class: "small" }, node("a", { href: itemPage(data.benchmark, pair.id, { question: question.key, back: "compare" }) }, visible(item.images.length ? data.index.titles[pair.place] || pair.id : pair.id)), node("span", { class: "soft" }, ` ${place + 1} of ${number(count)}`)),
      gold ? node("p", { class: "gold veiled-if" }, node("b", {}, "Gold "), visible(gold)) : null),
    ...sides.map(([model, side, found]) => node("div", { class: "stack" }, found.length ? found.map((one) => answerCard(data, question, item, pair.id, model, one, { side })) : node("p", { class: "soft" }, `${visible(model)} was not asked.`))));
}

async function show() {
  const benchmark = chosenBenchmark();
  const models = punchline.about.models[benchmark];
  const [a, b] = [address.get("a", models[0]), address.get("c", models[1] || models[0])];
  const others = [a, b].filter((model) => model.includes(":")); // RUN:MODEL
  const data = await load(benchmark, [...models, ...others]);
  for (const model of [a, b]) if (![...models, ...others].includes(model)) throw new Error(`${model} is not in this run's ${benchmark}, which has ${models.join(", ")}`);
  const question = data.question(address.get("q"));
  const rule = address.get("rule", punchline.about.rules[benchmark]);
  options($("#b"), benchmarks().map((name) => [name, punchline.about.titles[name]]), benchmark);
  options($("#q"), [...data.questions.values()].map(({ key, name }) => [key, name]), question.key);
  const choices = [...models, ...others].map((name) => [name, name]);
  options($("#a"), choices, a);
  options($("#c"), choices, b);
  for (const chip of $$("[data-rule]")) chip.setAttribute("aria-checked", String(chip.dataset.rule === rule));
  const pairs = compared(data, a, b, question.key, rule);
  drawVerdict(pairs, data.index.clusters, rule, a, b);
  const titles = names(pairs.some(({ x, y }) => [x, y].some((one) => one !== null && one > 0 && one < 1)));
  const group = address.get("g") || GROUPS.find((name) => pairs.some((pair) => pair.group === name)) || "all";
  const counted = (name) => (name === "all" ? pairs : pairs.filter((pair) => pair.group === name)).length;
  $("#groups").replaceChildren(...GROUPS.map((name) => node("button", { type: "button", class: "chip", "data-g": name, "aria-pressed": String(name === group) }, `${titles[name]} `, node("b", {}, number(counted(name))))));
  const isOrder = question.gold === data.index.sequence && Boolean(data.index.sequence);
  const drawn = isOrder && address.get("orders") === "1";
  $("#orders").hidden = !isOrder;
  $("#orders").setAttribute("aria-pressed", String(drawn));
  const list = pairs.filter((pair) => group === "all" || pair.group === group);
  $("#count").textContent = `${number(list.length)} of ${number(pairs.length)} items`;
  if (view !== location.hash) [view, shown] = [location.hash, PORTION];
  sessionStorage.setItem(`list compare.html${location.hash}`, JSON.stringify(list.map((pair) => pair.id)));
  const cards = await Promise.all(list.slice(0, shown).map((pair, place) => pairCard(data, question, pair, a, b, rule, place, list.length, drawn)));
  if (view !== location.hash) return;
  $("#list").replaceChildren(...(cards.length ? cards : [node("p", { class: "lead" }, "No item is in this group. ", node("button", { type: "button", "data-g": "all" }, `Show all ${number(pairs.length)}`))]));
  $("#more").hidden = list.length <= shown;
  $("#more").textContent = `Show ${PORTION} more (${number(Math.max(0, list.length - shown))} left)`;
}

const refresh = start(show);
const change = (values) => (address.set(values), refresh());
$("#more").addEventListener("click", () => ((shown += PORTION), refresh()));
document.addEventListener("change", ({ target }) => {
  if (target.id === "b") change({ b: target.value, q: "", a: "", c: "", g: "" });
  else if (["a", "c", "q"].includes(target.id)) change({ [target.id]: target.value });
  else if (target.id === "other" && target.value) change({ c: target.value.includes(":") ? target.value : `${target.value}:${runOf(address.get("c", $("#c").value))[1]}` });
});
document.addEventListener("click", async ({ target }) => {
  const group = target.closest("[data-g]");
  const rule = target.closest("[data-rule]");
  if (group) {
    await change({ g: group.dataset.g });
    $(`#groups [data-g=${group.dataset.g}]`).focus();
  } else if (rule) change({ rule: rule.dataset.rule });
  else if (target.id === "orders") change({ orders: address.get("orders") === "1" ? "" : "1" });
  else if (target.id === "swap") change({ a: $("#c").value, c: $("#a").value });
});
function step(by) {
  const all = $$(".pair");
  const next = all[Math.min(all.length - 1, Math.max(0, all.indexOf(document.activeElement.closest(".pair")) + by))];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "start" });
}
keys({ j: () => step(1), k: () => step(-1), x: () => $("#swap").click(), o: () => $("#orders").click() });
