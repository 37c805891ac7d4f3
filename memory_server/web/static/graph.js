// Lays out the nodes, which are links in the page, so that none covers another; and draws the edges behind them.
"use strict";

const layOut = () => {
  const plane = document.querySelector(".plane"), room = plane?.querySelector(".room");
  if (!room) return;
  room.querySelectorAll("svg, .over-line").forEach((each) => each.remove());
  const nodes = [...room.querySelectorAll(".node")].map((element) => ({ id: element.dataset.id, element, w: element.offsetWidth, h: element.offsetHeight }));
  const known = new Map(nodes.map((each) => [each.id, each]));
  const links = [...document.querySelectorAll("#around tr[data-source]")].map((row) => ({ source: row.dataset.source, target: row.dataset.target, label: row.dataset.label })).filter((each) => known.has(each.source) && known.has(each.target));
  nodes[0].fx = nodes[0].fy = 0;
  d3.forceSimulation(nodes)
    .force("link", d3.forceLink(links).id((each) => each.id).distance(nodes.length > 12 ? 230 : 260).strength(0.5))
    .force("charge", d3.forceManyBody().strength(-900)).force("x", d3.forceX().strength(0.05)).force("y", d3.forceY().strength(0.1))
    .force("collide", d3.forceCollide((each) => Math.hypot(each.w, each.h) / 2 + 8).strength(0.6)).stop().tick(300);
  part(nodes);
  const left = Math.min(...nodes.map((each) => each.x - each.w / 2)) - 24, top = Math.min(...nodes.map((each) => each.y - each.h / 2)) - 24;
  const width = Math.max(...nodes.map((each) => each.x + each.w / 2)) - left + 24, height = Math.max(...nodes.map((each) => each.y + each.h / 2)) - top + 24;
  const scale = Math.min(1, Math.max(0.8, Math.min(plane.clientWidth / width, plane.clientHeight / height)));
  const dx = Math.max(0, (plane.clientWidth / scale - width) / 2) - left, dy = Math.max(0, (plane.clientHeight / scale - height) / 2) - top;
  Object.assign(room.style, { width: `${Math.max(width, plane.clientWidth / scale)}px`, height: `${Math.max(height, plane.clientHeight / scale)}px`, transform: `scale(${scale})` });
  for (const each of nodes) { each.x += dx; each.y += dy; Object.assign(each.element.style, { left: `${each.x - each.w / 2}px`, top: `${each.y - each.h / 2}px` }); }
  draw(room, links, nodes);
  plane.scrollTo(nodes[0].x * scale - plane.clientWidth / 2, nodes[0].y * scale - plane.clientHeight / 2);
};

// Pushes apart what still overlaps, along the shorter way, until nothing does.
const part = (nodes) => {
  for (let round = 0, moved = true; moved && round < 500; round++) {
    moved = false;
    nodes.forEach((one, place) => nodes.slice(place + 1).forEach((other) => {
      const x = (one.w + other.w) / 2 + 78 - Math.abs(one.x - other.x), y = (one.h + other.h) / 2 + 34 - Math.abs(one.y - other.y);
      if (x <= 0.01 || y <= 0.01) return;
      moved = true;
      const axis = x < y ? "x" : "y", push = (x < y ? x : y) / 2 * (one[axis] < other[axis] ? -1 : 1);
      one[axis] += push; other[axis] -= push;
    }));
  }
};

const draw = (room, links, nodes) => {
  const make = (name, values) => { const made = document.createElementNS("http://www.w3.org/2000/svg", name); for (const [key, value] of Object.entries(values)) made.setAttribute(key, value); return made; };
  const svg = make("svg", { class: "lines", "aria-hidden": "true" });
  const marker = make("marker", { id: "arrow", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" });
  marker.append(make("path", { d: "M0 0 10 5 0 10z" }));
  svg.append(marker);
  for (const { source, target, label } of links) {
    const from = border(source, target), to = border(target, source);
    svg.append(make("path", { d: `M${from}L${to}`, "marker-end": "url(#arrow)" }));
    const text = document.createElement("span");
    text.className = "over-line"; text.textContent = label;
    room.prepend(text);
    const [x, y] = clear(from, to, text.offsetWidth / 2, nodes);
    Object.assign(text.style, { left: `${x}px`, top: `${y}px` });
  }
  room.prepend(svg);
};

// Where on a line a label of this half width covers no node; the middle where it does everywhere.
const clear = (from, to, half, nodes) => {
  const places = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8].map((share) => [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])]);
  return places.find(([x, y]) => nodes.every((each) => Math.abs(x - each.x) > each.w / 2 + half || Math.abs(y - each.y) > each.h / 2 + 9)) ?? places[0];
};

// Where the line to the middle of another node leaves this one.
const border = (from, to) => {
  const x = to.x - from.x, y = to.y - from.y, share = Math.min(from.w / 2 / Math.abs(x || 1e-9), from.h / 2 / Math.abs(y || 1e-9));
  return [from.x + x * share, from.y + y * share];
};

layOut();
document.addEventListener("htmx:afterSettle", layOut);
document.addEventListener("renewed", layOut);
addEventListener("resize", layOut);
