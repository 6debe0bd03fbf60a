// What each engine would cost a request: the terms of the policy's score as stacked bars, beside the numbers.

import {h, svg} from './dom.js';
import {cost, exact, words} from './format.js';

const RULED_OUT = 1e200;
const FEW = 20;
const WIDTH = 320;
const HEIGHT = 14;

const COLOURS = {backlog_millis: 'cold', prefill_millis: 'warm', repeat_millis: 'amber', decode_millis: 'grey', requests_in_flight: 'cold'};
const OTHERS = ['warm', 'cold', 'teal', 'violet', 'amber', 'rose', 'sky', 'grey'];

const HEADS = [['Engine'], ['Score', 'The lowest wins'], ['Terms', 'The parts of the score'], ['Held', 'Prompt tokens that the index finds in its cache'],
  ['Credited', 'Prompt tokens that the policy counts as cached: held by trust, and those on their way'], ['Predicted', 'Prompt tokens that it is expected to report as cached'],
  ['In flight', 'Requests of this router'], ['Queued', 'Prompt tokens dispatched and not known to be computed']];

/** The table of an explanation's engines, cheapest first. */
export function scoreTable(answer) {
  const engines = [...answer.engines].sort((a, b) => a.score - b.score || (b.engine === answer.winner) - (a.engine === answer.winner));
  const names = [...new Set(engines.flatMap((engine) => Object.keys(engine.terms)))];
  const colours = Object.fromEntries(names.map((name, i) => [name, COLOURS[name] ?? OTHERS[i % OTHERS.length]]));
  const scale = scaleOf(engines);
  const body = h('tbody', {}, engines.slice(0, FEW).map((engine) => row(engine, answer, colours, scale)));
  const table = h('table', {class: 'scores'}, h('caption', {class: 'hidden'}, 'Score of each engine'),
    h('thead', {}, h('tr', {}, HEADS.map(([head, hint], i) => h('th', {scope: 'col', class: i === 0 || i === 2 ? null : 'number', title: hint ?? null}, head)))), body);
  const more = engines.length <= FEW ? null : h('button', {type: 'button', class: 'quiet', onclick: () => {
    body.append(...engines.slice(FEW).map((engine) => row(engine, answer, colours, scale)));
    more.remove();
  }}, 'Show all ' + exact(engines.length) + ' engines');
  return h('div', {}, legend(names, colours), h('div', {class: 'wide-table', tabindex: '0', role: 'region', 'aria-label': 'Scores'}, table), more);
}

/** backlog_millis becomes "backlog (ms)". */
function term(name) {
  return words(name.replace(/_millis$/, ' (ms)'));
}

function legend(names, colours) {
  return h('ul', {class: 'legend'}, names.map((name) => h('li', {class: 'series-' + colours[name]}, h('i', {'aria-hidden': 'true'}), term(name))));
}

/** From the lowest sum of negative terms to the highest sum of positive ones. */
function scaleOf(engines) {
  let low = 0;
  let high = 0;
  for (const engine of engines) {
    const values = Object.values(engine.terms).filter((value) => Math.abs(value) < RULED_OUT);
    low = Math.min(low, values.filter((value) => value < 0).reduce((a, b) => a + b, 0));
    high = Math.max(high, values.filter((value) => value > 0).reduce((a, b) => a + b, 0));
  }
  return {low, factor: high > low ? WIDTH / (high - low) : 0};
}

function row(engine, answer, colours, scale) {
  const ruledOut = Object.values(engine.terms).some((value) => Math.abs(value) >= RULED_OUT);
  const place = engine.engine === answer.winner ? 'winner' : engine.engine === answer.runnerUp ? 'runner-up' : '';
  const number = (value) => h('td', {class: 'number'}, value);
  return h('tr', {class: place, 'data-engine': engine.engine},
    h('th', {scope: 'row'}, engine.engine, place === '' ? null : h('span', {class: 'tag'}, place.replace('-', ' '))),
    number(ruledOut ? 'passed over' : cost(engine.score)),
    h('td', {}, bar(engine, colours, scale)),
    number(exact(engine.matchedTokens)), number(exact(engine.creditTokens)),
    number(engine.predictedCachedTokens === null ? words(engine.predictionBasis) : exact(engine.predictedCachedTokens)),
    number(exact(engine.requestsInFlight)), number(exact(engine.queuedPrefillTokens)));
}

function bar(engine, colours, {low, factor}) {
  const terms = Object.entries(engine.terms).filter(([, value]) => Math.abs(value) < RULED_OUT);
  const said = terms.map(([name, value]) => term(name) + ' ' + cost(value)).join(', ');
  let right = -low * factor;
  let left = right;
  const parts = terms.map(([name, value]) => {
    const width = Math.abs(value) * factor;
    const x = value < 0 ? (left -= width) : right;
    right += value < 0 ? 0 : width;
    return svg('rect', {class: 'block series-' + colours[name], x: x.toFixed(2), y: 0, width: Math.max(0, width - 0.5).toFixed(2), height: HEIGHT},
      svg('title', {}, term(name) + ' ' + cost(value)));
  });
  return svg('svg', {class: 'bar-plot', viewBox: '0 0 ' + WIDTH + ' ' + HEIGHT, preserveAspectRatio: 'none', role: 'img', 'aria-label': said},
    parts, svg('line', {class: 'zero', x1: (-low * factor).toFixed(2), x2: (-low * factor).toFixed(2), y1: 0, y2: HEIGHT}));
}
