// Lays out the nodes, which are links in the page, so that none covers another, and draws the edges; none runs behind a node.
"use strict";

const layOut = () => {
  const plane = document.querySelector(".plane"), room = plane?.querySelector(".room");
  if (!room) return;
  room.querySelectorAll("svg, .over-line").forEach((each) => each.remove());
  const nodes = [...room.querySelectorAll(".node")].map((element) => { element.style.width = ""; return { id: element.dataset.id, element, w: element.offsetWidth, h: element.offsetHeight }; });
  const known = new Map(nodes.map((each) => [each.id, each]));
  const links = [...document.querySelectorAll("#around tr[data-source]")].map((row) => ({ source: row.dataset.source, target: row.dataset.target, label: row.dataset.label })).filter((each) => known.has(each.source) && known.has(each.target));
  const wide = plane.clientWidth, children = tree(nodes, links);
  if (wide > 640) spread(nodes, links, known, children, wide);
  if (wide <= 640 || hidden(nodes, links, known)) outline(room, nodes, links, known, children, wide);
  else draw(room, nodes, links, known);
};

// What is reached through each node on the shortest way from the first.
const tree = (nodes, links) => {
  const reached = new Set([nodes[0].id]), children = new Map(nodes.map((each) => [each.id, []]));
  for (let ring = [nodes[0].id]; ring.length;) {
    ring = ring.flatMap((id) => links.flatMap(({ source, target }) => source === id ? [target] : target === id ? [source] : []).filter((other) => !reached.has(other) && reached.add(other) && children.get(id).push(other)));
  }
  return children;
};

// True if a line would run behind a node that it does not lead to.
const hidden = (nodes, links, known) => links.some(({ source, target }) => nodes.some((each) => {
  const from = known.get(source), to = known.get(target);
  return each !== from && each !== to && [...Array(99).keys()].some((part) => Math.abs(from.x + (part + 1) / 100 * (to.x - from.x) - each.x) < each.w / 2 && Math.abs(from.y + (part + 1) / 100 * (to.y - from.y) - each.y) < each.h / 2);
}));

// The first node on top, and below it in columns what is reached through it, further in with each step away.
const outline = (room, nodes, links, known, children, wide) => {
  const edge = 12, step = 22, gap = 26, svg = lines(room), number = Math.max(1, Math.floor(wide / 320)), width = (wide - edge) / number;
  const put = (node, left, top, room) => { Object.assign(node.element.style, { left: `${left}px`, top: `${top}px`, width: `${room}px` }); Object.assign(node, { left, top, h: node.element.offsetHeight }); };
  const join = (node, child, x) => {
    const ends = [node.id, child.id], between = links.filter((each) => ends.includes(each.source) && ends.includes(each.target));
    const arrow = between[0].source === node.id ? "marker-end" : "marker-start";
    svg.append(make("path", { d: `M${x},${node.top + node.h}V${child.top + child.h / 2}H${child.left}`, [arrow]: "url(#arrow)" }));
    const text = over(room, between.map((each) => each.label).join(", "));
    Object.assign(text.style, { left: `${child.left + text.offsetWidth / 2}px`, top: `${child.top - gap / 2}px` });
  };
  const place = (id, node, column, depth) => {
    const child = known.get(id), left = column.left + depth * step;
    put(child, left, column.top, column.left + width - left - edge);
    column.top += child.h + gap;
    join(node, child, left - step + 10);
    for (const next of children.get(id)) place(next, child, column, depth + 1);
  };
  put(nodes[0], edge, edge, wide - 2 * edge);
  const columns = [...Array(number).keys()].map((place) => ({ left: edge + place * width, top: edge + nodes[0].h + gap }));
  for (const id of children.get(nodes[0].id)) place(id, nodes[0], columns.reduce((short, each) => each.top < short.top ? each : short), 1);
  room.style.height = `${Math.max(...columns.map((each) => each.top))}px`;
};

