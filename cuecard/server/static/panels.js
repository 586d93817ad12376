// What the slow brain believes, expects and has ready, told from the events of a call and from nothing else.

export const words = (name) => (name || "").replaceAll("_", " ");
export const percent = (p) => `${Math.round(100 * (p || 0))} %`;
const make = (tag, text = "", kind = "") => {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  if (kind) made.className = kind;
  return made;
};

// The state of a call, grown event by event: the same for a live call and for a replayed one.
export class Call {
  constructor() {
    this.start = null; this.now = 0; this.belief = null; this.forecast = []; this.utterances = [];
    this.fetches = []; this.needs = []; this.heard = []; this.spoke = []; this.passes = []; this.open = null;
    this.picked = new Set(); this.ended = null;
  }

  apply(event) {
    if (this.start === null) this.start = event.at_s;
    const at = event.at_s - this.start;
    this.now = Math.max(this.now, at);
    const last = (dep, key) => this.fetches.findLast((one) => one.dep === dep && one.key === key);
    switch (event.type) {
      case "Heard": if (event.final) { this.heard.push({ at, turn: event.turn, text: event.text }); this.picked = new Set(); } break;
      case "Picked": this.picked = new Set(event.items.map((item) => item.id)); break;
      case "Spoke": if (event.heard === null) this.spoke.push({ at, turn: event.turn, text: event.text, action: event.action, from: this.heard.findLast((h) => h.turn === event.turn)?.at ?? at }); break;
      case "Believed": this.belief = event; this.open = at; break;
      case "Forecasted": this.forecast = event.actions; this.utterances = event.utterances; break;
      case "PassEnded": if (this.open !== null) this.passes.push({ from: this.open, to: at, how: event.how }); this.open = null; break;
      case "FetchStarted": this.fetches.push({ dep: event.dep, key: event.key, from: at, to: null, ahead: event.background, how: "", why: event.reason, action: event.for_action, offset: event.for_offset, origin: event.origin, used: null }); break;
      case "FetchEnded": { const one = last(event.dep, event.key); if (one && one.to === null) { one.to = at; one.how = event.how; } break; }
      case "NeedResolved": {
        const stall = event.stall_s > 0.0005 ? event.stall_s : 0;
        this.needs.push({ at, turn: event.turn, dep: event.dep, how: event.how, stall, latency: event.latency_s, reason: event.reason });
        if (event.how === "ready" || event.how === "joined") { const one = last(event.dep, event.fetched_as || event.key); if (one?.ahead) one.used = one.used ?? at; }
        break;
      }
      case "SessionEnded": this.ended = event.outcome || "ended"; break;
    }
  }

  get waited() {
    let total = 0, until = -1;
    for (const need of [...this.needs].sort((a, b) => a.at - a.stall - (b.at - b.stall))) {
      total += Math.max(0, need.at - Math.max(need.at - need.stall, until));
      until = Math.max(until, need.at);
    }
    return total;
  }

  get hidden() {
    return this.needs.filter((n) => n.how === "ready" || n.how === "joined").reduce((sum, n) => sum + Math.max(0, n.latency - n.stall), 0);
  }
}

function bar(p) {
  const made = make("div", "", "bar");
  const filled = make("i");
  filled.style.width = `${Math.round(100 * p)}%`;
  made.append(filled);
  return made;
}

function showBelief(call) {
  const rows = call.belief
    ? [["Caller", call.belief.cohort, call.belief.p_cohort], ["Mood, if so", call.belief.mood, call.belief.p_mood / (call.belief.p_cohort || 1)], ["Just did", call.belief.state, call.belief.p_state]]
    : [["Caller", "", 0], ["Mood, if so", "", 0], ["Just did", "", 0]];
  document.getElementById("belief").replaceChildren(...rows.map(([title, name, p]) => {
    const row = make("div");
    const value = make("dd", words(name) || "nothing yet");
    if (name) value.append(make("span", percent(p)));
    row.append(make("dt", title), value, bar(p));
    return row;
  }));
}

function showForecast(call) {
  const columns = [0, 1, 2].map((n) => {
    const column = make("div");
    const list = make("ul");
    const likely = Object.entries(call.forecast[n] || {}).sort((a, b) => b[1] - a[1]).slice(0, 3);
    for (const [action, p] of likely) {
      const item = make("li");
      const line = make("span");
      const name = make("em", words(action));
      name.title = words(action);
      line.append(name, make("b", percent(p)));
      item.append(line, bar(p));
      list.append(item);
    }
    if (!likely.length) list.append(make("li", "–"));
    column.append(make("h4", ["Next turn", "In two turns", "In three"][n]), list);
    return column;
  });
  const said = call.utterances.filter((one) => one.text).sort((a, b) => b.p - a.p)[0];
  if (said) columns.push(make("p", `Caller may say: “${said.text}” (${percent(said.p)})`, "said"));
  document.getElementById("forecast").replaceChildren(...columns);
}

function argument(key) {
  try { return Object.values(JSON.parse(key)).join(" · "); } catch { return key; }
}

function showPool(call) {
  const rows = [...call.fetches].reverse().filter((one) => one.how !== "withdrawn").slice(0, 30).map((one) => {
    const failed = one.to !== null && one.how !== "landed";
    const state = one.used !== null ? "✓ used" : one.to === null ? "… fetching" : failed ? `✕ ${words(one.how)}` : one.ahead ? "ready" : "fetched live";
    const item = make("li", "", one.used !== null ? "used" : one.to === null ? "flying" : failed ? "failed" : "");
    const title = make("strong", words(one.dep));
    title.append(make("span", state));
    const why = one.action ? `for ${words(one.action)}${one.offset ? ` in ${one.offset}` : ""}` : words(one.origin);
    const detail = make("small", [argument(one.key), why].filter(Boolean).join(" — "));
    detail.title = one.why || detail.textContent;
    item.append(title, detail);
    return item;
  });
  const ready = call.fetches.filter((one) => one.how === "landed").length;
  document.getElementById("pool-count").textContent = rows.length ? `${ready} landed` : "";
  document.getElementById("pool").replaceChildren(...(rows.length ? rows : [make("li", "Nothing has been fetched yet.")]));
}

function showFigures(call) {
  const set = (id, text) => { document.getElementById(id).textContent = text; };
  set("waited", `${call.waited.toFixed(1)} s`);
  document.getElementById("waited").classList.toggle("some", call.waited > 0);
  set("hidden", `${call.hidden.toFixed(1)} s`);
  const ahead = call.fetches.filter((one) => one.ahead);
  set("fetched", String(ahead.length));
  set("used", String(ahead.filter((one) => one.used !== null).length));
}

export function showPanels(call) {
  showBelief(call); showForecast(call); showPool(call); showFigures(call);
}
