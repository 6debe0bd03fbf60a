// The fleet as a grid of cells: colour and number show one measure, a sign shows what is wrong.

import {attribute, h, keyed, text, variable} from './dom.js';
import {count, percent} from './format.js';
import {sharedPrefix} from './rows.js';

/** What cells can be coloured by: how warm a value is, from 0 to 1, where `most` is the largest in the fleet. */
export const MEASURES = {
  hitRate: {label: 'Hit rate', value: (row) => row.hitRate, format: percent, heat: (value) => value, scale: () => ['0 %', '100 %']},
  inFlight: {label: 'In flight', value: (row) => row.inFlight, format: count, heat: (value, most) => value / most, scale: (most) => ['0', count(most)]},
  waiting: {label: 'Waiting', value: (row) => row.waiting, format: count, heat: (value, most) => value / most, scale: (most) => ['0', count(most)]},
  kvUse: {label: 'KV use', value: (row) => row.kvUse, format: percent, heat: (value) => value, scale: () => ['0 %', '100 %']},
  held: {label: 'Blocks held', value: (row) => row.held, format: count, heat: (value, most) => value / most, scale: (most) => ['0', count(most)]},
  error: {label: 'Prediction error', value: (row) => row.error, format: percent, heat: (value) => Math.min(1, value * 10), scale: () => ['0 %', '10 %']},
};

const FEW = 12;
const MANY = 48;

export class FleetMap {
  #open;
  #cells = h('div', {class: 'cells', role: 'group', 'aria-label': 'Map of the fleet; arrow keys move between engines'});
  #cold = h('span', {class: 'number'});
  #hot = h('span', {class: 'number'});
  #current = null;
  #paint = () => {};

  /** `open` takes the name of a chosen engine. */
  constructor(open) {
    this.#open = open;
    this.#cells.addEventListener('keydown', (event) => this.#key(event));
    this.#cells.addEventListener('focusin', (event) => this.#reached(event.target));
    const legend = h('p', {class: 'scale'}, this.#cold, h('i', {'aria-hidden': 'true'}), this.#hot,
      h('span', {class: 'muted signs'}, '✕ down', '  ! circuit open', '  ? cache not certain', '  … catching up', '  ↓ draining'));
    this.element = h('div', {class: 'map'}, this.#cells, legend);
  }

  show(rows, measure, selected) {
    const {value, format, heat, scale, label} = MEASURES[measure];
    const most = Math.max(1, ...rows.map((row) => value(row) ?? 0));
    const prefix = rows.length > FEW ? sharedPrefix(rows.map((row) => row.name)) : '';
    this.#cells.classList.toggle('few', rows.length <= FEW);
    this.#cells.classList.toggle('dense', rows.length > MANY);
    const [cold, hot] = scale(most);
    text(this.#cold, cold);
    text(this.#hot, hot);
    if (!rows.some((row) => row.name === this.#current)) {
      this.#current = rows[0]?.name ?? null;
    }
    this.#paint = (cell, now) => {
      const shown = value(now);
      text(cell.name, now.name.slice(prefix.length));
      text(cell.value, format(shown));
      text(cell.sign, now.state.sign);
      text(cell.more, now.state.level === 'good' ? count(now.inFlight) + ' in flight · KV ' + percent(now.kvUse) : now.state.label);
      variable(cell.element, '--heat', shown === null ? '0%' : (100 * Math.min(1, heat(shown, most))).toFixed(0) + '%');
      cell.element.className = 'cell ' + now.state.level + (shown === null ? ' unknown' : '');
      attribute(cell.element, 'aria-label', now.name + ', ' + label.toLowerCase() + ' ' + format(shown) + ', ' + now.state.label);
      attribute(cell.element, 'title', [now.name, now.state.label, now.state.why].filter((part) => part !== '').join(' · '));
      attribute(cell.element, 'aria-pressed', String(now.name === selected));
      attribute(cell.element, 'tabindex', now.name === this.#current ? 0 : -1);
    };
    keyed(this.#cells, rows, (row) => row.name, (row) => this.#cell(row.name));
  }

  /** Puts the focus on the cell that had it last. */
  focus() {
    this.#cells.querySelector('[tabindex="0"]')?.focus();
  }

  #cell(name) {
    const cell = {name: h('span', {class: 'cell-name'}), value: h('span', {class: 'cell-value'}), sign: h('span', {class: 'cell-sign'}), more: h('span', {class: 'cell-more'})};
    cell.element = h('button', {type: 'button', 'data-engine': name, onclick: () => this.#open(name)}, cell.name, cell.sign, cell.value, cell.more);
    cell.update = (row) => this.#paint(cell, row);
    return cell;
  }

  #reached(cell) {
    if (cell.dataset.engine !== undefined) {
      this.#current = cell.dataset.engine;
      for (const each of this.#cells.children) {
        attribute(each, 'tabindex', each === cell ? 0 : -1);
      }
    }
  }

  #key(event) {
    const cells = [...this.#cells.children];
    const at = cells.indexOf(document.activeElement);
    const columns = cells.filter((cell) => cell.offsetTop === cells[0].offsetTop).length;
    const to = {ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - columns, ArrowDown: at + columns, Home: 0, End: cells.length - 1}[event.key];
    if (at >= 0 && to !== undefined) {
      event.preventDefault();
      cells[to]?.focus();
    }
  }
}
