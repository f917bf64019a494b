// A table: sort (best first on the first click), filter by kind and text, copy what is shown. It is readable without this script.
"use strict";
const body = $("#t tbody");
const columns = () => $$("#t thead th").map((head) => head.firstElementChild.firstChild.textContent.trim());
const rows = () => $$("tr", body).filter((row) => !row.hidden).map((row) => [...row.cells].map((cell) => cell.dataset.copy || cell.textContent.trim()));
const latex = (text) => text.replace(/\\/g, "\\textbackslash{}").replace(/[&%$#_{}]/g, "\\$&").replace(/–/g, "--");
const FORMATS = {
  latex: () => `\\begin{tabular}{l${"r".repeat(columns().length - 1)}}\n\\toprule\n${[columns(), null, ...rows()].map((row) => (row ? `${row.map(latex).join(" & ")} \\\\` : "\\midrule")).join("\n")}\n\\bottomrule\n\\end{tabular}\n`,
  markdown: () => [columns(), columns().map((_, at) => (at ? "--:" : "---")), ...rows()].map((row) => `| ${row.map((text) => text.replace(/\|/g, "\\|")).join(" | ")} |`).join("\n") + "\n",
  csv: () => [columns(), ...rows()].map((row) => row.map((text) => `"${text.replace(/^(?=[=+\-@])/, /^-?[\d.]/.test(text) ? "" : "'").replace(/"/g, '""')}"`).join(",")).join("\n") + "\n",
};
const value = (row, column) => {
  const cell = row.cells[column];
  const text = cell.dataset.v ?? cell.textContent.trim();
  return text === "" || text === "–" ? null : Number.isNaN(Number(text)) ? text : Number(text);
};

function show() {
  const hidden = address.list("kind");
  const text = address.get("text").toLowerCase();
  for (const chip of $$("[data-kind].chip")) chip.setAttribute("aria-pressed", String(!hidden.includes(chip.dataset.kind)));
  for (const row of $$("tr", body)) row.hidden = hidden.includes(row.dataset.kind) || !row.textContent.toLowerCase().includes(text);
  const [chosen, direction] = address.get("sort").split(":");
  $$("#t thead th").forEach((head, at) => {
    const sorted = chosen !== "" && Number(chosen) === at;
    head.toggleAttribute("aria-sort", sorted);
    if (sorted) head.setAttribute("aria-sort", direction === "up" ? "ascending" : "descending");
    $("span", head).textContent = sorted ? (direction === "up" ? " ↑" : " ↓") : "";
  });
  if (chosen !== "") {
    const sign = direction === "up" ? 1 : -1;
    const keyed = $$("tr", body).map((row) => [value(row, Number(chosen)), row]);
    keyed.sort(([a], [b]) => (a === null ? (b === null ? 0 : 1) : b === null ? -1 : sign * (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1)));
    body.append(...keyed.map(([, row]) => row));
  }
  $("#count").textContent = `${rows().length} of ${body.rows.length} rows`;
}

document.addEventListener("click", (event) => {
  const chip = event.target.closest("[data-kind].chip");
  const head = event.target.closest("#t thead button");
  const format = event.target.closest("[data-format]");
  if (chip) {
    const hidden = address.list("kind");
    const kind = chip.dataset.kind;
    address.set({ kind: (hidden.includes(kind) ? hidden.filter((one) => one !== kind) : [...hidden, kind]).join(",") });
    show();
  } else if (head) {
    const at = head.closest("th").cellIndex;
    const [chosen, direction] = address.get("sort").split(":");
    const first = head.dataset.low || typeof value(body.rows[0], at) === "string" ? "up" : "down";
    address.set({ sort: `${at}:${chosen !== "" && Number(chosen) === at ? (direction === "up" ? "down" : "up") : first}` });
    show();
  } else if (format) {
    const text = FORMATS[format.dataset.format]();
    $("#preview").hidden = false;
    $("#preview").textContent = text;
    copy(text, `Copied ${rows().length} rows as ${format.textContent}`);
  }
});
$("#search").value = address.get("text");
$("#search").addEventListener("input", (event) => (address.set({ text: event.target.value }), show()));
addEventListener("hashchange", show);
show();
