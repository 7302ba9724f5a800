(() => {
  const home = document.querySelector(".explorer");
  if (!home) return;
  const data = JSON.parse(document.getElementById("rows").textContent);
  const chunks = [...document.querySelectorAll("script.chunk")];
  const { columns, rows, places } = data;
  const PAGE = 50;
  const every = rows.map((_, i) => i);
  const searched = columns.flatMap((c, i) => (c.search ? [i] : []));
  const haystack = rows.map((row) => searched.map((i) => row[i] ?? "").join("\n").toLowerCase());
  const title = columns.findIndex((c) => c.kind === "title");
  const under = columns.findIndex((c) => c.kind === "under");
  // A column without a single value would only take room.
  const shown = columns.flatMap((c, i) => (["title", "under", "hidden"].includes(c.kind) || !rows.some((r) => r[i] !== null && r[i] !== "") ? [] : [i]));
  let found = every;
  let first = 0;

  const make = (name, properties = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
      if (key in element) element[key] = value; else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  };
  const count = new Intl.NumberFormat("en");
  const few = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
  const number = (value) => (Number.isInteger(value) || Math.abs(value) >= 100 ? count.format(Math.round(value)) : few.format(value));
  const written = (value, kind) => {
    if (value === null || value === "") return "";
    if (kind === "percent") return `${Math.round(100 * value)} %`;
    return typeof value === "number" ? number(value) : value;
  };
  const chip = (value, signs) => {
    const [kind, sign] = signs[value] || ["", ""];
    const made = make("span", { className: `chip ${kind}`.trim() });
    if (sign) made.append(make("span", { "aria-hidden": "true", textContent: sign }));
    made.append(value);
    return made;
  };

  const search = make("input", { type: "search", placeholder: "Search", "aria-label": `Search the ${data.of}`, autocomplete: "off", spellcheck: false });
  const filters = columns.flatMap((c, i) => {
    if (!c.values.length) return [];
    const select = make("select", { "aria-label": c.label }, make("option", { value: "", textContent: `${c.label}: all` }));
    for (const value of c.values) select.append(make("option", { value, textContent: value }));
    return [{ column: i, select }];
  });
  const sort = make("select", { "aria-label": "Order" }, make("option", { value: "", textContent: "Order: as asked" }));
  columns.forEach((c, i) => {
    if (!c.sort || !rows.some((r) => r[i] !== null && r[i] !== "")) return;
    const text = c.kind === "under";
    sort.append(make("option", { value: `${i} ${text ? 1 : -1}`, textContent: text ? `${c.label}, A to Z` : `${c.label}, most first` }));
    if (!text) sort.append(make("option", { value: `${i} 1`, textContent: `${c.label}, least first` }));
  });
  const reset = make("button", { type: "reset", textContent: "Clear" });
  const form = make("form", { className: "finder", role: "search" }, search, ...filters.map((f) => f.select), sort, reset);
  const status = make("p", { role: "status", className: "quiet count" });
  const body = make("tbody");
  const head = make("tr", {}, make("th", { scope: "col", textContent: columns[title].label }));
  for (const i of shown) {
    const cell = make("th", { scope: "col", textContent: columns[i].label });
    cell.className = [columns[i].wide ? "wide" : "", ["number", "percent"].includes(columns[i].kind) ? "n" : ""].join(" ").trim();
    head.append(cell);
  }
  const table = make("table", { className: "rows" }, make("caption", { textContent: `All ${data.of}` }), make("thead", {}, head), body);
  const turn = (words, label, by) => {
    const button = make("button", { type: "button", textContent: words, "aria-label": label });
    button.addEventListener("click", () => { first += by * PAGE; list(); home.scrollIntoView({ block: "start" }); });
    return button;
  };
  const back = turn("‹ Previous", "Previous page", -1);
  const on = turn("Next ›", "Next page", 1);
  const where = make("span", { className: "quiet" });
  const pager = make("nav", { className: "pager", "aria-label": "Pages" }, back, where, on);

  const line = (i) => {
    const row = rows[i];
    const open = make("button", { type: "button", className: "open", textContent: row[title] });
    open.dataset.row = i;
    open.dir = "auto";
    const heading = make("th", { scope: "row" }, open, make("small", { textContent: row[under] }));
    const tr = make("tr", {}, heading);
    for (const c of shown) {
      const { kind, signs, wide, label } = columns[c];
      const value = row[c];
      const cell = make("td");
      cell.className = [wide ? "wide" : "", kind === "chip" ? "" : kind === "text" ? "plain" : "n"].join(" ").trim();
      cell.dataset.label = label;
      if (kind === "chip") { if (value) cell.append(chip(value, signs)); } else cell.textContent = written(value, kind);
      tr.append(cell);
    }
    return tr;
  };
  const list = () => {
    first = Math.max(0, Math.min(first, Math.floor((found.length - 1) / PAGE) * PAGE));
    body.replaceChildren(...found.slice(first, first + PAGE).map(line));
    const many = found.length === rows.length ? `${count.format(rows.length)} ${data.of}` : `${count.format(found.length)} of ${count.format(rows.length)} ${data.of}`;
    status.textContent = found.length ? many : `None of the ${count.format(rows.length)} ${data.of} is like that.`;
    const pages = Math.ceil(found.length / PAGE);
    where.textContent = `page ${first / PAGE + 1} of ${pages}`;
    pager.hidden = pages < 2;
    back.disabled = first === 0;
    on.disabled = first + PAGE >= found.length;
    table.hidden = !found.length;
  };
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = filters.filter((f) => f.select.value);
    for (const f of filters) f.select.classList.toggle("on", Boolean(f.select.value));
    found = every.filter((i) => chosen.every((f) => rows[i][f.column] === f.select.value) && words.every((w) => haystack[i].includes(w)));
    if (sort.value) {
      const [column, way] = sort.value.split(" ").map(Number);
      const key = (i) => rows[i][column];
      const text = columns[column].kind === "under";
      found.sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        // What is not known comes last, whichever way.
        if (x === null || y === null) return (x === null) - (y === null) || a - b;
        return way * (text ? x.localeCompare(y) : x - y) || a - b;
      });
    }
    first = 0;
    list();
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  home.append(form, status, make("div", { className: "listed" }, table), pager);

  const unpacked = new Map();
  const unpack = async (chunk) => {
    if (!unpacked.has(chunk)) {
      if (unpacked.size > 3) unpacked.delete(unpacked.keys().next().value);
      const bytes = Uint8Array.from(atob(chunks[chunk].textContent), (c) => c.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      unpacked.set(chunk, JSON.parse(await new Response(stream).text()));
    }
    return unpacked.get(chunk);
  };
  const detail = make("div", { className: "detail" });
  const close = make("button", { type: "button", textContent: "Close" });
  const before = make("button", { type: "button", textContent: "‹", "aria-label": "Previous in the list" });
  const after = make("button", { type: "button", textContent: "›", "aria-label": "Next in the list" });
  const at = make("span", { className: "quiet" });
  const dialog = make("dialog", { "aria-label": "One question" }, make("div", { className: "tools" }, before, after, at, close), detail);
  document.body.append(dialog);
  let current = -1;
  const show = async (i) => {
    current = i;
    const position = found.indexOf(i);
    at.textContent = position < 0 ? "" : `${count.format(position + 1)} of ${count.format(found.length)}`;
    before.disabled = position <= 0;
    after.disabled = position < 0 || position + 1 >= found.length;
    if (!dialog.open) dialog.showModal();
    history.replaceState(null, "", `#q-${i}`);
    const place = places[i];
    let parts;
    if (place) {
      try {
        const html = (await unpack(place[0]))[place[1]];
        // Parsed as a document of its own: nothing in it could run, whatever it were.
        parts = [...new DOMParser().parseFromString(html, "text/html").body.childNodes];
      } catch {
        parts = [make("p", { className: "note bad", textContent: "These details cannot be unpacked by this browser." })];
      }
    } else {
      parts = [make("h1", { textContent: rows[i][title] }), make("p", { className: "note", textContent: "Its details are not in this file." })];
    }
    if (current !== i) return;
    detail.replaceChildren(...parts);
    dialog.scrollTop = 0;
  };
  const step = (by) => {
    const position = found.indexOf(current) + by;
    if (position < 0 || position >= found.length) return;
    if (position < first || position >= first + PAGE) { first = Math.floor(position / PAGE) * PAGE; list(); }
    show(found[position]);
  };
  before.addEventListener("click", () => step(-1));
  after.addEventListener("click", () => step(1));
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
    const link = event.target.closest('a[href^="#"]');
    if (!link) return;
    // The address names the question that is open; a jump inside it must not change that.
    event.preventDefault();
    detail.querySelector(`[id="${CSS.escape(link.getAttribute("href").slice(1))}"]`)?.scrollIntoView({ block: "start" });
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") step(-1);
    if (event.key === "ArrowRight") step(1);
  });
  dialog.addEventListener("close", () => {
    history.replaceState(null, "", "#questions");
    body.querySelector(`button[data-row="${current}"]`)?.focus();
  });
  body.addEventListener("click", (event) => {
    const tr = event.target.closest("tr");
    if (tr && !getSelection().toString()) show(Number(tr.querySelector("button").dataset.row));
  });
  filter();
  const asked = /^#q-(\d+)$/.exec(location.hash);
  if (asked && Number(asked[1]) < rows.length) show(Number(asked[1]));
})();
