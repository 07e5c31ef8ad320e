// What both panels share: the window of time that is in sight, the colours, the pointer and the keys.
const view = {
  from: 0, to: 1, whole: 1, printing: false, waiting: false, drag: null,

  init() {
    this.tip = document.getElementById("tip");
    this.axis = document.querySelector(".axis");
    this.panels = data.panels.map((p) => new Panel(document.getElementById(p.name), p.steps, this));
    this.recolour();
    this.fit();
    new ResizeObserver(() => this.resize()).observe(document.querySelector(".timeline"));
    this.resize();
    const timeline = document.querySelector(".timeline");
    timeline.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
    timeline.addEventListener("pointerdown", (event) => { this.drag = { x: event.clientX, from: this.from }; });
    window.addEventListener("pointermove", (event) => {
      if (this.drag === null) return;
      this.pan(this.drag.from - ((event.clientX - this.drag.x) * (this.to - this.from)) / this.plotWidth() - this.from);
    });
    window.addEventListener("pointerup", () => { this.drag = null; });
    document.addEventListener("keydown", (event) => this.pressed(event));
    const on = (id, what) => document.getElementById(id).addEventListener("click", what);
    on("closer", () => this.zoom(1 / 1.5, 0.5));
    on("wider", () => this.zoom(1.5, 0.5));
    on("whole", () => this.fit());
    const choice = document.getElementById("step");
    if (choice !== null) {
      choice.addEventListener("change", () => {
        this.panels[1].step = this.panels[1].steps[choice.value];
        this.panels.forEach((panel) => { panel.hovered = -1; });
        document.querySelector("#measured .note").textContent = choice.selectedOptions[0].textContent;
        this.fit();
        this.resize();
      });
    }
  },

  recolour() {
    const style = getComputedStyle(root), read = (name) => style.getPropertyValue(`--${name}`).trim();
    this.tones = {};
    for (const name of ["ground", "panel", "text", "muted", "line"]) this.tones[name] = read(name);
    const shades = (suffix) =>
      data.paints.map((paint) => Array.from({ length: data.shades }, (_, s) => read(paint.css + s + suffix)));
    this.fills = shades("");
    this.inks = shades("t");
    const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    this.channels = this.fills.map((row) => row.map(channels));
    this.redraw();
  },
  colour(tone) { return this.tones[tone]; },
  fill(paint, shade) { return this.fills[paint][shade]; },
  rgb(paint, shade) { return this.channels[paint][shade]; },
  ink(paint, shade) { return this.inks[paint][shade]; },

  plotWidth() { return Math.max(1, this.axis.clientWidth - GUTTER); },
  fit() {
    this.whole = Math.max(1, ...this.panels.map((panel) => panel.step.total));
    this.look(-0.01 * this.whole, 1.02 * this.whole);
  },
  // At least 20 ns in sight, at most twice the whole; some of it is always in sight.
  look(from, to) {
    const span = Math.min(Math.max(to - from, 20), 2 * this.whole);
    this.from = Math.min(Math.max(from, -0.9 * span), this.whole - 0.1 * span);
    this.to = this.from + span;
    this.redraw();
  },
  pan(by) { this.look(this.from + by, this.to + by); },
  zoom(factor, at) {
    const fixed = this.from + at * (this.to - this.from);
    this.look(fixed - (fixed - this.from) * factor, fixed + (this.to - fixed) * factor);
  },

  ticks() {
    const span = this.to - this.from, least = (span * 100) / this.plotWidth();
    let unit = UNITS[0][1];
    for (const u of UNITS) if (span >= 2 * u[1]) unit = u[1];
    const ten = unit * 10 ** Math.floor(Math.log10(least / unit));
    const step = [1, 2, 5, 10].map((f) => f * ten).find((s) => s >= least) || 10 * ten;
    const out = [];
    for (let i = Math.ceil(this.from / step); i * step < this.to; ++i) out.push(i * step);
    out.unit = UNITS.find((u) => u[1] === unit);
    return out;
  },

  resize() {
    const ratio = window.devicePixelRatio || 1;
    this.axis.width = Math.round(this.axis.clientWidth * ratio);
    this.axis.height = Math.round(22 * ratio);
    this.axis.style.height = "22px";
    this.axis.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    this.panels.forEach((panel) => panel.resize());
    this.draw();
  },
  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  },
  draw() {
    this.panels.forEach((panel) => panel.draw());
    const c = this.axis.getContext("2d"), width = this.axis.clientWidth, scale = this.plotWidth() / (this.to - this.from);
    c.fillStyle = this.colour("ground");
    c.fillRect(0, 0, width, 22);
    c.font = "11px system-ui, sans-serif";
    c.textAlign = "center";
    c.textBaseline = "middle";
    const ticks = this.ticks();
    for (const tick of ticks) {
      const x = GUTTER + (tick - this.from) * scale;
      c.fillStyle = this.colour("line");
      c.fillRect(Math.round(x), 0, 1, 5);
      c.fillStyle = this.colour("muted");
      if (x > GUTTER && x < width - 26) c.fillText(`${Number((tick / ticks.unit[1]).toPrecision(10))} ${ticks.unit[0]}`, x, 13);
    }
  },

  scrolled(panel) {
    for (const other of this.panels) if (other !== panel) other.scroller.scrollTop = panel.scroller.scrollTop;
    this.redraw();
  },
  wheeled(event) {
    const box = this.axis.getBoundingClientRect(), at = (event.clientX - box.left - GUTTER) / this.plotWidth();
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * 0.005))), Math.max(0, Math.min(1, at)));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      this.pan(((event.deltaX || event.deltaY) * (this.to - this.from)) / this.plotWidth());
    }
  },
  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(SELECT|INPUT)$/.test(event.target.tagName)) return;
    const page = 0.2 * (this.to - this.from);
    const keys = {
      ArrowLeft: () => this.pan(-page), ArrowRight: () => this.pan(page),
      "+": () => this.zoom(1 / 1.5, 0.5), "=": () => this.zoom(1 / 1.5, 0.5),
      "-": () => this.zoom(1.5, 0.5), "0": () => this.fit(), Home: () => this.fit(),
    };
    if (keys[event.key] === undefined) return;
    event.preventDefault();
    keys[event.key]();
  },

  pointed(panel, event) {
    const i = panel === null || this.drag !== null ? -1 : panel.at(event.offsetX, event.offsetY);
    const name = i < 0 ? -1 : panel.step.name[i];
    let changed = false;
    for (const p of this.panels) {
      const hovered = i < 0 ? -1 : p === panel ? i : p.step.byName.get(name) ?? -1;
      changed ||= hovered !== p.hovered;
      p.hovered = hovered;
    }
    if (changed) this.redraw();
    this.tip.hidden = i < 0;
    if (i < 0) return;
    this.describe(panel, i);
    const box = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - box.width - 8)}px`;
    this.tip.style.top = `${event.clientY + 18 + box.height > window.innerHeight ? event.clientY - box.height - 10 : event.clientY + 18}px`;
  },
  describe(panel, i) {
    const { step } = panel, lane = step.rows[step.lane[i]];
    const lines = [`rank ${lane.rank}, ${lane.name}`, `start  ${timeText(step.start[i])}`, `takes  ${timeText(step.length[i])}`];
    const lengths = this.panels.map((p) => (p.hovered < 0 ? null : p.step.length[p.hovered]));
    if (lengths.every((length) => length !== null)) {
      const [predicted, measured] = lengths;
      const other = panel === this.panels[0] ? `measured  ${timeText(measured)}` : `predicted  ${timeText(predicted)}`;
      lines.push(other);
      if (measured > 0) {
        const error = (100 * (predicted - measured)) / measured;
        lines.push(`error  ${error > 0 ? "+" : ""}${error.toFixed(1)} %`);
      }
    } else {
      lines.push("not in the other step");
    }
    const title = document.createElement("b");
    title.textContent = `${data.names[step.name[i]]}  ${data.paints[step.paint[i]].meaning}`;
    this.tip.replaceChildren(title, lines.join("\n"));
  },
};
