// Draws speech, thinking, fetches and stalls over time, so that one sees a fetch end before its question is asked.

import { words } from "./panels.js";

const NS = "http://www.w3.org/2000/svg";
const LEFT = 74, SCALE = 14, ROW = 15, TOP = 22;
const LANES = ["Caller", "Agent", "Waits", "Thinks"];

function draw(svg, tag, attributes, text) {
  const made = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text) made.textContent = text;
  svg.append(made);
  return made;
}

// Fetches that overlap lie in rows below each other; each takes the first row that is free, label included.
function packed(fetches, now) {
  const rows = [];
  for (const one of fetches) {
    const end = Math.max(one.to ?? now, one.used ?? 0, one.from + (words(one.dep).length * 6.4 + 10) / SCALE);
    let row = rows.findIndex((until) => until <= one.from);
    if (row < 0) row = rows.push(0) - 1;
    rows[row] = end + 0.4;
    one.row = row;
  }
  return rows.length;
}

export function showTimeline(call) {
  const holder = document.getElementById("timeline");
  const follows = holder.scrollLeft + holder.clientWidth >= holder.scrollWidth - 40;
  const x = (at) => LEFT + at * SCALE;
  const shown = call.fetches.filter((one) => one.how !== "withdrawn");
  const rows = packed(shown, call.now);
  const base = TOP + LANES.length * 22 + 6;
  const width = Math.max(holder.clientWidth - 2, x(call.now) + 60);
  const height = base + Math.max(3, rows) * ROW + 14;
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("width", width); svg.setAttribute("height", height); svg.setAttribute("aria-hidden", "true");
  const step = 5;
  for (let at = 0; x(at) < width; at += step) {
    draw(svg, "line", { x1: x(at), x2: x(at), y1: TOP - 4, y2: height, class: "lane" });
    draw(svg, "text", { x: x(at) + 3, y: 13 }, `${at} s`);
  }
  LANES.forEach((name, n) => draw(svg, "text", { x: 6, y: TOP + 14 + n * 22, class: "name" }, name));
  draw(svg, "text", { x: 6, y: base + 11, class: "name" }, "Fetches");
  const block = (kind, lane, from, to, told) => {
    const made = draw(svg, "rect", { x: x(from), y: TOP + 3 + lane * 22, width: Math.max(4, (to - from) * SCALE), height: 14, rx: 3, class: kind });
    draw(made, "title", {}, told);
  };
  for (const one of call.heard) {
    draw(svg, "line", { x1: x(one.at), x2: x(one.at), y1: TOP, y2: height, class: "turnline" });
    block("caller", 0, one.at - 0.35, one.at, `Caller, turn ${one.turn}: ${one.text}`);
  }
  for (const one of call.spoke) block("agent", 1, one.at, one.at + 0.5, `Agent, ${words(one.action)}: ${one.text}`);
  for (const one of call.needs) if (one.stall) block("stall", 2, one.at - one.stall, one.at, `Caller waits ${one.stall.toFixed(1)} s for ${words(one.dep)}: ${one.reason}`);
  for (const one of call.passes) block("think", 3, one.from, one.to, `Thinks, ${one.how}`);
  if (call.open !== null) block("think open", 3, call.open, call.now, "Thinks");
  for (const one of shown) {
    const y = base + one.row * ROW, end = one.to ?? call.now;
    const kind = `${one.ahead ? "ahead" : "live"}${one.to === null ? " open" : ""}`;
    const made = draw(svg, "rect", { x: x(one.from), y: y + 1, width: Math.max(3, (end - one.from) * SCALE), height: 4, rx: 2, class: kind });
    draw(made, "title", {}, `${words(one.dep)}: ${(end - one.from).toFixed(1)} s${one.why ? `, ${one.why}` : ""}`);
    draw(svg, "text", { x: x(one.from), y: y + 14 }, words(one.dep));
    if (one.used !== null) {
      draw(svg, "path", { d: `M${x(end)} ${y + 3}H${x(one.used)}`, class: "link" });
      draw(svg, "circle", { cx: x(one.used), cy: y + 3, r: 3.5, class: "hit" });
    }
  }
  const left = holder.scrollLeft;
  holder.replaceChildren(svg);
  holder.scrollLeft = follows ? holder.scrollWidth : left;
  tell(call);
}

function tell(call) {
  const ready = call.fetches.filter((one) => one.used !== null && one.to !== null && one.used - one.to > 0.05);
  const best = ready.at(-1);
  document.getElementById("insight").textContent = best
    ? `${words(best.dep)} was there ${(best.used - best.to).toFixed(1)} s before it was needed: the caller did not wait ${(best.to - best.from).toFixed(1)} s.`
    : "";
  const lines = [
    ...call.heard.map((one) => [one.at, `caller: ${one.text}`]),
    ...call.spoke.map((one) => [one.at, `agent, ${words(one.action)}: ${one.text}`]),
    ...call.needs.map((one) => [one.at, `${words(one.dep)}: ${one.how}${one.stall ? `, waited ${one.stall.toFixed(1)} s` : ""}; ${one.reason}`]),
    ...call.fetches.map((one) => [one.from, `${one.ahead ? "fetches ahead" : "fetches live"}: ${words(one.dep)}`]),
  ].sort((a, b) => a[0] - b[0]);
  document.getElementById("telling").replaceChildren(...lines.map(([at, text]) => {
    const item = document.createElement("li");
    item.textContent = `${at.toFixed(1)} s  ${text}`;
    return item;
  }));
}
