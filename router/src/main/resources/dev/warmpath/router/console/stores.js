// The stores that engines share: one row each.

import {attribute, h, keyed, text} from './dom.js';
import {count, exact, percent, words} from './format.js';

const COLUMNS = [
  {label: 'Store', hint: 'Several engines write and read it'},
  {label: 'State', show: (store) => state(store).label},
  {label: 'Trust', hint: 'How far its events are believed; by age: nobody hears what it drops', show: (store) => words(store.trust)},
  {label: 'Medium', hint: 'As its readers’ events call it', show: (store) => store.medium ?? 'any'},
  {label: 'Read by', show: (store) => readers(store.readers)},
  {label: 'Blocks held', show: (store) => count(store.blocks), number: true},
  {label: 'Nameless', hint: 'Blocks that it was said to hold, and that no engine names: they are not credited', show: (store) => exact(store.nameless), number: true},
  {label: 'Kept', hint: 'How likely a block is there still that was used a minute, an hour and a day ago', show: (store) => [store.kept.minute, store.kept.hour, store.kept.day].map(percent).join(', '), number: true},
  {label: 'Served', hint: 'Of the prompt tokens that it alone was to hold, those that engines got', show: (store) => percent(share(store.tokens)), number: true},
];

function share({held, served}) {
  return held === 0 ? null : served / held;
}

function readers(names) {
  return names.length === 0 ? 'nobody' : names.slice(0, 3).join(', ') + (names.length > 3 ? ' and ' + exact(names.length - 3) + ' more' : '');
}

function state(store) {
  if (store.silent) {
    return {level: 'bad', label: 'silent', why: 'Its events say nothing, while its readers fill it or get from it what it was not known to hold.'};
  }
  if (store.readers.length === 0) {
    return {level: 'note', label: 'not read', why: 'No replica reads it.'};
  }
  if (store.trust === 'by_age') {
    return {level: 'good', label: 'used', why: 'Nobody hears what it drops, so what is likely to be there still is credited.'};
  }
  return store.trust === 'exact' ? {level: 'good', label: 'used', why: ''} : {level: 'note', label: 'not known in full', why: (store.reason ?? '') + '.'};
}

export class StoresTable {
  #body = h('tbody');

  constructor() {
    const heads = COLUMNS.map((column) => h('th', {scope: 'col', class: column.number ? 'number' : null, title: column.hint ?? null}, column.label));
    const table = h('table', {}, h('caption', {class: 'hidden'}, 'Shared stores'), h('thead', {}, h('tr', {}, heads)), this.#body);
    this.element = h('div', {class: 'wide-table stores', tabindex: '0', role: 'region', 'aria-label': 'Table of shared stores', hidden: true}, table);
  }

  /** Shows these; nothing if there are none. */
  show(stores) {
    this.element.hidden = stores.length === 0;
    keyed(this.#body, stores, (store) => store.name, (store) => this.#row(store.name));
  }

  #row(name) {
    const cells = COLUMNS.slice(1).map((column) => h('td', {class: column.number ? 'number' : null}));
    const element = h('tr', {'data-store': name}, h('th', {scope: 'row'}, name), cells);
    return {
      element,
      update: (store) => {
        cells.forEach((cell, i) => text(cell, COLUMNS[i + 1].show(store)));
        const {level, why} = state(store);
        cells[0].className = 'state ' + level;
        attribute(cells[0], 'title', why === '' ? null : why);
      },
    };
  }
}
