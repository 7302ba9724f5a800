(() => {
  const player = document.querySelector(".player");
  if (!player) return;
  const video = player.querySelector("video");
  const choose = player.querySelector("label");
  const said = player.querySelector("[role=status]");
  const line = document.querySelector(".playhead");
  const length = Number(document.querySelector(".timeline")?.dataset.length) || 0;
  let wanted = null;

  const missing = (words) => { video.hidden = true; choose.hidden = false; said.textContent = words; };
  const seek = (time) => {
    if (video.hidden || !video.src) {
      wanted = time;
      choose.classList.add("asked");
      said.textContent = "Open the video file first; it then goes to this moment.";
      player.scrollIntoView({ block: "center" });
      choose.querySelector("input").focus({ preventScroll: true });
      return;
    }
    video.currentTime = time;
    const box = video.getBoundingClientRect();
    if (box.bottom < 60 || box.top > innerHeight - 60) video.scrollIntoView({ block: "center" });
  };

  if (player.dataset.src) {
    video.addEventListener("error", () => missing("The video is not beside this file any more, or this browser cannot play it."));
    video.src = player.dataset.src;
    video.hidden = false;
    choose.hidden = true;
  }
  choose.querySelector("input").addEventListener("change", (event) => {
    const file = event.target.files[0];
    if (!file) return;
    video.src = URL.createObjectURL(file);
    video.hidden = false;
    choose.classList.remove("asked");
    said.textContent = "";
    if (wanted !== null) { video.currentTime = wanted; wanted = null; }
  });
  document.addEventListener("click", (event) => {
    const at = event.target.closest("[data-seek]");
    if (!at) return;
    event.preventDefault();
    seek(Number(at.dataset.seek));
  });
  video.addEventListener("timeupdate", () => {
    if (!line || !length) return;
    const x = `${Math.min(100, (100 * video.currentTime) / length)}%`;
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
    line.setAttribute("visibility", "visible");
  });
})();
