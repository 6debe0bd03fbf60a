// Charts over time, drawn as SVG. The legend shows the latest values, or those under the crosshair, which all charts share.

import {attribute, h, svg, text} from './dom.js';
import {minute, time} from './format.js';

const HEIGHT = 112;
const LEFT = 46;
const TOP = 6;
const BOTTOM = 18;
const SHORTEST = 120_000;

/** The time that the charts of a view point at; null for none. */
export class Crosshair extends EventTarget {
  at = null;

  move(at) {
    this.at = at;
    this.dispatchEvent(new Event('move'));
  }
}

/** One chart: lines, or areas on top of each other. */
export class TimeChart {
  #options;
  #crosshair;
  #plot;
  #legend;
  #rows = new Map();
  #note;
  #points = [];
  #step = 0;
  #scale = null;

  /**
   * @param options title, hint, format(value), tick(value) for the axis, series(points) as [{key, label, value(point)}], stacked, most (least end of the scale)
   * @param crosshair shared by the charts of a view
   */
  constructor(options, crosshair) {
    this.#options = options;
    this.#crosshair = crosshair;
    this.#plot = svg('svg', {class: 'plot', height: HEIGHT, 'aria-hidden': 'true'});
    this.#legend = h('ul', {class: 'legend'});
    this.#note = h('p', {class: 'chart-note'});
    const stage = h('div', {
      class: 'stage', tabindex: '0', role: 'slider', 'aria-label': options.title + ' over time',
      onpointermove: (e) => crosshair.move(this.#timeAt(e)),
      onpointerleave: () => crosshair.move(null),
      onblur: () => crosshair.move(null),
      onkeydown: (e) => this.#key(e),
    }, this.#plot, this.#note);
    this.stage = stage;
    this.element = h('figure', {class: 'chart'},
      h('figcaption', {}, h('h3', {}, options.title), h('span', {class: 'muted'}, options.hint ?? '')), stage, this.#legend);
    crosshair.addEventListener('move', () => this.#point());
    new ResizeObserver(() => this.#draw()).observe(stage);
  }

  /** Shows these points; `step` is the time between two of them. */
  show(points, step) {
    this.#points = points;
    this.#step = step;
    this.#draw();
  }

  #draw() {
    const width = this.stage.clientWidth;
    if (width === 0) {
      return;
    }
    const series = this.#options.series(this.#points);
    const lines = this.#options.stacked ? stack(series, this.#points) : series.map((each) => ({...each, values: values(each, this.#points)}));
    const empty = lines.every(({values}) => values.every((value) => value === null));
    text(this.#note, this.#points.length === 0 ? 'Nothing yet' : empty ? (this.#options.none ?? 'Nothing in this time') : '');
    const end = this.#points.at(-1)?.at ?? 0;
    const start = Math.min(this.#points[0]?.at ?? 0, end - SHORTEST);
    const top = ceiling(Math.max(this.#options.most ?? 0, ...lines.flatMap(({values}) => values.map((value) => value ?? 0))));
    this.#scale = {
      x: (at) => LEFT + ((at - start) / (end - start)) * (width - LEFT - 4),
      y: (value) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM),
      start, end, width,
    };
    this.#plot.setAttribute('width', width);
    this.#plot.replaceChildren(...this.#axes(top), ...this.#shapes(lines), svg('line', {class: 'crosshair', y1: TOP, y2: HEIGHT - BOTTOM}));
    this.#point();
  }

  #axes(top) {
    const {x, y, start, end, width} = this.#scale;
    const parts = [];
    for (const value of [0, top / 2, top]) {
      parts.push(svg('line', {class: 'grid', x1: LEFT, x2: width - 4, y1: y(value), y2: y(value)}));
      parts.push(svg('text', {class: 'tick', x: LEFT - 6, y: y(value) + 4, 'text-anchor': 'end'}, round((this.#options.tick ?? this.#options.format)(value))));
    }
    const every = spacing(end - start, width);
    for (let at = Math.ceil(start / every) * every; at <= end; at += every) {
      const anchor = x(at) > width - 24 ? 'end' : x(at) < LEFT + 16 ? 'start' : 'middle';
      parts.push(svg('text', {class: 'tick', x: x(at), y: HEIGHT - 4, 'text-anchor': anchor}, every < 60_000 ? time(at) : minute(at)));
    }
    return parts;
  }

  #shapes(lines) {
    const {x, y} = this.#scale;
    const shapes = lines.map((line, i) => {
      const spots = this.#points.map((point, n) => ({
        x: x(point.at), top: line.values[n] === null ? null : y(line.values[n]), low: y(line.floor?.[n] ?? 0)}));
      const kind = 'series-' + (line.colour ?? i);
      const parts = runs(spots, this.#gapPixels());
      const edge = svg('path', {class: 'edge ' + kind, d: parts.map(edgeOf).join('')});
      const area = this.#options.stacked || lines.length === 1;
      return area ? [svg('path', {class: (this.#options.stacked ? 'area stacked ' : 'area ') + kind, d: parts.map(areaOf).join('')}), edge] : [edge];
    });
    return shapes.reverse().flat();
  }

  #gapPixels() {
    return this.#scale.x(2.5 * this.#step) - this.#scale.x(0);
  }

  #timeAt(event) {
    if (this.#scale === null || this.#points.length === 0) {
      return null;
    }
    const {start, end, width} = this.#scale;
    const share = (event.offsetX - LEFT) / (width - LEFT - 4);
    return start + Math.min(1, Math.max(0, share)) * (end - start);
  }

  #key(event) {
    const steps = {ArrowLeft: -1, ArrowRight: 1, PageUp: -30, PageDown: 30, Home: -Infinity, End: Infinity}[event.key];
    if (event.key === 'Escape') {
      this.#crosshair.move(null);
    } else if (steps !== undefined && this.#points.length > 0) {
      event.preventDefault();
      const last = this.#points.length - 1;
      const at = Math.min(last, Math.max(0, this.#nearest(this.#crosshair.at ?? this.#points[last].at) + steps));
      this.#crosshair.move(this.#points[at].at);
    }
  }

  #nearest(at) {
    let best = 0;
    this.#points.forEach((point, i) => {
      best = Math.abs(point.at - at) < Math.abs(this.#points[best].at - at) ? i : best;
    });
    return best;
  }

  /** Moves the crosshair and fills the legend. */
  #point() {
    const chosen = this.#crosshair.at !== null && this.#points.length > 0;
    const at = chosen ? this.#nearest(this.#crosshair.at) : this.#points.length - 1;
    const point = this.#points[at];
    const line = this.#plot.querySelector('.crosshair');
    if (line !== null && this.#scale !== null) {
      attribute(line, 'visibility', chosen ? 'visible' : 'hidden');
      attribute(line, 'x1', chosen ? this.#scale.x(point.at) : 0);
      attribute(line, 'x2', chosen ? this.#scale.x(point.at) : 0);
    }
    const shown = this.#options.series(this.#points).map((each, i) => ({
      key: each.key, label: each.label, colour: each.colour ?? i, value: point === undefined ? null : each.value(point)}));
    this.#fillLegend(shown);
    const spoken = shown.map(({label, value}) => label + ' ' + this.#options.format(value)).join(', ');
    attribute(this.stage, 'aria-valuemin', 0);
    attribute(this.stage, 'aria-valuemax', Math.max(0, this.#points.length - 1));
    attribute(this.stage, 'aria-valuenow', Math.max(0, at));
    attribute(this.stage, 'aria-valuetext', point === undefined ? 'nothing yet' : time(point.at) + ': ' + spoken);
  }

  #fillLegend(shown) {
    const keys = shown.map(({key}) => key).join('\n');
    if (this.#legend.dataset.keys !== keys) {
      this.#legend.dataset.keys = keys;
      this.#rows = new Map(shown.map(({key, label, colour}) => {
        const value = h('b', {class: 'number'});
        return [key, {value, element: h('li', {class: 'series-' + colour}, h('i', {'aria-hidden': 'true'}), label + ' ', value)}];
      }));
      this.#legend.replaceChildren(...[...this.#rows.values()].map(({element}) => element));
    }
    shown.forEach(({key, value}) => text(this.#rows.get(key).value, this.#options.format(value)));
  }
}

function values(series, points) {
  return points.map((point) => series.value(point) ?? null);
}

/** Puts each series on top of those before it. */
function stack(series, points) {
  let floor = points.map(() => 0);
  return series.map((each) => {
    const own = values(each, points);
    const below = floor;
    floor = below.map((value, i) => value + (own[i] ?? 0));
    return {...each, floor: below, values: floor.map((value, i) => (own[i] === null ? null : value))};
  });
}

/** Spots in runs without a gap. */
function runs(spots, gap) {
  const all = [];
  let run = null;
  for (const spot of spots) {
    if (spot.top === null) {
      run = null;
    } else if (run === null || spot.x - run.at(-1).x > gap) {
      run = [spot];
      all.push(run);
    } else {
      run.push(spot);
    }
  }
  return all;
}

function edgeOf(run) {
  const path = 'M' + run.map((spot) => spot.x.toFixed(1) + ' ' + spot.top.toFixed(1)).join('L');
  return run.length === 1 ? path + 'h.01' : path;
}

function areaOf(run) {
  const back = [...run].reverse().map((spot) => spot.x.toFixed(1) + ' ' + spot.low.toFixed(1));
  return 'M' + run.map((spot) => spot.x.toFixed(1) + ' ' + spot.top.toFixed(1)).join('L') + 'L' + back.join('L') + 'Z';
}

/** The next of 1, 2, 5, 10, 20, … */
function ceiling(value) {
  if (!(value > 0)) {
    return 1;
  }
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((each) => each >= value * 0.9999);
}

/** Time between two labels of the axis. */
function spacing(millis, width) {
  const most = Math.max(2, Math.floor(width / 90));
  return [15, 30, 60, 120, 300, 600, 900, 1_800].map((seconds) => seconds * 1_000).find((each) => millis / each <= most) ?? 3_600_000;
}

/** 2.50 ms becomes 2.5 ms. */
function round(tick) {
  return tick.replace(/\.(\d*?)0+(?!\d)/, (zeros, digits) => (digits === '' ? '' : '.' + digits));
}
