// Tables that sort by a click on a head, and filter by words and by kind.
"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  for (const head of table.tHead.rows[0].cells) {
    const cells = [...table.tBodies[0].rows].map((row) => row.cells[head.cellIndex]);
    if (cells.some((cell) => cell.classList.contains("number"))) head.dataset.sortMethod = "number";
  }
  new Tablesort(table);
}
const search = document.getElementById("search");
if (search) {
  const rows = [...document.querySelector("table.sortable").tBodies[0].rows];
  const kinds = [...document.querySelectorAll("input[name=kind]")];
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = new Set(kinds.filter((box) => box.checked).map((box) => box.value));
    let count = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !shown.has(row.dataset.kind) || !words.every((word) => text.includes(word));
      count += !row.hidden;
    }
    document.getElementById("count").textContent = `${count} of ${rows.length} rows`;
  };
  search.form.addEventListener("input", filter);
  search.form.addEventListener("submit", (event) => event.preventDefault());
  filter();
}
