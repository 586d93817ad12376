// The console: a live call, or one from the log replayed at speed. Both are the same events through the same panels.

import * as calls from "./calls.js";
import { Call, showPanels, words } from "./panels.js";
import { showTimeline } from "./timeline.js";

const $ = (id) => document.getElementById(id);
let call = new Call(), session = "", speaking = null, following = null, replaying = null, drawn = 0;

// --- showing ---------------------------------------------------------------------------------------------------------

function show() {
  if (drawn) return;
  drawn = requestAnimationFrame(() => { drawn = 0; showPanels(call); showTimeline(call); });
}

function bubble(who, text) {
  $("log").querySelector(".empty")?.remove();
  const made = document.createElement("div");
  made.className = `turn ${who}`;
  const name = document.createElement("b");
  name.textContent = who === "caller" ? "You" : "Agent";
  const said = document.createElement("span");
  said.textContent = text;
  made.append(name, said);
  $("log").append(made);
  $("log").scrollTop = $("log").scrollHeight;
  return made;
}

function aside(made, waited, ready) {
  if (!waited && !ready) return;
  const told = document.createElement("small");
  told.className = waited ? "waited" : "ready";
  told.textContent = waited ? `waited ${waited.toFixed(1)} s for data` : `${ready} ready before it was asked for`;
  made.append(told);
  $("log").scrollTop = $("log").scrollHeight;
}

function notice(text, bad = false) {
  $("notice").textContent = text;
  $("notice").classList.toggle("bad", bad);
}

function trouble(error) {
  if (error.name === "AbortError") return;
  notice(error.message, true);
  if (error.status === 401) $("keys").showModal();
}

function emptied(text) {
  const told = document.createElement("p");
  told.className = "empty";
  told.textContent = text;
  $("log").replaceChildren(told);
}

// --- a live call -----------------------------------------------------------------------------------------------------

function reset() {
  following?.abort(); speaking?.abort(); stopReplay();
  call = new Call(); following = null; speaking = null;
  show();
}

async function begin() {
  reset();
  session = `console-${crypto.randomUUID().slice(0, 8)}`;
  $("pick").value = ""; $("name").textContent = session;
  $("say").hidden = false; $("replay").hidden = true; $("words").disabled = false;
  emptied("The agent is about to open the call.");
  notice("");
  await turn("");
  follow();
  $("words").focus();
}

async function follow() {
  following = new AbortController();
  const mine = call;
  try {
    for await (const event of calls.follow(session, following.signal)) {
      if (mine !== call) return;
      call.apply(event);
      show();
    }
  } catch (error) { trouble(error); }
}

async function turn(said) {
  speaking?.abort();
  const mine = speaking = new AbortController();
  if (said) bubble("caller", said);
  const made = bubble("agent", "");
  made.classList.add("speaking");
  $("stop").hidden = false;
  try {
    for await (const { text, about } of calls.say(session, $("model").value, said, mine.signal)) {
      made.querySelector("span").textContent += text;
      $("log").scrollTop = $("log").scrollHeight;
      if (about) ended(about, made);
    }
  } catch (error) {
    if (!made.querySelector("span").textContent) made.remove();
    trouble(error);
  }
  made.classList.remove("speaking");
  if (speaking === mine) { speaking = null; $("stop").hidden = true; }
}

function ended(about, made) {
  const ready = call.needs.filter((need) => need.turn === about.turn && need.how === "ready").map((need) => words(need.dep));
  aside(made, about.stall_s, [...new Set(ready)].join(", "));
  if (!about.ended) return;
  notice(`The call has ended: ${words(about.outcome) || "closed"}. Start another with New call.`);
  $("words").disabled = true;
  list();
}

let typed = 0;
function partial() {
  clearTimeout(typed);
  const text = $("words").value.trim();
  if (text) typed = setTimeout(() => calls.hear(session, $("model").value, text).catch(trouble), 180);
}

// --- replay ----------------------------------------------------------------------------------------------------------

async function list() {
  const chosen = $("pick").value;
  const rows = await calls.logged();
  $("pick").replaceChildren(new Option("live", ""), ...rows.map((one) => new Option(`${one.id}, ${new Date(1000 * one.at).toLocaleString([], { dateStyle: "short", timeStyle: "short" })}`, one.id)));
  $("pick").value = chosen;
}

