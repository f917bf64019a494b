// Keys: numbers choose, Enter (in a text Ctrl Enter) sends, arrows turn pages. Everything works without this file.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("vote");
  const go = document.getElementById("go");
  let sent = false;
  const questions = form ? [...form.querySelectorAll("fieldset")] : [];
  const open = () => questions.find((set) => !set.querySelector("input:checked"));
  let last = null; // the question that was answered by the last key

  document.addEventListener("keydown", (event) => {
    if (form && event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.tagName === "TEXTAREA") return;
    const link = { ArrowLeft: "back", ArrowRight: "on" }[event.key];
    if (link) {
      const at = document.getElementById(link);
      if (at) { event.preventDefault(); at.click(); }
    } else if (/^[1-9]$/.test(event.key) && form) {
      const set = event.target.closest("fieldset") || open() || (questions.length === 1 ? questions[0] : last);
      const input = set && set.querySelector(`input[data-key="${event.key}"]`);
      if (input) { input.checked = true; last = set; if (event.target.closest("fieldset")) input.focus(); }
    } else if (event.key === "Enter" && !["A", "BUTTON", "SUMMARY"].includes(event.target.tagName)) {
      event.preventDefault();
      if (form) form.requestSubmit();
      else if (go) go.click();
    }
  });
  // One click, one vote.
  if (form) form.addEventListener("submit", (event) => { if (sent) event.preventDefault(); sent = true; });
  window.addEventListener("pageshow", () => { sent = false; });
});
