// What every page has: data come as classic scripts that call punchline.put, so that pages work from a folder too.
"use strict";
var punchline = {
  base: "",
  shows: "open", // which pictures this report holds
  local: false, // whether pictures come from the machine that serves the page
  about: {}, // what the run is made of
  compared: {}, // paired differences, by benchmark
  parts: new Map(),
  waiting: new Map(),
  mode(name, local) {
    punchline.shows = name;
    punchline.local = Boolean(local);
  },
  // Called by data files: a key, and its JSON, gzipped, in base64.
  put(key, packed) {
    const text = atob(packed);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at); // a call for each takes twice the time
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const part = new Response(stream).json();
    punchline.parts.set(key, part);
    const told = punchline.waiting.get(key);
    if (told) told(part);
  },
  // A part of the data by its key; `file` is its path from the report's root.
  get(key, file) {
    if (punchline.parts.has(key)) return punchline.parts.get(key);
    const part = new Promise((resolve, reject) => {
      punchline.waiting.set(key, resolve);
      const script = document.createElement("script");
      script.src = punchline.base + file;
      script.onerror = () => reject(new Error(`${file} is not there`));
      document.head.append(script);
    });
    punchline.parts.set(key, part);
    return part;
  },
};
punchline.base = document.body.dataset.base;
