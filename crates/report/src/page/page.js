"use strict";
(() => {
  const page = JSON.parse(document.getElementById("data").textContent);
  const find = (id) => document.getElementById(id);
  const rows = [...document.querySelectorAll(".row")];
  const branches = [...document.querySelectorAll(".branch")];
  const panel = find("panel"), story = find("history"), title = find("panel-title"), search = find("search");
  const around = 3;
  const overridden = find("overridden"), shares = [...document.querySelectorAll(".strip button")];
  let chosen = null, only = null;

  const make = (name, kind, ...inside) => {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    made.append(...inside.filter((one) => one !== null && one !== undefined));
    return made;
  };
  const text = (row) => [page.rows[row].path.join(":"), page.rows[row].value, page.rows[row].origin.text].join("\n").toLowerCase();
  const texts = rows.map((row) => text(Number(row.dataset.row)));

  // The filter: rows that have the text, and all that they stand in.
  const filter = () => {
    const wanted = search.value.trim().toLowerCase();
    let count = 0;
    const isMeant = (row) => (only === null || row.layer === only) && (!overridden.checked || row.past.length > 0);
    const filtered = Boolean(wanted) || only !== null || overridden.checked;
    document.querySelector(".tree").classList.toggle("filtered", filtered);
    rows.forEach((row, index) => {
      row.hidden = !texts[index].includes(wanted) || !isMeant(page.rows[Number(row.dataset.row)]);
      count += row.hidden ? 0 : 1;
    });
    for (let at = branches.length - 1; at >= 0; at--) {
      branches[at].hidden = !branches[at].querySelector(".row:not([hidden])");
      if (filtered && !branches[at].hidden) branches[at].open = true;
    }
    find("none").hidden = count > 0;
    find("count").textContent = filtered ? `${count} of ${rows.length}` : "";
  };
  search.addEventListener("input", filter);
  overridden.addEventListener("change", filter);
  shares.forEach((share) => share.addEventListener("click", () => {
    const layer = Number(share.dataset.layer);
    only = only === layer ? null : layer;
    shares.forEach((other) => other.setAttribute("aria-pressed", String(Number(other.dataset.layer) === only)));
    filter();
  }));
  find("expand").addEventListener("click", () => branches.forEach((branch) => { branch.open = true; }));
  find("collapse").addEventListener("click", () => branches.forEach((branch) => { branch.open = false; }));

  // Where the marked text ends: a quotation, an expression, or a plain scalar.
  const end = (line, from) => {
    const rest = line.slice(from);
    const token = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|\{\{.*?\}\}|\{%.*?%\}|•+|[^\s,[\]{}#:](?:(?!\s#|:\s|:$|[,\]}](?:\s|$|[\]}])).)*)/.exec(rest);
    return from + (token ? token[0].trimEnd().length : rest.length);
  };
  const excerpt = (origin) => {
    if (origin.withheld) return make("p", "muted", origin.withheld);
    const place = origin.place, lines = place && page.files[place.file];
    if (!lines) return null;
    const pre = make("pre", "excerpt");
    pre.tabIndex = 0;
    pre.setAttribute("aria-label", `lines of ${place.file}`);
    for (let number = place.line - around; number <= place.line + around; number++) {
      if (!(number in lines)) continue;
      const line = lines[number], here = number === place.line;
      const code = make("code", here ? "here" : "", make("span", "number", String(number)));
      if (here) {
        // Columns count characters, not units of UTF-16.
        const from = [...line].slice(0, place.column - 1).join("").length, to = end(line, from);
        code.append(line.slice(0, from), make("mark", "", line.slice(from, to)), line.slice(to));
      } else {
        code.append(line);
      }
      pre.append(code, "\n");
    }
    return pre;
  };
  const layer = (number) => {
    const known = page.layers[number - 1];
    const badge = make("span", "badge", String(number));
    const link = make("a", "", known ? known.title : "argument");
    link.href = `#layer-${number}`;
    const lines = known ? [...known.because.map((why) => `because ${why}`), known.merged && `merged with ${known.merged}`] : [];
    return make("div", `of l${(number + 7) % 8}`, badge, make("div", "", link, ...lines.filter(Boolean).map((line) => make("p", "muted", make("bdi", "", line)))));
  };
  const entry = (value, origin, number, ended) =>
    make("li", ended ? "past" : "now", make("p", "value", make("bdi", "", value)),
      make("p", "where", make("bdi", "", origin.text), origin.computed ? make("i", "", " computed") : null),
      excerpt(origin), layer(number), ended ? make("p", "ended", ended) : null);

  const path = (button) => page.rows[Number(button.dataset.row)].path.join(":");
  const show = (button) => {
    const row = page.rows[Number(button.dataset.row)];
    if (chosen) chosen.setAttribute("aria-pressed", "false");
    chosen = button;
    chosen.setAttribute("aria-pressed", "true");
    title.replaceChildren(make("bdi", "", row.path.join(":") || page.key || page.formula));
    const list = make("ol", "past-list", entry(row.value, row.origin, row.layer, null));
    row.past.forEach((past) => list.append(entry(past.value, past.origin, past.layer, past.ended)));
    story.replaceChildren(list);
    panel.hidden = false;
    document.body.classList.add("with-panel");
    panel.scrollTop = 0;
    title.focus({ preventScroll: true });
    window.history.replaceState(null, "", `#value=${encodeURIComponent(path(button))}`);
  };
  const close = () => {
    if (panel.hidden) return;
    panel.hidden = true;
    document.body.classList.remove("with-panel");
    if (chosen) {
      chosen.setAttribute("aria-pressed", "false");
      chosen.focus();
    }
  };
  // The address names the value that is shown, so that it can be passed on.
  const follow = () => {
    const [name, value] = location.hash.slice(1).split("=");
    if (name !== "value" || value === undefined) return;
    let wanted = value;
    try { wanted = decodeURIComponent(value); } catch { /* It is taken as it is. */ }
    const button = rows.find((row) => path(row) === wanted);
    if (!button) return;
    for (let above = button.closest(".branch"); above; above = above.parentElement.closest(".branch")) above.open = true;
    show(button);
    button.scrollIntoView({ block: innerWidth < 1024 ? "start" : "center" });
  };
  window.addEventListener("hashchange", follow);
  follow();
  document.querySelector(".tree").addEventListener("click", (event) => {
    const button = event.target.closest(".row");
    if (button) show(button);
  });
  story.addEventListener("click", (event) => {
    if (event.target.closest("a")) find("layers").open = true;
  });
  find("close").addEventListener("click", close);
  document.addEventListener("keydown", (event) => {
    const typing = event.target === search;
    if (event.key === "Escape" && !panel.hidden) close();
    else if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      search.focus();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && event.target.closest(".row, #search")) {
      const seen = rows.filter((row) => row.offsetParent !== null);
      const next = seen[seen.indexOf(event.target) + (event.key === "ArrowDown" ? 1 : -1)];
      if (next) {
        event.preventDefault();
        next.focus();
      }
    }
  });
})();
