// The page: a video, a question, its steps as they happen, and what was asked before.

import { call, client, follow, link, stayPresent, upload } from "./api.js";
import { by, el, letter, show } from "./dom.js";
import * as player from "./player.js";
import * as steps from "./steps.js";

const MOST_OPTIONS = 26;
const ENDS = { answered: "good", abstained: "fair", failed: "bad", cancelled: "fair" };
let running = null;
let typed = false;
let stopFollowing = () => {};

// Video ---------------------------------------------------------------------------------------------------------------

async function take(opening) {
  show("video-error", "");
  try {
    const video = await opening;
    player.open(video);
    steps.mark();
    show("video-error", video.warnings.join("\n"));
  } catch (error) {
    show("video-error", error.message);
  }
}

async function takeFile(file) {
  if (!file) return;
  const bar = by("uploading");
  bar.hidden = false;
  await take(upload(file, (share) => { bar.value = share; }));
  bar.hidden = true;
  by("file").value = "";
}

async function fillVideos() {
  const { videos, more } = await call("/videos");
  const groups = new Map();
  for (const one of videos) groups.set(one.folder, [...(groups.get(one.folder) || []), one]);
  by("listed").replaceChildren(el("option", { value: "" }, videos.length ? "Choose…" : "none found"),
    ...[...groups].map(([folder, found]) => el("optgroup", { label: folder }, found.map((v) => el("option", { value: v.id }, v.name)))));
  if (more) by("listed").append(el("option", { disabled: true }, "… and more: give the path"));
}

const drop = by("drop");
for (const kind of ["dragover", "dragenter"]) drop.addEventListener(kind, (e) => { e.preventDefault(); drop.classList.add("over-it"); });
for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over-it"));
drop.addEventListener("drop", (e) => { e.preventDefault(); takeFile(e.dataTransfer.files[0]); });
// One that misses the box would take the place of the page, and with it all that was typed.
for (const kind of ["dragover", "drop"]) addEventListener(kind, (e) => { if (e.dataTransfer?.types.includes("Files")) e.preventDefault(); });
by("file").addEventListener("change", () => takeFile(by("file").files[0]));
by("listed").addEventListener("change", () => by("listed").value && take(call(`/videos/${by("listed").value}`)));
by("path-form").addEventListener("submit", (e) => { e.preventDefault(); take(call("/videos", { method: "POST", json: { path: by("path").value } })); });
by("another").addEventListener("click", () => { player.open(null); by("listed").value = ""; fillVideos().catch(() => {}); });

// Question ------------------------------------------------------------------------------------------------------------

const fields = () => [...by("options").querySelectorAll("input")];

function addOption(text = "") {
  if (fields().length >= MOST_OPTIONS) return null;
  const input = el("input", { type: "text", maxlength: 4000, dir: "auto" });
  input.value = text;
  input.addEventListener("paste", (e) => {
    const lines = e.clipboardData.getData("text").split(/\r?\n/).map((one) => one.trim()).filter(Boolean);
    if (lines.length < 2) return;
    e.preventDefault();
    input.value = lines[0];
    lines.slice(1).forEach((one) => addOption(one));
  });
  input.addEventListener("keydown", (e) => {
    if (e.key !== "Enter") return;
    e.preventDefault();
    const next = fields()[fields().indexOf(input) + 1] || addOption();
    if (next) next.focus();
  });
  const row = el("li", {}, el("span", { cls: "letter", "aria-hidden": "true" }), input,
    el("button", { type: "button", onclick: () => { row.remove(); number(); typed = true; } }, "✕"));
  by("options").append(row);
  number();
  return input;
}

function number() {
  [...by("options").children].forEach((row, i) => {
    row.firstChild.textContent = letter(i);
    row.querySelector("input").setAttribute("aria-label", `Option ${letter(i)}`);
    row.querySelector("button").setAttribute("aria-label", `Remove option ${letter(i)}`);
  });
  by("add").disabled = fields().length >= MOST_OPTIONS;
}

by("add").addEventListener("click", () => addOption()?.focus());

async function ask() {
  show("ask-error", "");
  const video = player.current();
  if (!video) { show("ask-error", "Choose a video first."); return; }
  const options = fields().map((input) => input.value.trim()).filter(Boolean);
  if (options.length === 1) { show("ask-error", "Give two options or more, or none at all."); return; }
  const settings = {};
  for (const name of ["rounds", "looks"]) if (by(name).value && !by(name).disabled) settings[name] = Number(by(name).value);
  const json = {
    video: video.id, question: by("question").value, options: options.length ? options : null, method: by("method").value || "videohv",
    program: by("program").value, captioner: by("captioner").value || "auto", abstain: by("abstain").checked, settings, client,
  };
  by("go").disabled = true;
  try {
    watch(await call("/jobs", { method: "POST", json }));
    typed = false;
  } catch (error) {
    show("ask-error", error.message);
    by("go").disabled = false;
  }
}

by("ask-form").addEventListener("input", () => { typed = true; });
// What is wrong in there cannot be shown while it is folded away, and nothing at all would happen.
by("more").addEventListener("invalid", () => { by("more").open = true; }, true);
by("ask-form").addEventListener("submit", (e) => { e.preventDefault(); ask(); });
by("stop").addEventListener("click", () => running && call(`/jobs/${running}`, { method: "DELETE" }).catch((error) => show("ask-error", error.message)));

// The running question, and its answer --------------------------------------------------------------------------------

const bringBack = (id) => take(call(`/videos/${id}`));

function begin(job) {
  steps.begin(job.video.id, bringBack);
  by("asked").replaceChildren(el("p", { dir: "auto" }, job.question),
    ...job.options.map((text, i) => el("p", { cls: "paper", dir: "auto" }, `${letter(i)}. ${text}`)));
  by("verdict").replaceChildren();
  by("found").hidden = false;
}

