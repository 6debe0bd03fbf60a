// The fleet: figures of all, a map of cells, a table, and a panel with everything about one engine.

import {choice, h, notice, select, text} from './dom.js';
import {EnginePanel} from './engine.js';
import {FleetMap, MEASURES} from './map.js';
import {count, exact, percent} from './format.js';
import {rows} from './rows.js';
import {StoresTable} from './stores.js';
import {FleetTable} from './table.js';

const FILTERS = {
  all: ['All engines', () => true],
  attention: ['Needs attention', (row) => row.state.level !== 'good'],
  draining: ['Draining', (row) => row.replica.draining],
  down: ['Down or circuit open', (row) => row.replica.health !== 'up' || row.replica.asleep || row.replica.stuck || row.circuit !== 'closed'],
  distrust: ['Trust not exact', (row) => row.trust !== 'exact'],
  waiting: ['Requests waiting', (row) => (row.waiting ?? 0) > 0],
};

export class FleetView {
  #live;
  #measure = 'hitRate';
  #filter = 'all';
  #search = '';
  #model = '';
  #models;
  #filters;
  #summary = h('dl', {class: 'summary'});
  #figures = new Map();
  #map;
  #table;
  #stores = new StoresTable();
  #panel;
  #empty = h('div', {class: 'stand-in'});
  #body;
  #shown = h('p', {class: 'muted', 'aria-live': 'polite'});
  #without = h('p', {class: 'problem', role: 'status', hidden: true});

  constructor({live, say}) {
    this.#live = live;
    const open = (name) => this.#open(name);
    this.#map = new FleetMap(open);
    this.#table = new FleetTable(open);
    this.#panel = new EnginePanel(say, () => this.#closed());
    this.#models = select('Model', [['', 'all']], (value) => this.#filterBy('model', value));
    const search = h('input', {type: 'search', placeholder: 'name', oninput: () => this.#filterBy('search', search.value)});
    this.#filters = select('Show', Object.entries(FILTERS).map(([key, [label]]) => [key, label]), (value) => this.#filterBy('filter', value));
    const bar = h('div', {class: 'bar'},
      choice('Colour the map by', Object.entries(MEASURES).map(([key, {label}]) => [key, label]), this.#measure, (key) => this.#colourBy(key)),
      h('div', {class: 'filters'},
        this.#filters.element,
        this.#models.element,
        h('label', {class: 'field'}, h('span', {}, 'Engine'), search)));
    this.#body = h('div', {class: 'fleet-body'},
      h('div', {class: 'fleet-main'}, this.#map.element, this.#shown, this.#stores.element, this.#table.element), this.#panel.element);
    this.element = h('section', {class: 'fleet', 'aria-label': 'Fleet'}, this.#without, this.#summary, bar, this.#empty, this.#body);
    this.listener = () => this.#draw();
  }

  show(query) {
    this.#live.addEventListener('fleet', this.listener);
    if (query.has('engine')) {
      this.#panel.open(query.get('engine'));
    }
    this.#draw();
  }

  hide() {
    this.#live.removeEventListener('fleet', this.listener);
  }

  #colourBy(measure) {
    this.#measure = measure;
    this.#draw();
  }

  /** Shows the engines that need attention, or all again. */
  #toggleAttention() {
    this.#filters.value = this.#filter === 'attention' ? 'all' : 'attention';
    this.#filterBy('filter', this.#filters.value);
  }

  #filterBy(what, value) {
    if (what === 'filter') {
      this.#filter = value;
    } else if (what === 'model') {
      this.#model = value;
    } else {
      this.#search = value.trim().toLowerCase();
    }
    this.#draw();
  }

  #open(name) {
    this.#panel.open(name);
    this.#draw();
    this.#panel.focus();
  }

  #closed() {
    this.#draw();
    this.#map.focus();
  }

  #draw() {
    const fleet = this.#live.fleet;
    if (fleet === null) {
      this.#stand(notice('Waiting for the fleet', 'The router sends its state every two seconds.'));
      return;
    }
    const all = rows(fleet);
    if (all.length === 0) {
      this.#stand(notice('No replicas', 'Name them under replicas in the configuration, let a discovery source find them, or add one with POST /admin/replicas.'));
      return;
    }
    this.#stand(null);
    const models = [...new Set(fleet.replicas.flatMap((replica) => replica.models))].sort();
    this.#models.options = [['', 'all'], ...models.map((model) => [model, model])];
    this.#sum(fleet, all);
    const without = fleet.modelsWithoutReplica ?? [];
    this.#without.hidden = without.length === 0;
    text(this.#without, without.length === 0 ? '' : 'No replica is well of ' + without.slice(0, 5).join(', ') + (without.length > 5 ? ' and ' + exact(without.length - 5) + ' more' : '')
      + '. Their requests go to the least bad replicas.');
    const shown = all.filter((row) => this.#passes(row));
    text(this.#shown, shown.length === all.length ? '' : exact(shown.length) + ' of ' + exact(all.length) + ' engines');
    this.#map.show(shown, this.#measure, this.#panel.name);
    this.#stores.show(fleet.stores ?? []);
    this.#table.show(shown, this.#panel.name);
    this.#panel.show(all);
  }

  #passes(row) {
    return FILTERS[this.#filter][1](row)
      && (this.#model === '' || row.replica.models.includes(this.#model))
      && row.name.toLowerCase().includes(this.#search);
  }

  #stand(shown) {
    this.#empty.replaceChildren(...(shown === null ? [] : [shown]));
    this.#body.hidden = shown !== null;
    this.#summary.hidden = shown !== null;
  }

  #sum(fleet, all) {
    const held = all.reduce((sum, row) => sum + (row.held ?? 0), 0);
    const attention = all.filter((row) => row.state.level !== 'good');
    const {bytes, maxBytes} = fleet.index;
    this.#figure('Replicas', exact(fleet.replicas.length), all.length === fleet.replicas.length ? '' : exact(all.length) + ' engines');
    this.#figure('Need attention', exact(attention.length), '', {bad: attention.some((row) => row.state.level === 'bad'), press: () => this.#toggleAttention()});
    this.#figure('Requests in flight', exact(fleet.requestsServing), '');
    const rate = this.#live.history?.latest?.values.hitRate ?? null;
    this.#figure('Hit rate now', percent(rate), rate === null ? 'no requests in 10\u202fs' : '');
    this.#figure('Blocks held', count(held), '');
    this.#figure('Index', percent(bytes / maxBytes), count(bytes / 2 ** 20) + ' of ' + count(maxBytes / 2 ** 20) + ' MiB');
  }

  /** A figure in the summary; with `press` it is a button. */
  #figure(label, value, detail, {bad = false, press = null} = {}) {
    if (!this.#figures.has(label)) {
      const shown = press === null ? h('span') : h('button', {type: 'button', class: 'link', title: 'Show these engines, or all', onclick: press});
      const parts = {value: shown, detail: h('small')};
      parts.element = h('div', {}, h('dt', {}, label), h('dd', {}, h('b', {}, shown), ' ', parts.detail));
      this.#figures.set(label, parts);
      this.#summary.append(parts.element);
    }
    const parts = this.#figures.get(label);
    text(parts.value, value);
    text(parts.detail, detail);
    parts.element.classList.toggle('bad', bad);
  }
}
