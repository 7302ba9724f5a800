// The video that is asked about: played where the browser can, else shown as single frames; and its timeline.

import { link } from "./api.js";
import { by, clock, svg } from "./dom.js";

let now = null;
let windows = [];
let moments = [];

const TALL = 48;
const STEPS = [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200];
const MOST_TICKS = 7;

export const current = () => now;
export const frame = (at, id = now.id) => `${link("videos", id, "frame")}?at=${at.toFixed(2)}`;

export function open(video) {
  now = video;
  mark([], []);
  by("choose").hidden = Boolean(video);
  by("player").hidden = !video;
  const player = by("video");
  player.removeAttribute("src");
  player.load();
  if (!video) return;
  by("video-name").textContent = `${video.name} · ${clock(video.duration)} · ${video.width}×${video.height}`;
  player.hidden = false;
  by("still").hidden = true;
  player.src = link("videos", video.id, "file");
  draw();
}

// What the browser cannot play, the decoder of this machine can still show.
function asStills() {
  if (!now || by("video").hidden) return;
  by("video").hidden = true;
  const still = by("still");
  still.hidden = false;
  still.alt = `Frame of ${now.name}`;
  still.src = frame(0);
}

export function seek(at) {
  if (!now) return;
  const player = by("video");
  if (player.hidden) by("still").src = frame(at);
  else { player.currentTime = at; player.pause(); }
  move(at);
  if (window.matchMedia("(max-width: 64rem)").matches) by("player").scrollIntoView({ block: "nearest" });
}

export function mark(looked, seen) {
  windows = looked;
  moments = seen;
  if (now) draw();
}

const share = (at) => 100 * Math.min(1, at / Math.max(now.duration, 0.1));

function draw() {
  // In per cent, so that the lettering keeps its size.
  const length = Math.max(now.duration, 0.1), x = (t) => `${share(t)}%`;
  const picture = svg("svg", { height: TALL, class: "timeline", role: "group", "aria-label": "Timeline of the video" });
  picture.append(svg("rect", { x: 0, y: 8, width: "100%", height: 22, rx: 4, class: "segment" }));
  for (const one of windows) {
    picture.append(go(one.start, `Look at ${clock(one.start)} to ${clock(one.end)}`,
      svg("rect", { x: x(one.start), y: 12, width: `${Math.max(0.8, share(one.end) - share(one.start))}%`, height: 14, rx: 3, class: "relied" })));
  }
  for (const at of moments) picture.append(go(at, `Evidence at ${clock(at)}`, svg("circle", { cx: x(at), cy: 19, r: 5.5, class: "seen" })));
  const step = STEPS.find((s) => length / s <= MOST_TICKS) || length / MOST_TICKS;
  for (let at = 0; at <= length; at += step) {
    const anchor = at === 0 ? "start" : at > 0.94 * length ? "end" : "middle";
    const text = svg("text", { x: x(at), y: TALL - 3, "text-anchor": anchor });
    text.textContent = clock(at);
    picture.append(text);
  }
  picture.append(svg("line", { id: "playhead", x1: 0, x2: 0, y1: 2, y2: 35, class: "playhead" }));
  picture.addEventListener("click", (e) => {
    if (e.target.closest("a")) return;
    const box = picture.getBoundingClientRect();
    seek(Math.max(0, Math.min(1, (e.clientX - box.left) / box.width)) * length);
  });
  by("timeline").replaceChildren(picture);
  move(by("video").currentTime || 0);
}

function go(at, label, shape) {
  const made = svg("a", { href: "#watch", "aria-label": label }, shape);
  made.addEventListener("click", (e) => { e.preventDefault(); seek(at); });
  return made;
}

function move(at) {
  const head = by("playhead");
  if (!head || !now) return;
  for (const end of ["x1", "x2"]) head.setAttribute(end, `${share(at)}%`);
}

by("video").addEventListener("timeupdate", () => move(by("video").currentTime));
by("video").addEventListener("error", asStills);
by("video").addEventListener("loadedmetadata", () => { if (!by("video").videoWidth) asStills(); });