// Lets forces spread them.
const spread = (nodes, links, known, children, wide) => {
  const half = wide / 2;
  const within = () => { for (const each of nodes) { const most = Math.max(0, half - each.w / 2 - 14); each.x = Math.max(-most, Math.min(most, each.x)); } };
  fan(nodes, known, children);
  d3.forceSimulation(nodes)
    .force("link", d3.forceLink(links.map((each) => ({ ...each }))).id((each) => each.id).distance(nodes.length > 12 ? 230 : 260).strength(0.5))
    .force("charge", d3.forceManyBody().strength(-900)).force("x", d3.forceX().strength(0.05)).force("y", d3.forceY().strength(0.1))
    .force("within", within).force("collide", d3.forceCollide((each) => Math.hypot(each.w, each.h) / 2 + 8).strength(0.6)).stop().tick(300);
  within(); // a step of the simulation moves once more after its forces
  part(nodes, half, [112, 38]);
  const top = Math.min(...nodes.map((each) => each.y - each.h / 2)) - 20, height = Math.max(...nodes.map((each) => each.y + each.h / 2)) - top + 20;
  nodes[0].element.parentElement.style.height = `${Math.max(height, 320)}px`;
  for (const each of nodes) { each.x += half; each.y -= top - Math.max(0, (320 - height) / 2); Object.assign(each.element.style, { left: `${each.x - each.w / 2}px`, top: `${each.y - each.h / 2}px` }); }
};

// Begins with each node beyond the one through which it is reached, so that few lines cross: the middle stays where it is.
const fan = (nodes, known, children) => {
  const leaves = (id) => Math.max(1, children.get(id).reduce((sum, child) => sum + leaves(child), 0));
  const place = (id, from, to, away) => {
    const middle = (from + to) / 2;
    Object.assign(known.get(id), { x: 1.6 * away * Math.cos(middle), y: away * Math.sin(middle) });
    let start = from;
    for (const child of children.get(id)) { const end = start + (to - from) * leaves(child) / leaves(id); place(child, start, end, away + 200); start = end; }
  };
  place(nodes[0].id, 0, 2 * Math.PI, 0);
  nodes[0].fx = nodes[0].fy = 0;
};

// Pushes apart what still overlaps, along the shorter way that stays within the width, until nothing does.
const part = (nodes, half, gap) => {
  const fits = (each, by) => Math.abs(each.x + by) <= half - each.w / 2 - 14;
  for (let round = 0, moved = true; moved && round < 2000; round++) {
    moved = false;
    nodes.forEach((one, place) => nodes.slice(place + 1).forEach((other) => {
      const x = (one.w + other.w) / 2 + gap[0] - Math.abs(one.x - other.x), y = (one.h + other.h) / 2 + gap[1] - Math.abs(one.y - other.y);
      if (x <= 0.01 || y <= 0.01) return;
      moved = true;
      const side = x / 2 * (one.x < other.x ? -1 : 1), level = x < y && fits(one, side) && fits(other, -side);
      const axis = level ? "x" : "y", push = level ? side : y / 2 * (one.y < other.y ? -1 : 1);
      one[axis] += push; other[axis] -= push;
    }));
  }
};

const make = (name, values) => { const made = document.createElementNS("http://www.w3.org/2000/svg", name); for (const [key, value] of Object.entries(values)) made.setAttribute(key, value); return made; };

const lines = (room) => {
  const svg = make("svg", { class: "lines", "aria-hidden": "true" });
  const marker = make("marker", { id: "arrow", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" });
  marker.append(make("path", { d: "M0 0 10 5 0 10z" }));
  svg.append(marker);
  room.prepend(svg);
  return svg;
};

const over = (room, label) => {
  const text = document.createElement("span");
  text.className = "over-line"; text.textContent = label;
  room.querySelector("svg").after(text);
  return text;
};

const draw = (room, nodes, links, known) => {
  const svg = lines(room), labels = [];
  for (const { source, target, label } of links) {
    const from = border(known.get(source), known.get(target)), to = border(known.get(target), known.get(source));
    svg.append(make("path", { d: `M${from}L${to}`, "marker-end": "url(#arrow)" }));
    const text = over(room, label), half = text.offsetWidth / 2, [x, y] = clear(from, to, half, nodes, labels);
    labels.push({ x, y, half });
    Object.assign(text.style, { left: `${x}px`, top: `${y}px` });
  }
};

// Where on a line a label of this half width covers no node and no other label; the middle where it does everywhere.
const clear = (from, to, half, nodes, labels) => {
  const places = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8].map((share) => [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])]);
  return places.find(([x, y]) => nodes.every((each) => Math.abs(x - each.x) > each.w / 2 + half || Math.abs(y - each.y) > each.h / 2 + 9)
    && labels.every((each) => Math.abs(x - each.x) > each.half + half || Math.abs(y - each.y) > 16)) ?? places[0];
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
