"use strict";
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const words = { "": ["System", "as the system"], light: ["Light", "light"], dark: ["Dark", "dark"] };
  const kept = {
    get() { try { return localStorage.getItem("videohv-theme") || ""; } catch { return ""; } },
    set(value) { try { localStorage.setItem("videohv-theme", value); } catch { /* A frame or a file may keep nothing. */ } },
  };
  const show = (theme) => {
    const known = theme in words ? theme : "";
    if (known) root.dataset.theme = known; else delete root.dataset.theme;
    button.textContent = words[known][0];
    button.setAttribute("aria-label", `Theme: ${words[known][1]}. Change it`);
  };
  show(kept.get());
  button.addEventListener("click", () => {
    const order = Object.keys(words);
    const next = order[(order.indexOf(root.dataset.theme || "") + 1) % order.length];
    kept.set(next);
    show(next);
  });
})();
