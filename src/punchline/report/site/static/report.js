// What every page has: the color scheme, and data that come as classic scripts which call punchline.put, so that pages work from a folder.
"use strict";
var punchline = {
  base: "",
  shows: "open", // which pictures this report holds
  local: false, // whether pictures come from the machine that serves the page
  about: {}, // what the run is made of
  parts: new Map(),
  waiting: new Map(),
  mode(name, local) {
    punchline.shows = name;
    punchline.local = Boolean(local);
  },
  // Path of another run's report from this one's root.
  reportOf(run) {
    if (!run || run === punchline.about.run) return "";
    const results = punchline.about.run === "default" ? "../" : "../../../";
    return `${results}${run === "default" ? "" : `runs/${encodeURIComponent(run)}/`}report/`;
  },
  // Called by data files: a key, and its JSON, gzipped, in base64.
  put(name, packed) {
    const { run } = document.currentScript.dataset; // of another run's report
    const key = run ? `${run}:${name}` : name;
    const text = atob(packed);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at); // a call for each takes twice the time
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const part = new Response(stream).json();
    punchline.parts.set(key, part);
    punchline.waiting.get(key)?.(part);
  },
  // A part of the data by its key; `file` is its path from the report's root. `run`: of the report of another run.
  get(name, file, run = "") {
    const key = run ? `${run}:${name}` : name;
    if (punchline.parts.has(key)) return punchline.parts.get(key);
    const part = new Promise((resolve, reject) => {
      punchline.waiting.set(key, resolve);
      const script = document.createElement("script");
      if (run) script.dataset.run = run;
      script.src = punchline.base + punchline.reportOf(run) + file;
      const again = `snakemake --cores all report${run ? ` --config run=${run}` : ""}`;
      script.onerror = () => reject(new Error(`${run ? `run ${run}: ` : ""}${file} cannot be read: build the report with ${again}`));
      document.head.append(script);
    });
    punchline.parts.set(key, part);
    return part;
  },
};
punchline.base = document.body.dataset.base;

// The header's button: as the system has it, light, or dark.
(() => {
  const button = document.getElementById("theme");
  const next = { auto: "light", light: "dark", dark: "auto" };
  const set = (name) => {
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    button.firstChild.textContent = { auto: "◐ Auto", light: "○ Light", dark: "● Dark" }[name];
    try {
      localStorage.setItem("theme", name);
    } catch {
      // a browser that stores nothing
    }
  };
  let kept = "auto";
  try {
    kept = localStorage.getItem("theme") || "auto";
  } catch {
    // a browser that stores nothing
  }
  set(kept in next ? kept : "auto");
  button.addEventListener("click", () => set(next[document.documentElement.dataset.theme || "auto"]));
})();
