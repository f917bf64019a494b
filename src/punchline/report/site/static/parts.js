// What the pages of items share. Whatever came from a model, a file or an address goes into the page as text only.
"use strict";
const STATES = { m: "missing", f: "failed", r: "refused", u: "unread" };

function node(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === false || value === null || value === undefined) continue;
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// Text that neither turns the line round nor hides: what steers a page is shown by its code.
function visible(text) {
  return String(text).replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  );
}

const part = (...names) => names.map(encodeURIComponent).join("/");
const itemsOf = (benchmark, name) => punchline.get(`items/${benchmark}/${name}`, part("items", benchmark, `${name}.js`));
const answersOf = (benchmark, model, name) =>
  punchline.get(`answers/${benchmark}/${model}/${name}`, part("answers", benchmark, model, `${name}.js`));
const itemPage = (benchmark, id) => `${punchline.base}item.html#${part(benchmark, id)}`;

const ORDER = ["own", "open", "all"];
const held = (mode) => punchline.local || ORDER.indexOf(mode) <= ORDER.indexOf(punchline.shows);

// How an answer is told at a glance: class and word of one character of the wall.
function glance(code) {
  if (code in STATES) return [`state ${STATES[code]}`, STATES[code]];
  if (code === "." || code === undefined) return ["none", "not asked"];
  if (code === "-") return ["none", "not scored"];
  const value = Number(code);
  return [value >= 9 ? "right" : value <= 0 ? "wrong" : "partly", value >= 9 ? "right" : value <= 0 ? "wrong" : `${Math.round((value / 9) * 100)} %`];
}

function fail(error) {
  document.getElementById("problem").hidden = false;
  document.getElementById("problem").textContent = `This page's data could not be read: ${error.message}`;
}

function options(select, values, chosen) {
  select.replaceChildren(
    ...values.map(([value, text]) => node("option", { value, selected: value === chosen }, visible(text)))
  );
}
