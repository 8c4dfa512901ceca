"use strict";
(() => {
  const all = (what, within = document) => [...within.querySelectorAll(what)];

  // Which colours a person chose stays chosen, where the browser lets a file remember.
  const remembered = (use) => { try { return use(window.localStorage); } catch { return null; } };
  const chosen = remembered((store) => store.getItem("understudy-scheme"));
  if (chosen && document.getElementById(chosen)) document.getElementById(chosen).checked = true;
  for (const radio of all("input[name=scheme]"))
    radio.addEventListener("change", () => remembered((store) => store.setItem("understudy-scheme", radio.id)));

  // Texts that can be copied.
  const copy = async (text) => {
    try { await navigator.clipboard.writeText(text); return true; } catch { /* a file may not: select and copy */ }
    const field = document.createElement("textarea");
    field.value = text; field.className = "unseen"; document.body.append(field); field.select();
    const done = document.execCommand("copy"); field.remove(); return done;
  };
  for (const button of all("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const done = await copy(document.getElementById(button.dataset.copy).textContent.trim());
      const said = document.querySelector(`[data-copied="${button.dataset.copy}"]`);
      said.textContent = done ? "Copied." : "Select the text above and copy it.";
      button.focus();
    });
  }

  // Tables whose columns can be sorted.
  const number = (text) => { const found = text.replace(/[,\s]/g, "").match(/^[^\d.+-]?([+-]?\d*\.?\d+(?:e[+-]?\d+)?)/i); return found ? Number(found[1]) : -Infinity; };
  for (const table of all("table[data-sorts]")) {
    const body = table.tBodies[0], heads = all("thead th", table);
    if (!body || body.rows.length < 3) continue;
    heads.forEach((head, place) => {
      const button = document.createElement("button");
      button.type = "button"; button.textContent = head.textContent; head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : head.classList.contains("n");
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const texts = new Map([...body.rows].map((row) => [row, row.cells[place] ? row.cells[place].textContent.trim() : ""]));
        const order = (a, b) => {
          const one = texts.get(a), other = texts.get(b);
          return head.classList.contains("n") ? number(one) - number(other) || 0 : one.localeCompare(other);
        };
        body.append(...[...body.rows].sort((a, b) => (down ? -order(a, b) : order(a, b))));
      });
    });
  }

  // Fields that hide what does not hold a text.
  for (const box of all("[data-search]")) {
    const over = document.getElementById(box.dataset.search);
    if (!over) continue;
    const things = over.tagName === "TABLE" ? [...over.tBodies[0].rows] : [...over.children];
    if (things.length < 6) continue;
    box.hidden = false;
    const field = box.querySelector("input"), said = box.querySelector("[role=status]");
    const texts = things.map((thing) => (thing.dataset.words || thing.textContent).toLowerCase());
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      let shown = 0;
      things.forEach((thing, place) => { thing.hidden = wanted !== "" && !texts[place].includes(wanted); shown += !thing.hidden; });
      said.textContent = wanted ? `${shown} of ${things.length}` : "";
    });
  }

  // What lies under the pointer: a cell of a heat map, or anything with words of its own.
  const tip = document.createElement("div");
  tip.className = "tip"; tip.hidden = true; tip.setAttribute("aria-hidden", "true"); document.body.append(tip);
  const show = (event, text) => {
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const box = tip.getBoundingClientRect(), left = event.clientX + 14, top = event.clientY + 14;
    tip.style.left = `${Math.max(4, Math.min(left, innerWidth - box.width - 8))}px`;
    tip.style.top = `${top + box.height > innerHeight ? event.clientY - box.height - 10 : top}px`;
  };
  const cell = (svg, event) => {
    const box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal, grid = svg.dataset;
    const x = (event.clientX - box.left) / box.width * view.width - grid.left, y = (event.clientY - box.top) / box.height * view.height - grid.top;
    const column = Math.floor(x / grid.cell), row = Math.floor(y / grid.cell);
    const rows = JSON.parse(grid.rows), columns = JSON.parse(grid.columns);
    if (column < 0 || row < 0 || column >= columns.length || row >= rows.length) return "";
    const value = grid.values.split(" ")[row * columns.length + column];
    return value === "" ? "" : `${rows[row]} · ${columns[column]}: ${value}${grid.unit}`;
  };
  document.addEventListener("pointermove", (event) => {
    const heat = event.target.closest && event.target.closest("svg.heat");
    if (heat) show(event, cell(heat, event)); else if (!tip.hidden) tip.hidden = true;
  });

  // A column of the graph and its neighbours, while it is pointed at.
  for (const graph of all("svg.graph")) {
    const nodes = all("[data-node]", graph), edges = all("[data-ends]", graph);
    const light = (node) => {
      const near = new Set([node.dataset.node]);
      for (const edge of edges) {
        const ends = edge.dataset.ends.split(" "), on = ends.includes(node.dataset.node);
        edge.classList.toggle("fades", !on);
        if (on) ends.forEach((end) => near.add(end));
      }
      for (const other of nodes) other.classList.toggle("fades", !near.has(other.dataset.node));
    };
    const dark = () => all(".fades", graph).forEach((thing) => thing.classList.remove("fades"));
    for (const node of nodes) {
      node.addEventListener("pointerenter", () => light(node)); node.addEventListener("focus", () => light(node));
      node.addEventListener("pointerleave", dark); node.addEventListener("blur", dark);
    }
  }
})();
