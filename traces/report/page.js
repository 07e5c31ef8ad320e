// Everything around the timelines: tables that sort, light and dark, paper.
function sortBy(table, column, descending) {
  const rows = Array.from(table.tBodies[0].rows);
  const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
  const numbers = rows.every((row) => key(row) === "" || !Number.isNaN(Number(key(row))));
  const order = (a, b) => (numbers ? Number(key(a)) - Number(key(b)) : key(a).localeCompare(key(b)));
  rows.sort((a, b) => (descending ? order(b, a) : order(a, b)));
  table.tBodies[0].append(...rows);
}

for (const table of document.querySelectorAll("table")) {
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    if (head.textContent === "") return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      // Numbers first from the largest: that is what one looks for.
      const descending = head.getAttribute("aria-sort") !== "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sortBy(table, column, descending);
    });
  });
}

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
document.getElementById("theme").addEventListener("click", () => {
  const dark = root.dataset.theme === undefined ? prefersDark.matches : root.dataset.theme === "dark";
  root.dataset.theme = dark ? "light" : "dark";
  view.recolour();
});
prefersDark.addEventListener("change", () => view.recolour());

// Paper is white and does not scroll: all rows, the whole step, light colours.
function printing(on) {
  view.printing = on;
  if (on) {
    view.theme = root.dataset.theme;
    root.dataset.theme = "light";
    view.fit();
  } else if (view.theme === undefined) {
    delete root.dataset.theme;
  } else {
    root.dataset.theme = view.theme;
  }
  view.recolour();
  view.resize();
}
addEventListener("beforeprint", () => printing(true));
addEventListener("afterprint", () => printing(false));

view.init();
