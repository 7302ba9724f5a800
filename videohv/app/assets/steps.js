// Each step of a question as it ends, in the words of the method.

import { by, clock, el, letter, span } from "./dom.js";
import * as player from "./player.js";

const MOST_STILLS = 10;
const STYLE = { VERIFIED: "good", PARTIAL: "fair", NOT_VERIFIED: "bad" };
const REFINED = {
  specificity: "the evidence did not decide: narrower hypotheses and a new clue",
  discriminability: "the hypotheses overlap: ones that differ more, and a new clue",
};

let round = 0;
let progress = null;
let windows = [];
let moments = [];
let video = "";
let bring = async () => {};

// `bringBack` opens the video of an id: another one may be shown by the time that somebody wants to see a moment.
export function begin(ofVideo, bringBack) {
  round = 0;
  progress = null;
  [windows, moments, video, bring] = [[], [], ofVideo, bringBack];
  by("steps").replaceChildren();
  mark();
}

const isShown = () => player.current()?.id === video;

export function mark() {
  if (isShown()) player.mark(windows, moments);
}

async function seek(at) {
  if (!isShown()) await bring(video);
  if (isShown()) player.seek(at);
}

export function add(step) {
  const value = step.value;
  if (step.kind === "progress") { count(value); return; }
  if (step.kind === "captions" && progress) {
    progress.row.remove();
    progress = null;
  }
  if (step.round && step.round !== round) {
    round = step.round;
    by("steps").append(el("h4", { cls: "round" }, `Round ${round}`));
  }
  (SHOWN[step.kind] || note)(value, step);
}

export function moment(at) {
  return el("button", { type: "button", cls: "t", onclick: () => seek(at), "aria-label": `Show ${clock(at)}` }, clock(at));
}

export function windowed(window) {
  return el("button", { type: "button", cls: "t", onclick: () => seek(window.start), "aria-label": `Show ${span(window)}` }, span(window));
}

export const status = (word) => el("span", { cls: `chip ${STYLE[word] || ""}` }, word.replace("_", " ").toLowerCase());

function line(what, ...content) {
  const made = el("div", { cls: "step" }, el("div", { cls: "what" }, what), el("div", {}, ...content));
  by("steps").append(made);
  return made;
}

const p = (text, cls) => el("p", { cls, dir: "auto" }, text);
const list = (items) => el("ul", {}, items.map((item) => el("li", { dir: "auto" }, item)));
const note = (value) => line("note", p(typeof value === "string" ? value : "", "quiet"));

function count({ step, done, total }) {
  if (progress?.step !== step) {
    const bar = el("progress", { max: total || 1, value: 0, "aria-label": step });
    progress = { step, bar, row: line(step, bar, p("", "quiet")) };
  }
  progress.bar.max = total || 1;
  progress.bar.value = done;
  progress.row.querySelector("p").textContent = `${done} of ${total}`;
}

function hypotheses(draft) {
  if (REFINED[draft.mode]) line("refined", p(REFINED[draft.mode]));
  line("hypotheses", list(draft.hypotheses.map((h) =>
    el("span", { cls: h.pruned ? "set-aside" : undefined }, `${letter(h.option_index)}. ${h.statement}${h.pruned ? " (set aside)" : ""}`))));
  if (!draft.clue) return;
  line("clue", p(draft.clue.observation, "clue"),
    list(draft.clue.predictions.map((one) => `If ${letter(one.option_index)}: ${one.expectation}`)));
}

function evidence(seen) {
  const times = [...new Set([...seen.observations.map((o) => o.time), ...seen.times])].slice(0, MOST_STILLS).sort((a, b) => a - b);
  moments.push(...seen.observations.map((o) => o.time));
  mark();
  const stills = el("div", { cls: "stills" }, times.map((at) =>
    el("button", { type: "button", onclick: () => seek(at), "aria-label": `Show ${clock(at)}` },
      el("img", { src: player.frame(at, video), alt: `Frame at ${clock(at)}`, loading: "lazy", width: 104 }), el("span", { cls: "t" }, clock(at)))));
  line("seen", el("p", { cls: "quiet" }, windowed(seen.window), ` (${seen.source})`),
    el("ul", { cls: "seen-list" }, seen.observations.map((o) => el("li", { dir: "auto" }, moment(o.time), " ", o.text))), stills);
}

function check(made) {
  line("status", el("p", {}, status(made.status)), p(made.rationale),
    list(made.verdicts.filter((v) => v.why).map((v) => `${letter(v.option_index)} ${v.support}: ${v.why}`)),
    made.wanted.length ? el("p", { cls: "quiet" }, "Still wanted: ", ...made.wanted.flatMap((w) => [windowed(w), " "])) : null);
}

const SHOWN = {
  captions: (value) => line("captions", p(`${value.count} by ${value.captioner}`)),
  speech: (value) => line("speech", p(`${value.count} lines from ${value.captioner}`)),
  summary: (value) => line("summary", el("ul", {}, value.map((s) => el("li", { dir: "auto" }, windowed(s.window), " ", s.text)))),
  options: (value) => line("options", list(value.options.map((text, i) => `${letter(i)}. ${text} (proposed)`))),
  hypotheses,
  windows: (value, step) => {
    windows.push(...value);
    mark();
    line(step.look > 1 ? `look ${step.look}` : "looking at", el("p", {}, value.flatMap((w) => [windowed(w), " "])));
  },
  evidence,
  check,
  answer: (value) => line("answer", p(value.reasoning)),
  degraded: (value) => line("went without", p(`${value.step}: ${value.why}`, "note fair")),
  warning: (value) => line("note", p(value, "quiet")),
};