function watch(job) {
  stopFollowing();
  running = job.id;
  sessionStorage.setItem("job", job.id);
  begin(job);
  by("stop").hidden = false;
  tell(job);
  stopFollowing = follow(job.id, {
    onStep: steps.add,
    onState: tell,
    onEnd: ended,
    onLost: (forGood) => {
      by("state").textContent = forGood ? "The connection is lost." : "Connecting again…";
      if (forGood) { by("go").disabled = false; by("stop").hidden = true; }
    },
  });
}

function tell(job) {
  by("state").textContent = job.state === "queued" ? `Waiting: number ${job.place} in the queue` : job.state === "running" ? "Working…" : "";
}

function ended(job) {
  running = null;
  sessionStorage.removeItem("job");
  by("go").disabled = false;
  by("stop").hidden = true;
  by("state").textContent = "";
  by("verdict").replaceChildren(verdict(job));
  fillRecent().catch(() => {});
}

function verdict(job) {
  const given = job.answer, named = given && given.index !== null;
  const sure = named && given.confidence !== null ? el("small", {}, `confidence ${Math.round(100 * given.confidence)} %`) : null;
  const head = named
    ? el("p", { cls: "answer", id: "answer-text", dir: "auto" }, el("b", {}, letter(given.index)), el("span", {}, given.text, " ", sure))
    : el("p", { cls: "answer none", id: "answer-text" }, job.state === "abstained" ? "Declined: the evidence does not decide." : job.state === "cancelled" ? "Stopped." : "No answer.");
  const chips = el("p", { cls: "chips" }, el("span", { cls: `chip ${ENDS[job.state] || ""}` }, job.outcome ? job.outcome.replace("_", " ") : job.state),
    job.status ? steps.status(job.status) : null, el("span", { cls: "chip" }, `${Math.round(job.seconds)} s`));
  const parts = [el("div", { cls: "verdict" }, head, chips)];
  if (given && given.reasoning) parts.push(el("p", { cls: "why", dir: "auto" }, given.reasoning));
  for (const conflict of given ? given.conflicts : []) parts.push(el("p", { cls: "note fair", dir: "auto" }, conflict));
  if (job.error) parts.push(el("p", { cls: "note bad", dir: "auto" }, job.error));
  if (job.outcome) {
    parts.push(el("p", { cls: "chips" },
      el("a", { cls: "button", href: `${link("jobs", job.id, "report")}?inline=1`, target: "_blank", rel: "noopener" }, "Open the report"),
      el("a", { cls: "button", href: link("jobs", job.id, "report"), download: true }, "Save the report"),
      el("a", { cls: "button", href: link("jobs", job.id, "trace"), download: true }, "Save the trace")));
  }
  return el("div", {}, parts);
}

// Earlier -------------------------------------------------------------------------------------------------------------

async function reopen(job) {
  if (!typed) {
    by("question").value = job.question;
    by("options").replaceChildren();
    job.options.forEach((text) => addOption(text));
  }
  if (player.current()?.id !== job.video.id) await bringBack(job.video.id);
  try {
    const now = await call(`/jobs/${job.id}`);
    // Of an earlier run of the command there is the answer, and no steps.
    if (now.events || !(now.state in ENDS)) watch(now);
    else { stopFollowing(); begin(now); ended(now); }
  } catch (error) {
    show("ask-error", error.message);
  }
}

async function fillRecent() {
  const { jobs } = await call("/jobs");
  by("recent").replaceChildren(...jobs.slice(0, 30).map((job) => el("li", {},
    el("button", { type: "button", cls: "said", dir: "auto", onclick: () => reopen(job) }, job.question),
    el("span", { cls: "quiet", dir: "auto" }, job.video.name),
    el("span", { cls: `chip ${ENDS[job.state] || "here"}` }, job.answer?.text ?? (job.outcome || job.state).replace("_", " ")))));
  if (!jobs.length) by("recent").append(el("li", { cls: "quiet" }, "Nothing has been asked yet."));
}

async function fillRuns() {
  const { runs } = await call("/runs");
  by("runs-box").hidden = !runs.length;
  by("runs").replaceChildren(...runs.map((name) => el("li", {}, el("a", { href: `${link("runs", name, "report")}?inline=1`, target: "_blank", rel: "noopener" }, name))));
}

// Which steps each model is asked by; the one with the most steps first.
function byModel(models) {
  const found = new Map();
  for (const [role, model] of Object.entries(models)) found.set(model, [...(found.get(model) || []), role]);
  return [...found].sort((a, b) => b[1].length - a[1].length);
}

// A page that is loaded again goes on with what it was watching.
async function goOn() {
  const id = sessionStorage.getItem("job");
  if (!id) return;
  try {
    await reopen(await call(`/jobs/${id}`));
  } catch {
    sessionStorage.removeItem("job");
  }
}

async function fillChoices() {
  const about = await call("/about");
  const choose = (id, names) => by(id).append(...names.map((name) => el("option", { value: name }, name)));
  choose("method", about.methods);
  by("method").value = "videohv";
  choose("program", about.programs);
  choose("captioner", about.captioners);
  by("drop").hidden = !about.uploads;
  by("models").replaceChildren(...byModel(about.models).map(([model, roles], i) => el("li", {}, model, i ? el("small", {}, ` ${roles.join(", ")}`) : "")));
  const fit = () => { for (const name of ["rounds", "looks"]) by(name).disabled = !about.settings[by("method").value].includes(name); };
  by("method").addEventListener("change", fit);
  fit();
}

addOption();
addOption();
stayPresent();
for (const fill of [fillChoices, fillVideos, fillRecent, fillRuns, goOn]) fill().catch((error) => show("video-error", error.message));
