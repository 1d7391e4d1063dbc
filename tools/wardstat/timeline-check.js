// SPDX-License-Identifier: GPL-2.0
// node timeline-check.js PAGE: runs the page's script on a canvas that only counts, and prints what
// it has made of the events
"use strict";
const page = require("fs").readFileSync(process.argv[2], "utf8");
const drawn = { rects: 0, texts: 0 };
const context = {
	clearRect() {}, fillRect() { drawn.rects++; }, fillText() { drawn.texts++; },
};
const handlers = {};
const element = {
	getContext: () => context, clientWidth: 1200, clientHeight: 800, style: {}, innerHTML: "",
	addEventListener: (name, f) => { handlers[name] = f; },
};
globalThis.document = { getElementById: () => element };
globalThis.addEventListener = () => {};
globalThis.innerWidth = 1500;
const scripts = [...page.matchAll(/<script>([^]*?)<\/script>/g)].map(m => m[1]).join("\n");
const m = (0, eval)(scripts + ";model(events)");
handlers.wheel({ preventDefault() {}, offsetX: 600, deltaY: -1 });
handlers.mousemove({ offsetX: 600, offsetY: 60, clientX: 600, clientY: 60 });
handlers.dblclick();
console.log(JSON.stringify({
	bars: m.bars.length, marks: m.marks.length, rows: m.rows.map(r => r.name),
	open: m.bars.filter(b => b.by === "open").length, drew: drawn.rects > 0 && drawn.texts > 0,
}));
