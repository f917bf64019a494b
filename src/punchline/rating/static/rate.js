// Keys: numbers choose, Enter (in a text Ctrl Enter) sends, arrows turn pages. Everything works without this file.
"use strict";
const LONG = 120; // words of a text that is folded

// A long text shows its start, and all of it when asked.
function fold(text) {
  const count = text.textContent.trim().split(/\s+/).length;
  if (count <= LONG) return;
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "more", textContent: `Show all ${count} words` });
  text.classList.add("folded");
  button.addEventListener("click", () => { text.classList.remove("folded"); button.remove(); });
  (text.closest("label") || text).after(button);
}

document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("vote");
  const go = document.getElementById("go");
  const content = () => form && new URLSearchParams(new FormData(form)).toString();
  let sent = false;
  const loaded = content();
  const questions = form ? [...form.querySelectorAll("fieldset")] : [];
  const open = () => questions.find((set) => !set.querySelector("input:checked"));
  let last = null; // the question that was answered by the last key
  document.querySelectorAll(".words").forEach(fold);

  document.addEventListener("keydown", (event) => {
    const skips = event.target.name === "reason" ? ".second" : "button:not(.second)";
    if (form && event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit(form.querySelector(`${skips}[type=submit]`));
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
  if (!form) return;
  // One click, one vote; and a choice is not dropped unasked.
  form.addEventListener("submit", (event) => {
    const drops = event.submitter && event.submitter.name === "cannot" && form.querySelector("input:checked");
    if (sent || (drops && !window.confirm("The answer that you chose will not be saved. Save without it?"))) event.preventDefault();
    else sent = true;
  });
  form.addEventListener("invalid", (event) => {
    event.preventDefault();
    const wrong = document.getElementById("wrong");
    const number = questions.indexOf(open()) + 1;
    wrong.textContent = questions.length > 1 ? `Nothing is saved yet: question ${number} has no answer.` : "Nothing is saved yet: choose an answer.";
    wrong.hidden = false;
    event.target.focus();
  }, true);
  window.addEventListener("beforeunload", (event) => { if (!sent && content() !== loaded) event.preventDefault(); });
  window.addEventListener("pageshow", () => { sent = false; });
});
