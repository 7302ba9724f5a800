// The HTTP API of this page, and the two streams that it opens.

const ROOT = "/api/v1";

function newName() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

// One a tab: closing the tab ends its questions, loading it anew does not.
export const client = sessionStorage.getItem("client") || newName();
sessionStorage.setItem("client", client);

export async function call(path, { method = "GET", json } = {}) {
  const given = { method };
  if (json !== undefined) Object.assign(given, { body: JSON.stringify(json), headers: { "Content-Type": "application/json" } });
  let reply;
  try {
    reply = await fetch(ROOT + path, given);
  } catch {
    throw new Error("the command that serves this page does not answer: is it still running?");
  }
  const body = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new Error(body.error || `the request failed (${reply.status})`);
  return body;
}

// Not fetch: it cannot tell how much of an upload is through.
export function upload(file, progress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", `${ROOT}/uploads/${encodeURIComponent(file.name)}`);
    request.upload.addEventListener("progress", (e) => e.lengthComputable && progress(e.loaded / e.total));
    request.addEventListener("error", () => reject(new Error("the upload broke off")));
    request.addEventListener("load", () => {
      let body = {};
      try { body = JSON.parse(request.responseText); } catch { /* said below */ }
      if (request.status === 201) resolve(body);
      else reject(new Error(body.error || `the upload failed (${request.status})`));
    });
    request.send(file);
  });
}

export const link = (...parts) => ROOT + "/" + parts.map((part) => part.split("/").map(encodeURIComponent).join("/")).join("/");

// Steps of a job as they come. The browser connects again by itself and says which step it had last.
export function follow(id, { onStep, onState, onEnd, onLost }) {
  const source = new EventSource(link("jobs", id, "events"));
  source.addEventListener("step", (e) => onStep(JSON.parse(e.data)));
  source.addEventListener("state", (e) => onState(JSON.parse(e.data)));
  source.addEventListener("end", (e) => { source.close(); onEnd(JSON.parse(e.data)); });
  source.addEventListener("error", () => onLost(source.readyState === EventSource.CLOSED));
  return () => source.close();
}

export function stayPresent() {
  return new EventSource(`${ROOT}/events?client=${encodeURIComponent(client)}`);
}
