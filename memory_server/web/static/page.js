// Keyboard, and what others write meanwhile. Every page works without this file, but for the layout of the graph.
"use strict";

const root = document.body.dataset.root; // the path below which the pages are
const LOOK = 1500; // milliseconds between two looks whether the file has changed

const typing = (element) => element.matches("input:not([type=checkbox]), textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const box = document.querySelector("#q");
  if (event.key === "/" && !typing(event.target)) {
    event.preventDefault();
    if (box) box.select(); else location.href = `${root}/`;
    return;
  }
  if (event.key === "n" && !typing(event.target)) document.querySelector("a.add")?.click();
  if (event.key === "x" && !typing(event.target)) document.activeElement.closest(".hits > li")?.querySelector(".pick input")?.click();
  if (event.key === "o" && !typing(event.target)) event.target.closest("[data-rule]")?.querySelector('[data-key="o"]')?.click();
  const down = event.key === "ArrowDown", up = event.key === "ArrowUp";
  if (!down && !up || (typing(event.target) && event.target !== box)) return;
  const hits = [...document.querySelectorAll("#main a.hit, #main a.row")];
  const beside = document.activeElement.closest(".hits > li")?.querySelector("a.hit");
  const place = hits.indexOf(beside ?? document.activeElement);
  if (!hits.length || (up && place < 0)) return;
  event.preventDefault();
  if (up && place === 0 && box) box.focus();
  else hits[Math.min(hits.length - 1, Math.max(0, place + (down ? 1 : -1)))].focus();
});

// A button of the bar asks for the field that it needs, and for no other.
document.addEventListener("click", (event) => {
  const button = event.target.closest(".selected button");
  button?.form.querySelectorAll(".selected :is(input, select)").forEach((field) => { field.required = field.name === button.dataset.needs; });
});

// What was typed is searched already. When the field is left, browsers tell of a change: a list that came anew then would lose its ticks.
document.addEventListener("change", (event) => { if (event.target.id === "q") event.stopPropagation(); }, true);

document.querySelector("nav [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });

// The search keeps what was typed where a link leads back to it.
if (location.pathname === `${root}/` && !location.search && !("ontouchstart" in window)) document.querySelector("#q")?.focus();

let stamp = document.body.dataset.stamp;
let shown = null; // the page as the server gave it last

const page = async () => {
  const answer = await fetch(location.href);
  if (!answer.ok) return null;
  return new DOMParser().parseFromString(await answer.text(), "text/html");
};
const core = (from) => from.querySelector("#results") || from.querySelector("#main");
const written = () => core(document).querySelector(".pick :checked") || [...core(document).querySelectorAll("textarea, .tool input")].some((each) => each.value !== each.defaultValue);
const busy = () => written() || (typing(document.activeElement) && document.activeElement.id !== "q") || core(document).querySelector("details.tool[open]");
const plain = (element) => element.innerHTML.replace(/<input type="hidden"[^>]*>/g, "");

const renew = (found) => {
  const old = core(document), focused = document.activeElement?.getAttribute("href");
  const open = [...old.querySelectorAll("details")].map((each) => each.open);
  const fresh = document.adoptNode(core(found));
  fresh.querySelectorAll("details").forEach((each, place) => { each.open = each.open || !!open[place]; });
  old.replaceWith(fresh);
  htmx.process(fresh);
  if (focused) fresh.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  document.querySelector("#news").hidden = true;
  document.dispatchEvent(new Event("renewed"));
};

const look = async () => {
  if (document.hidden) return;
  try {
    const answer = await fetch(`${root}/stamp`);
    const now = answer.ok ? await answer.text() : stamp;
    if (now === stamp) return;
    const address = location.href, found = await page();
    if (location.href !== address || document.querySelector(".htmx-request")) return; // the reader looks for something else by now
    stamp = now;
    if (!found || plain(core(found)) === (shown ?? "")) return;
    shown = plain(core(found));
    if (busy()) document.querySelector("#news").hidden = false;
    else renew(found);
  } catch { /* the server has ended, or sleeps: the next look tells */ }
};
setInterval(look, LOOK);
document.addEventListener("visibilitychange", look);
document.querySelector("#news button").addEventListener("click", async () => { const found = await page(); if (found) renew(found); });
// A list that is replaced keeps the focus: an arrow key pressed before the answer came is not lost.
let held = null;
document.addEventListener("htmx:beforeSwap", () => { held = document.activeElement?.matches("a.hit, a.row") ? document.activeElement.getAttribute("href") : null; });
document.addEventListener("htmx:afterSwap", () => {
  shown = null;
  if (held) (document.querySelector(`#main a[href="${CSS.escape(held)}"]`) ?? document.querySelector("#main a.hit, #main a.row"))?.focus();
  held = null;
});
