// Talks to the gateway: one place that knows its addresses, its key and how its streams are cut into events.

let secret = sessionStorage.getItem("cuecard-key") || "";

export function useKey(key) {
  secret = key.trim();
  sessionStorage.setItem("cuecard-key", secret);
}

async function ask(path, options = {}) {
  const headers = { "Content-Type": "application/json", ...(options.headers || {}) };
  if (secret) headers.Authorization = `Bearer ${secret}`;
  const answer = await fetch(path, { ...options, headers });
  if (!answer.ok) {
    const told = await answer.json().catch(() => ({}));
    const error = new Error(told.error?.message || `The gateway answered ${answer.status}.`);
    error.status = answer.status;
    throw error;
  }
  return answer;
}

const post = (path, body, more = {}) => ask(path, { method: "POST", body: JSON.stringify(body), ...more });

async function* events(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const parts = rest.split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const line = part.split("\n").find((one) => one.startsWith("data: "));
      if (line) yield line.slice(6);
    }
  }
}

export const models = async () => (await (await ask("/v1/models")).json()).data.map((one) => one.id);
export const logged = async () => (await (await ask("/v1/sessions")).json()).logged;
export const history = async (session) =>
  (await (await ask(`/v1/sessions/${encodeURIComponent(session)}/events`)).json()).data;

export async function* follow(session, signal) {
  const path = `/v1/sessions/${encodeURIComponent(session)}/events?live=true`;
  for await (const data of events(await ask(path, { signal }))) yield JSON.parse(data);
}

export const hear = (session, model, text) =>
  post(`/v1/sessions/${encodeURIComponent(session)}/hear`, { text, model });

// Words in, pieces of the reply out. Empty words have the agent open the call. Aborting is cutting in.
export async function* say(session, model, words, signal) {
  const messages = words ? [{ role: "user", content: words }] : [];
  const headers = { "X-Session-Id": session, "Idempotency-Key": crypto.randomUUID() };
  const answer = await post("/v1/chat/completions", { model, messages, stream: true }, { headers, signal });
  for await (const data of events(answer)) {
    if (data === "[DONE]") return;
    const chunk = JSON.parse(data);
    if (chunk.error) throw new Error(chunk.error.message);
    yield { text: chunk.choices[0]?.delta?.content || "", about: chunk.cuecard };
  }
}
