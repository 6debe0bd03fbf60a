// The fleet now and in the last hour: the most important figures, then charts.

import {Crosshair, TimeChart} from './chart.js';
import {choice, h, notice, text} from './dom.js';
import {count, millis, percent, rate, words} from './format.js';

const MINUTE = 60_000;
const MOST_SERIES = 7;
const NONE = 'no requests in 10\u202fs';

const value = (name) => (point) => point.values[name] ?? null;
const lines = (...names) => () => names.map(([key, label, colour]) => ({key, label, colour, value: value(key)}));

/** Reasons of choices and causes of refusals have fixed colours, so that they are found again. */
const COLOURS = {
  cache: 'warm', spread: 'amber', load: 'cold', session: 'teal', prefix: 'teal', cold: 'sky', turn: 'grey', random: 'grey', hotspot: 'rose',
  queue_full: 'rose', queue_timeout: 'violet', down: 'warm', full: 'amber', no_replica: 'grey', unknown_model: 'sky',
  new: 'cold', evicted: 'amber', elsewhere: 'teal', lost: 'rose', mispredicted: 'violet',
};
const OTHERS = ['violet', 'teal', 'sky', 'rose', 'grey', 'amber'];

/** One series for each label that occurs, the largest first; the rest together. */
function labelled(name) {
  const part = (point, label) => (point.values[name] ? point.values[name][label] ?? 0 : null); // what did not happen is left out
  return (points) => {
    const sums = new Map();
    for (const point of points) {
      for (const [label, amount] of Object.entries(point.values[name] ?? {})) {
        sums.set(label, (sums.get(label) ?? 0) + (amount ?? 0));
      }
    }
    const labels = [...sums].filter(([, sum]) => sum > 0).sort((a, b) => b[1] - a[1]).map(([label]) => label);
    const shown = labels.slice(0, MOST_SERIES).map((label, i) => ({
      key: label, label: words(label), colour: COLOURS[label] ?? OTHERS[i % OTHERS.length], value: (point) => part(point, label)}));
    const rest = labels.slice(MOST_SERIES);
    const sum = (point) => rest.reduce((total, label) => total + (point.values[name]?.[label] ?? 0), 0);
    return rest.length === 0 ? shown : [...shown, {key: '·rest', label: 'others', colour: 'grey', value: sum}];
  };
}

const CHARTS = [
  {title: 'Hit rate', hint: 'cached of all prompt tokens', format: percent, most: 1, series: lines(['hitRate', 'hit rate', 'warm'])},
  {title: 'Why not cached', hint: 'prompt tokens computed a second', format: rate, tick: count, stacked: true, series: labelled('uncached'), none: 'Nothing computed'},
  {title: 'Tokens saved', hint: 'cached tokens a second', format: rate, tick: count, series: lines(['tokensSaved', 'tokens saved', 'warm'])},
  {title: 'Prefill avoided', hint: 'engine time a second', format: millis, series: lines(['prefillMillisSaved', 'prefill time', 'amber'])},
  {title: 'Time to first token', hint: '', format: millis, series: lines(['ttftP50', 'p50', 'p50'], ['ttftP90', 'p90', 'p90'], ['ttftP99', 'p99', 'p99'])},
  {title: 'Between tokens', hint: '', format: millis, series: lines(['itlP50', 'p50', 'p50'], ['itlP90', 'p90', 'p90'], ['itlP99', 'p99', 'p99'])},
  {title: 'Requests', hint: 'a second', format: rate, tick: count, series: lines(['requests', 'requests', 'cold'], ['refused', 'refused', 'rose'])},
  {title: 'Picks by reason', hint: 'a second', format: rate, tick: count, stacked: true, series: labelled('picks')},
  {title: 'Refusals by cause', hint: 'a second', format: rate, tick: count, stacked: true, series: labelled('refusals'), none: 'None refused'},
  {title: 'In flight and queued', hint: 'requests', format: count, series: lines(['inFlight', 'in flight', 'cold'], ['queued', 'queued', 'rose'])},
  {title: 'Event lag', hint: 'largest of all engines', format: millis, series: lines(['eventLagMillis', 'lag', 'violet'])},
  {title: 'Gaps and replays', hint: 'a second', format: rate, tick: count, series: lines(['gaps', 'gaps', 'rose'], ['replays', 'replays', 'teal']), none: 'No gaps'},
];

const TILES = [
  ['Hit rate', (v) => percent(v.hitRate), (v) => (v.hitRate === null ? NONE : 'of prompt tokens')],
  ['Tokens saved', (v) => rate(v.tokensSaved), (v) => millis(v.prefillMillisSaved) + ' of prefill a second'],
  ['TTFT p50', (v) => millis(v.ttftP50), (v) => (v.ttftP50 === null ? NONE : 'p99 ' + millis(v.ttftP99))],
  ['Inter-token p50', (v) => millis(v.itlP50), (v) => (v.itlP50 === null ? 'no streams in 10\u202fs' : 'p99 ' + millis(v.itlP99))],
  ['Requests', (v) => rate(v.requests), (v) => rate(v.refused) + ' refused'],
  ['In flight', (v) => count(v.inFlight), (v) => count(v.queued) + ' queued'],
];

export class NowView {
  #live;
  #range = 60 * MINUTE;
  #empty = h('div', {class: 'stand-in'});
  #body;
  #tiles;
  #charts;

  constructor({live}) {
    this.#live = live;
    this.#tiles = TILES.map(([label, main, detail]) => tile(label, main, detail));
    const crosshair = new Crosshair();
    this.#charts = CHARTS.map((options) => new TimeChart(options, crosshair));
    const ranges = choice('Time shown', [[5 * MINUTE, '5 min'], [15 * MINUTE, '15 min'], [60 * MINUTE, '1 h']], this.#range, (range) => {
      this.#range = range;
      this.#draw();
    });
    this.#body = h('div', {class: 'stack'},
      h('dl', {class: 'tiles'}, this.#tiles.map(({element}) => element)),
      h('div', {class: 'bar'}, ranges, h('span', {class: 'muted'}, 'Steps of 10 s; arrow keys read a chart')),
      h('div', {class: 'charts'}, this.#charts.map(({element}) => element)));
    this.element = h('section', {'aria-label': 'Now'}, this.#empty, this.#body);
    this.listener = () => this.#draw();
  }

  show() {
    this.#live.addEventListener('now', this.listener);
    this.#draw();
  }

  hide() {
    this.#live.removeEventListener('now', this.listener);
  }

  #draw() {
    const history = this.#live.history;
    const latest = history?.latest ?? null;
    this.#empty.replaceChildren(...(latest === null ? [notice('Waiting for figures', 'The router counts in steps of ten seconds.')] : []));
    this.#body.hidden = latest === null;
    if (latest !== null) {
      this.#tiles.forEach((each) => each.show(latest.values));
      const points = history.since(this.#range);
      this.#charts.forEach((chart) => chart.show(points, history.stepMillis));
    }
  }
}

/** A figure, `main`, with a line below; `show` passes its arguments to both. */
export function tile(label, main, detail) {
  const big = h('b');
  const small = h('small');
  return {
    element: h('div', {}, h('dt', {}, label), h('dd', {}, big, small)),
    show: (...values) => {
      text(big, main(...values));
      text(small, detail(...values));
    },
  };
}
