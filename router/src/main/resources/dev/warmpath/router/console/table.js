// The fleet as a table that can be sorted by each column.

import {attribute, h, keyed, text, variable} from './dom.js';
import {ago, count, exact, millis, percent, words} from './format.js';

const ORDER = {bad: 0, note: 1, good: 2};

/** Columns: `value` sorts, `show` is the text, `bar` a share drawn behind it. */
const COLUMNS = [
  {key: 'name', label: 'Engine', value: (row) => row.name},
  {key: 'state', label: 'State', value: (row) => ORDER[row.state.level] + row.state.label, show: (row) => row.state.label},
  {key: 'role', label: 'Role', hint: 'What its engines serve: prompts for others (prefill), answers (decode), or both', value: (row) => row.role, show: (row) => row.role},
  {key: 'handedOver', label: 'Handed over', hint: 'Requests whose prompt it computed for another engine, or got from one; by this router', value: (row) => row.handedOver, show: (row) => exact(row.handedOver), number: true},
  {key: 'trust', label: 'Trust', value: (row) => row.trust ?? '~', show: (row) => (row.trust === null ? 'no events' : words(row.trust))},
  {key: 'since', label: 'for', hint: 'Since when the trust is what it is', value: (row) => row.since, show: (row) => ago(row.since), number: true},
  {key: 'inFlight', label: 'In flight', hint: 'Requests of this router', value: (row) => row.inFlight, show: (row) => exact(row.inFlight), number: true},
  {key: 'running', label: 'Running', hint: 'Requests that the engine computes, by its own metrics', value: (row) => row.running, show: (row) => exact(row.running), number: true},
  {key: 'waiting', label: 'Waiting', hint: 'Requests in the engine’s queue, by its own metrics', value: (row) => row.waiting, show: (row) => exact(row.waiting), number: true},
  {key: 'queued', label: 'Queued prefill', hint: 'Prompt tokens dispatched and not known to be computed', value: (row) => row.queued, show: (row) => count(row.queued) + '\u202ftok', number: true},
  {key: 'kvUse', label: 'KV use', hint: 'Part of the KV cache that running requests use', value: (row) => row.kvUse, show: (row) => percent(row.kvUse), number: true, bar: (row) => row.kvUse},
  {key: 'held', label: 'Blocks held', value: (row) => row.held, show: (row) => count(row.held), number: true},
  {key: 'hitRate', label: 'Hit rate', hint: 'Cached of all prompt tokens, last 5 minutes, as the engine reports', value: (row) => row.hitRate, show: (row) => percent(row.hitRate), number: true, bar: (row) => row.hitRate},
  {key: 'worth', label: 'Worth', hint: 'Time to compute what no other engine holds, weighed by its chance of reuse', value: (row) => row.worth, show: (row) => millis(row.worth), number: true},
  {key: 'error', label: 'Error', hint: 'Predicted against reported cached tokens, last 5 minutes', value: (row) => row.error, show: (row) => percent(row.error), number: true},
  {key: 'lag', label: 'Event lag', hint: 'From a batch’s arrival until the index shows it', value: (row) => row.lag, show: (row) => millis(row.lag), number: true},
  {key: 'circuit', label: 'Circuit', value: (row) => row.circuit, show: (row) => words(row.circuit)},
];

export class FleetTable {
  #open;
  #by = COLUMNS[0];
  #down = false;
  #heads;
  #body = h('tbody');
  #rows = [];
  #selected = null;

  /** `open` takes the name of a chosen engine. */
  constructor(open) {
    this.#open = open;
    this.#heads = COLUMNS.map((column) => h('th', {scope: 'col', class: column.number ? 'number' : null},
      h('button', {type: 'button', title: column.hint ?? null, onclick: () => this.#sort(column)}, column.label)));
    const table = h('table', {class: 'fleet-table'}, h('caption', {class: 'hidden'}, 'Engines of the fleet'), h('thead', {}, h('tr', {}, this.#heads)), this.#body);
    this.element = h('div', {class: 'wide-table', tabindex: '0', role: 'region', 'aria-label': 'Table of engines'}, table);
    this.#mark();
  }

  show(rows, selected) {
    this.#rows = rows;
    this.#selected = selected;
    this.#draw();
  }

  #sort(column) {
    this.#down = this.#by === column ? !this.#down : column.number === true;
    this.#by = column;
    this.#mark();
    this.#draw();
  }

  #mark() {
    COLUMNS.forEach((column, i) => attribute(this.#heads[i], 'aria-sort', column !== this.#by ? null : this.#down ? 'descending' : 'ascending'));
  }

  #draw() {
    const sorted = [...this.#rows].sort((a, b) => compare(this.#by.value(a), this.#by.value(b), this.#down) || compare(a.name, b.name, false));
    keyed(this.#body, sorted, (row) => row.name, (row) => this.#row(row.name));
  }

  #row(name) {
    const link = h('button', {type: 'button', class: 'link', onclick: () => this.#open(name)}, name);
    const cells = COLUMNS.slice(1).map((column) => h('td', {class: (column.number ? 'number' : '') + (column.bar ? ' share' : '')}));
    const element = h('tr', {'data-engine': name}, h('th', {scope: 'row'}, link), cells);
    return {
      element,
      update: (row) => {
        attribute(element, 'aria-selected', row.name === this.#selected ? 'true' : null);
        cells.forEach((cell, i) => {
          const column = COLUMNS[i + 1];
          text(cell, column.show(row));
          if (column.bar) {
            variable(cell, '--share', (100 * (column.bar(row) ?? 0)).toFixed(0) + '%');
          }
        });
        cells[0].className = 'state ' + row.state.level;
        attribute(cells[0], 'title', row.state.why === '' ? null : row.state.why);
        cells[1].className = row.trust === 'exact' ? '' : 'note';
      },
    };
  }
}

const collator = new Intl.Collator('en', {numeric: true});

/** Names in the order of their numbers; what is not known comes last either way. */
function compare(a, b, down) {
  if (a === null || b === null) {
    return (a === null) - (b === null);
  }
  const order = typeof a === 'string' ? collator.compare(a, b) : a - b;
  return down ? -order : order;
}
