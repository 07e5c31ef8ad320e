// Two timelines on one axis. All that is drawn is drawn anew each frame, and only what is in sight: what ends before the
// window or starts after it is skipped by bisection, and where boxes get as narrow as pixels they are blended in a strip.
const GUTTER = 92, TALL = 22, THIN = 9, GAP = 6;
const root = document.documentElement;
const data = JSON.parse(document.getElementById("data").textContent);

const UNITS = [["ns", 1], ["us", 1e3], ["ms", 1e6], ["s", 1e9], ["h", 3.6e12], ["days", 8.64e13]];
function timeText(ns) {
  const size = Math.abs(ns);
  let unit = UNITS[0];
  for (const u of UNITS) if (size >= (u[1] > 1e9 ? 2 : 1) * u[1]) unit = u;
  return `${Number((ns / unit[1]).toPrecision(size < 1e3 ? 3 : 4))} ${unit[0]}`;
}

// Rows of one step: where each lane stands, and which spans are its own.
function layOut(step) {
  const lanes = step.lanes.map(([rank, name, compute, depth]) => ({ rank, name, compute, depth, from: 0, to: 0 }));
  let y = 4;
  lanes.forEach((lane, i) => {
    if (i > 0 && lanes[i - 1].rank !== lane.rank) y += GAP;
    lane.height = lane.compute ? TALL : THIN;
    lane.top = y;
    y += lane.height * lane.depth + 1;
  });
  step.height = y + 4;
  const n = step.lane.length;
  step.until = new Float64Array(n);  // the latest end up to here, of the lane: ascending, unlike ends
  for (let i = 0; i < n; ++i) {
    const lane = lanes[step.lane[i]];
    if (i === 0 || step.lane[i - 1] !== step.lane[i]) lane.from = i;
    const before = i > lane.from ? step.until[i - 1] : 0;
    step.until[i] = Math.max(before, step.start[i] + step.length[i]);
    lane.to = i + 1;
  }
  step.rows = lanes;
  step.byName = new Map();
  for (let i = 0; i < n; ++i) step.byName.set(step.name[i], i);
}

// The first i of [from, to) with values[i] > bound; `to` where there is none.
function firstAfter(values, from, to, bound) {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (values[middle] > bound) to = middle; else from = middle + 1;
  }
  return from;
}

class Panel {
  constructor(element, steps, view) {
    this.view = view;
    this.steps = steps;
    steps.forEach(layOut);
    this.step = steps[0];
    this.scroller = element.querySelector(".scroller");
    this.spacer = element.querySelector(".spacer");
    this.canvas = element.querySelector("canvas");
    this.context = this.canvas.getContext("2d", { alpha: false });
    this.hovered = -1;
    this.scroller.addEventListener("scroll", () => view.scrolled(this));
    this.canvas.addEventListener("pointermove", (event) => view.pointed(this, event));
    this.canvas.addEventListener("pointerleave", () => view.pointed(null, null));
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const height = Math.min(this.step.height, view.printing ? 1e4 : Math.round(window.innerHeight * 0.46));
    this.width = this.scroller.clientWidth;
    this.height = height;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    this.spacer.style.height = `${this.step.height - height}px`;
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.imageSmoothingEnabled = false;
    this.ratio = ratio;
    this.line = document.createElement("canvas");
    this.line.width = Math.max(1, Math.round((this.width - GUTTER) * ratio));
    this.line.height = 1;
    this.pixels = new ImageData(this.line.width, 1);
    this.sums = new Float32Array(4 * this.line.width);
  }

  draw() {
    const { context: c, step, width, height, view } = this;
    const { start, length, until, paint, shade, row, label } = step;
    const t0 = view.from, t1 = view.to, scale = (width - GUTTER) / (t1 - t0), scroll = this.scroller.scrollTop;
    c.fillStyle = view.colour("ground");
    c.fillRect(0, 0, width, height);
    c.fillStyle = view.colour("line");
    for (const tick of view.ticks()) c.fillRect(Math.round(GUTTER + (tick - t0) * scale), 0, 1, height);
    c.textBaseline = "middle";
    for (const lane of step.rows) {
      const top = lane.top - scroll;
      if (top > height || top + lane.height * lane.depth < 0) continue;
      if (lane.compute) {
        c.fillStyle = view.colour("panel");
        c.fillRect(GUTTER, top, width, lane.height * lane.depth);
      }
      const first = firstAfter(until, lane.from, lane.to, t0);
      const last = firstAfter(start, first, lane.to, t1);
      // Boxes of few pixels each are blended column by column: thousands of rectangles a frame would be slow, and flicker.
      const dense = lane.depth === 1 && last - first > (width - GUTTER) / 8;
      if (dense) {
        if (lane.compute) this.strip(first, last, scale, 0, top + lane.height * 0.7, lane.height * 0.3);
        this.strip(first, last, scale, lane.compute ? 1 : -1, top, lane.height);
      }
      c.font = "10px system-ui, sans-serif";
      c.textAlign = "center";
      for (let i = first; i < last; ++i) {
        const wide = length[i] * scale;
        if (dense && wide < 9) continue;
        let y = top + lane.height * row[i], h = lane.height;
        if (lane.compute && !step.busy[i]) { y += h * 0.7; h *= 0.3; }
        const left = GUTTER + (start[i] - t0) * scale;
        const x = Math.max(left, GUTTER - 2), w = Math.max(1, Math.min(left + wide, width + 2) - x - (wide > 4 ? 0.6 : 0));
        if (length[i] === 0) continue;
        if (!dense) {
          c.fillStyle = view.fill(paint[i], shade[i]);
          c.fillRect(x, y, w, h);
        }
        if (w < 9 || h < 12 || label[i] < 0) continue;
        const long = data.paints[paint[i]].letter + label[i], text = w > 6.2 * long.length + 3 ? long : String(label[i]);
        if (w < 6.2 * text.length + 2) continue;
        c.fillStyle = view.ink(paint[i], shade[i]);
        c.fillText(text, x + w / 2, y + h / 2 + 0.5);
      }
    }
    this.mark(scale, scroll);
    const end = GUTTER + (step.total - t0) * scale;
    if (end > GUTTER && end <= width) {
      c.fillStyle = view.colour("text");
      c.fillRect(end - 1, 0, 1.5, height);
    }
    this.names(scroll);
  }

