// The hottest prefixes: what they save, and which engines hold them.

import {ApiError, get} from './api.js';
import {attribute, h, keyed, notice, svg, text} from './dom.js';
import {count, exact} from './format.js';
import {rows, sharedPrefix} from './rows.js';

const EVERY = 5_000;
const HEIGHT = 16;

export class PrefixesView {
  #live;
  #timer = null;
  #prefixes = [];
  #loaded = false;
  #body = h('tbody');
  #table;
  #empty = h('div', {class: 'stand-in'});
  #note = h('p', {class: 'muted'});
  #pointed = h('p', {class: 'muted', 'aria-live': 'polite'});
  #engines = [];
  #heads = svg('svg', {class: 'holders', height: HEIGHT, 'aria-hidden': 'true'});

  constructor({live}) {
    this.#live = live;
    const heads = [['Prefix'], ['Tokens', true], ['Requests', true], ['Tokens saved', true], ['Engines', true]];
    this.#table = h('div', {class: 'wide-table', tabindex: '0', role: 'region', 'aria-label': 'Prefixes'},
      h('table', {class: 'prefixes'}, h('caption', {class: 'hidden'}, 'Hottest prefixes and their holders'),
        h('thead', {}, h('tr', {}, heads.map(([label, number]) => h('th', {scope: 'col', class: number ? 'number' : null}, label)),
          h('th', {scope: 'col', class: 'holders-head'}, 'Held by', this.#heads))), this.#body));
    this.element = h('section', {'aria-label': 'Prefixes'}, h('div', {class: 'bar'}, this.#note), this.#empty, this.#table, this.#pointed);
    this.listener = () => this.#loaded && this.#draw();
  }

  show() {
    this.hide();
    this.#live.addEventListener('state', this.listener);
    this.#timer = setInterval(() => this.#live.state.name === 'live' && this.#load(), EVERY);
    this.#load();
  }

  hide() {
    this.#live.removeEventListener('state', this.listener);
    clearInterval(this.#timer);
  }

  async #load() {
    try {
      this.#prefixes = (await get('prefixes?limit=50')).prefixes;
      this.#loaded = true;
      this.#draw();
    } catch (e) {
      if (!(e instanceof ApiError)) {
        throw e;
      }
      this.#empty.replaceChildren(notice('No prefixes', e.message, h('button', {type: 'button', class: 'primary', onclick: () => this.#load()}, 'Try again')));
    }
  }

  #draw() {
    const {fleet, settings} = this.#live;
    const holders = this.#prefixes.flatMap((prefix) => prefix.holders);
    const names = new Set([...(fleet === null ? [] : rows(fleet).map(({name}) => name)), ...holders]);
    this.#engines = [...names].sort((a, b) => a.localeCompare(b, 'en', {numeric: true}));
    text(this.#note, settings.showPrompts ? 'By tokens saved since the router started.' : 'By tokens saved since the router started. Their words need admin.show-prompts.');
    this.#drawHeads();
    const none = this.#prefixes.length === 0;
    this.#empty.replaceChildren(...(none ? [notice('None yet', 'Prefixes show up when requests that share one have ended.')] : []));
    this.#table.hidden = none;
    const most = Math.max(1, ...this.#prefixes.map((prefix) => prefix.tokensSaved));
    keyed(this.#body, this.#prefixes.map((prefix, i) => ({...prefix, rank: i + 1, share: prefix.tokensSaved / most})), ({id}) => id, () => this.#row());
  }

  #row() {
    const number = () => h('td', {class: 'number'});
    const words = h('p');
    const opened = h('details', {}, h('summary', {}, 'words'), words);
    const rank = h('span');
    const tokens = number();
    const requests = number();
    const saved = h('td', {class: 'number share'});
    const engines = number();
    const held = svg('path', {class: 'held'});
    const other = svg('path', {class: 'other'});
    const map = svg('svg', {class: 'holders', height: HEIGHT, role: 'img', onpointermove: (event) => this.#point(event, holders), onpointerleave: () => text(this.#pointed, '')}, other, held);
    let holders = [];
    return {
      element: h('tr', {}, h('th', {scope: 'row'}, rank, opened), tokens, requests, saved, engines, h('td', {}, map)),
      update: (prefix) => {
        holders = prefix.holders;
        text(rank, '#' + prefix.rank + ' ');
        opened.hidden = prefix.firstWords === null || prefix.firstWords === undefined;
        text(words, [prefix.firstWords, prefix.lastWords].filter((each) => each).join(' … '));
        text(tokens, exact(prefix.tokens));
        text(requests, exact(prefix.requests));
        text(saved, count(prefix.tokensSaved));
        saved.style.setProperty('--share', (100 * prefix.share).toFixed(0) + '%');
        text(engines, exact(prefix.engines));
        this.#drawHolders(map, held, other, new Set(prefix.holders));
      },
    };
  }

  /** One cell for each engine, in the order of their names. */
  #drawHolders(map, held, other, holders) {
    const step = this.#step();
    const paths = {true: '', false: ''};
    this.#engines.forEach((name, i) => {
      paths[holders.has(name)] += 'M' + i * step + ' 1h' + (step - 1) + 'v' + (HEIGHT - 2) + 'h-' + (step - 1) + 'z';
    });
    attribute(map, 'width', this.#engines.length * step);
    attribute(held, 'd', paths[true]);
    attribute(other, 'd', paths[false]);
    attribute(map, 'aria-label', holders.size === 0 ? 'held by no engine' : 'held by ' + [...holders].slice(0, 8).join(', ') + (holders.size > 8 ? ', …' : ''));
  }

  #step() {
    const engines = this.#engines.length;
    return engines > 100 ? 4 : engines > 40 ? 8 : engines > 12 ? 20 : engines > 6 ? 34 : 64;
  }

  /** The columns' names, without what all share, where they find room. */
  #drawHeads() {
    const step = this.#step();
    const prefix = sharedPrefix(this.#engines).length;
    const every = step < 20 ? Math.ceil(40 / step / 5) * 5 : 1;
    attribute(this.#heads, 'width', Math.max(1, this.#engines.length * step));
    this.#heads.replaceChildren(...this.#engines.flatMap((name, i) => (i % every === 0
      ? [svg('text', {x: i * step + (every === 1 ? step / 2 : 0), y: HEIGHT - 4, 'text-anchor': every === 1 ? 'middle' : 'start'}, name.slice(prefix, prefix + 5))] : [])));
  }

  #point(event, holders) {
    const name = this.#engines[Math.floor(event.offsetX / this.#step())];
    text(this.#pointed, name === undefined ? '' : name + (holders.includes(name) ? ' holds it' : ' does not hold it'));
  }
}