async function open(name) {
  reset();
  const events = await calls.history(name);
  session = name; $("name").textContent = `${name}, replayed`;
  $("say").hidden = true; $("replay").hidden = false;
  const first = events[0].at_s;
  replaying = { events, at: 0, done: 0, length: events.at(-1).at_s - first, first, timer: 0 };
  $("seek").max = String(Math.ceil(10 * replaying.length));
  notice(`${events.length} events in ${replaying.length.toFixed(0)} s. Play to see them as they happened.`);
  seek(0);
}

function seek(at) {
  if (at < replaying.at) { call = new Call(); replaying.done = 0; emptied("Nothing has been said yet."); }
  if (at === 0 && !replaying.done) emptied("Nothing has been said yet.");
  replaying.at = at;
  while (replaying.done < replaying.events.length && replaying.events[replaying.done].at_s - replaying.first <= at) {
    const event = replaying.events[replaying.done++];
    call.apply(event);
    if (event.type === "Heard" && event.final) bubble("caller", event.text);
    if (event.type === "Spoke" && event.heard === null) {
      const needs = call.needs.filter((need) => need.turn === event.turn);
      const ready = needs.filter((need) => need.how === "ready").map((need) => words(need.dep));
      aside(bubble("agent", event.text), Math.max(0, ...needs.map((need) => need.stall)), [...new Set(ready)].join(", "));
    }
  }
  call.now = Math.max(call.now, at);
  $("seek").value = String(Math.round(10 * at));
  $("clock").textContent = `${at.toFixed(1)} s`;
  show();
}

function stopReplay() {
  if (replaying) clearInterval(replaying.timer);
  replaying = null;
  pressed(false);
}

function pressed(on) {
  $("play").setAttribute("aria-pressed", String(on));
  $("play").textContent = on ? "Pause" : "Play";
}

function play() {
  if (replaying.timer) { clearInterval(replaying.timer); replaying.timer = 0; pressed(false); return; }
  if (replaying.at >= replaying.length) seek(0);
  let before = performance.now();
  pressed(true);
  replaying.timer = setInterval(() => {
    const now = performance.now();
    seek(Math.min(replaying.length, replaying.at + (now - before) / 1000 * Number($("speed").value)));
    before = now;
    if (replaying.at >= replaying.length) { clearInterval(replaying.timer); replaying.timer = 0; pressed(false); }
  }, 80);
}

// --- wiring ----------------------------------------------------------------------------------------------------------

$("say").addEventListener("submit", (event) => {
  event.preventDefault();
  const said = $("words").value.trim();
  if (!said || !session) return;
  clearTimeout(typed);
  $("words").value = "";
  notice("");
  turn(said);
});
$("words").addEventListener("input", partial);
$("stop").addEventListener("click", () => { speaking?.abort(); $("stop").hidden = true; $("words").focus(); });
$("new").addEventListener("click", () => begin().catch(trouble));
$("model").addEventListener("change", () => begin().catch(trouble));
$("pick").addEventListener("change", () => ($("pick").value ? open($("pick").value) : begin()).catch(trouble));
$("play").addEventListener("click", play);
$("seek").addEventListener("input", () => seek(Number($("seek").value) / 10));
$("key").addEventListener("click", () => $("keys").showModal());
$("keys").addEventListener("close", () => {
  if ($("keys").returnValue === "yes") { calls.useKey($("secret").value); $("secret").value = ""; start(); }
});
$("theme").addEventListener("click", () => {
  const dark = document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.documentElement.dataset.theme = dark === "dark" ? "light" : "dark";
});
for (const tab of document.querySelectorAll(".tabs button")) {
  tab.addEventListener("click", () => {
    document.body.dataset.tab = tab.dataset.to;
    for (const other of document.querySelectorAll(".tabs button")) other.setAttribute("aria-pressed", String(other === tab));
    show();
  });
}
addEventListener("resize", show);

async function start() {
  emptied("Choose a procedure and start a call: you are the caller.");
  showPanels(call);
  showTimeline(call);
  try {
    const names = await calls.models();
    $("model").replaceChildren(...names.map((name) => new Option(words(name), name)));
    if (names.includes("insurance_renewal")) $("model").value = "insurance_renewal";
    await list();
    notice("");
  } catch (error) { trouble(error); }
}
start();