  // Spans [first, last) as one row of pixels, each the mean of what it covers, stretched to a height. busy: 1 only those that
  // are, 0 only those that are not, -1 all.
  strip(first, last, scale, busy, y, height) {
    const { step, view, context } = this, columns = this.sums.length / 4, sums = this.sums.fill(0);
    const perNs = scale * this.ratio;
    for (let i = first; i < last; ++i) {
      if (busy >= 0 && step.busy[i] !== busy) continue;
      const from = Math.max(0, (step.start[i] - view.from) * perNs);
      const to = Math.min(columns, (step.start[i] + step.length[i] - view.from) * perNs);
      const [r, g, b] = view.rgb(step.paint[i], step.shade[i]);
      for (let column = Math.floor(from); column < to; ++column) {
        const covered = Math.min(to, column + 1) - Math.max(from, column), k = 4 * column;
        sums[k] += r * covered;
        sums[k + 1] += g * covered;
        sums[k + 2] += b * covered;
        sums[k + 3] += covered;
      }
    }
    const pixels = this.pixels.data;
    for (let k = 0; k < sums.length; k += 4) {
      const covered = sums[k + 3], by = covered > 0 ? 1 / covered : 0;
      pixels[k] = sums[k] * by;
      pixels[k + 1] = sums[k + 1] * by;
      pixels[k + 2] = sums[k + 2] * by;
      pixels[k + 3] = 255 * Math.min(1, covered);
    }
    this.line.getContext("2d").putImageData(this.pixels, 0, 0);
    context.drawImage(this.line, 0, 0, columns, 1, GUTTER, y, this.width - GUTTER, height);
  }

  // The span under the pointer, and its counterpart in the other panel.
  mark(scale, scroll) {
    const i = this.hovered, { context: c, step, view } = this;
    if (i < 0) return;
    const lane = step.rows[step.lane[i]];
    c.strokeStyle = view.colour("text");
    c.lineWidth = 2;
    c.strokeRect(GUTTER + (step.start[i] - view.from) * scale, lane.top - scroll + lane.height * step.row[i] + 1,
                 Math.max(2, step.length[i] * scale - 1), lane.height - 2);
  }

  names(scroll) {
    const c = this.context;
    c.fillStyle = view.colour("ground");
    c.fillRect(0, 0, GUTTER - 1, this.height);
    c.textAlign = "right";
    for (const lane of this.step.rows) {
      const y = lane.top - scroll + (lane.height * lane.depth) / 2 + 0.5;
      c.font = lane.compute ? "12px system-ui, sans-serif" : "9px system-ui, sans-serif";
      c.fillStyle = view.colour(lane.compute ? "text" : "muted");
      c.fillText(lane.compute ? `rank ${lane.rank}` : lane.name, GUTTER - 8, y, GUTTER - 12);
    }
  }

  // Which span is at a place of the canvas; -1: none. Near misses of up to two pixels count: boxes may be narrow.
  at(x, y) {
    const { step, view } = this, scale = (this.width - GUTTER) / (view.to - view.from);
    if (x < GUTTER) return -1;
    const time = view.from + (x - GUTTER) / scale, slack = 2 / scale, down = y + this.scroller.scrollTop;
    let best = -1, distance = slack;
    for (const lane of step.rows) {
      if (down < lane.top || down >= lane.top + lane.height * lane.depth) continue;
      const row = Math.floor((down - lane.top) / lane.height);
      for (let i = firstAfter(step.until, lane.from, lane.to, time - slack); i < lane.to && step.start[i] <= time + slack; ++i) {
        if (step.row[i] !== row) continue;
        const away = Math.max(step.start[i] - time, time - step.start[i] - step.length[i], 0);
        if (best < 0 || away < distance) { best = i; distance = away; }
      }
    }
    return best;
  }
}
