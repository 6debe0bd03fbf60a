// The last decisions, newest first: predicted against reported cached tokens, times, reasons.

import {ApiError, get} from './api.js';
import {h, keyed, notice, select, text} from './dom.js';
import {causes, exact, millis, time, words} from './format.js';

const PAGE = 100;
const MOST_SHOWN = 500;

/** Label, text of a cell, and for columns of numbers what they are. */
const COLUMNS = [
  ['Time', (d) => time(d.timeMs)],
  ['Engine', (d) => d.engine ?? '–'],
  ['Reason', (d) => words(d.reason ?? '–')],
  ['Prompt', (d) => exact(d.promptTokens), 'Tokens of the prompt, as the engine reports'],
  ['Predicted', (d) => exact(d.predictedCachedTokens), 'Cached tokens that the router predicted'],
  ['Cached', (d) => exact(d.cachedTokens), 'Cached tokens, as the engine reports'],
  ['Too high', (d) => (d.overTokens > 0 ? '▲\u202f' + exact(d.overTokens) : ''), 'Tokens that were predicted and not cached'],
  ['Not cached', (d) => causes(d.uncachedTokens ?? {}), 'Tokens that the engine computed, by why they were not cached'],
  ['Waited', (d) => (d.waitMs > 0 ? millis(d.waitMs) : ''), 'Time in the router’s queue'],
  ['TTFT', (d) => millis(d.ttftMs), 'From the request’s head to the first token'],
  ['Total', (d) => millis(d.totalMs), 'From the request’s head to the end of the answer'],
  ['Outcome', (d) => words(d.outcome ?? '–') + (d.status >= 400 ? ' ' + d.status : '') + (d.attempts > 1 ? ', ' + d.attempts + ' attempts' : '')],
  ['Model', (d) => d.model ?? '–'],
  ['Path', (d) => d.path ?? '–'],
  ['Client', (d) => d.client ?? ''],
];

export class DecisionsView {
  #live;
  #rows = [];
  #loaded = false;
  #asked = 0;
  #filters = {over: '', replica: '', reason: ''};
  #replicas;
  #reasons;
  #body = h('tbody');
  #table;
  #empty = h('div', {class: 'stand-in'});
  #older = h('button', {type: 'button', class: 'quiet', onclick: () => this.#load(true)}, 'Older');
  #note = h('p', {class: 'muted', 'aria-live': 'polite'});

  constructor({live}) {
    this.#live = live;
    const filter = (name) => (value) => {
      this.#filters[name] = value;
      this.#load(false);
    };
    this.#replicas = select('Replica', [['', 'all']], filter('replica'));
    this.#reasons = select('Reason', [['', 'all']], filter('reason'));
    const over = select('Prediction', [['', 'all'], ['true', 'too high']], filter('over'));
    const heads = COLUMNS.map(([label, , hint]) => h('th', {scope: 'col', class: hint ? 'number' : null, title: hint ?? null}, label));
    this.#table = h('div', {class: 'wide-table', tabindex: '0', role: 'region', 'aria-label': 'Decisions'},
      h('table', {class: 'decisions'}, h('caption', {class: 'hidden'}, 'Decisions, newest first'), h('thead', {}, h('tr', {}, heads)), this.#body));
    this.element = h('section', {'aria-label': 'Decisions'},
      h('div', {class: 'bar'}, h('div', {class: 'filters'}, over.element, this.#replicas.element, this.#reasons.element), this.#note),
      this.#empty, this.#table, h('div', {class: 'actions'}, this.#older));
    this.listener = (event) => this.#add(event.detail);
  }

  show() {
    this.#live.addEventListener('decisions', this.listener);
    this.#load(false);
  }

  hide() {
    this.#live.removeEventListener('decisions', this.listener);
  }

  async #load(older) {
    const asked = ++this.#asked;
    const query = new URLSearchParams({limit: PAGE});
    Object.entries(this.#filters).filter(([, value]) => value !== '').forEach(([name, value]) => query.set(name, value));
    if (older && this.#rows.length > 0) {
      query.set('before', this.#rows.at(-1).id);
    }
    try {
      const answer = await get('decisions?' + query);
      if (asked === this.#asked) {
        this.#loaded = true;
        this.#rows = older ? this.#rows.concat(answer.decisions) : answer.decisions;
        this.#older.hidden = answer.decisions.length < PAGE;
        text(this.#note, answer.maxKept === 0 ? '' : exact(answer.kept) + ' kept, at most ' + exact(answer.maxKept));
        this.#draw(answer.maxKept === 0);
      }
    } catch (e) {
      if (!(e instanceof ApiError)) {
        throw e;
      }
      this.#empty.replaceChildren(notice('No decisions', e.message, h('button', {type: 'button', class: 'primary', onclick: () => this.#load(false)}, 'Try again')));
    }
  }

  /** New ones, oldest first. */
  #add(decisions) {
    if (!this.#loaded) {
      return;
    }
    const known = new Set(this.#rows.slice(0, 2 * PAGE).map(({id}) => id));
    const fresh = decisions.filter((each) => this.#passes(each) && !known.has(each.id)).reverse();
    if (fresh.length > 0) {
      this.#rows = fresh.concat(this.#rows).slice(0, Math.max(MOST_SHOWN, this.#rows.length));
      this.#draw(false);
    }
  }

  #passes(decision) {
    const {over, replica, reason} = this.#filters;
    return (over === '' || decision.overTokens > 0)
      && (replica === '' || decision.engine === replica || decision.engine?.startsWith(replica + '/') === true)
      && (reason === '' || decision.reason === reason);
  }

  #draw(off) {
    const names = this.#live.fleet?.replicas.map(({name}) => name) ?? [];
    this.#replicas.options = [['', 'all'], ...names.map((name) => [name, name])];
    const reasons = new Set([...this.#rows, ...this.#live.decisions].map(({reason}) => reason).filter((reason) => reason));
    if (this.#filters.reason !== '') {
      reasons.add(this.#filters.reason);
    }
    this.#reasons.options = [['', 'all'], ...[...reasons].sort().map((reason) => [reason, words(reason)])];
    const none = off ? notice('Decisions are not kept', 'Set admin.decisions-kept above 0.')
      : this.#rows.length === 0 ? notice('None yet', Object.values(this.#filters).some((value) => value !== '') ? 'No decision passes this filter.' : 'The next request shows up here.') : null;
    this.#empty.replaceChildren(...(none === null ? [] : [none]));
    this.#table.hidden = none !== null;
    keyed(this.#body, this.#rows, ({id}) => id, row);
  }
}

function row(decision) {
  const link = h('a', {href: '#explain?decision=' + encodeURIComponent(decision.id), 'aria-label': 'Explain the decision of ' + time(decision.timeMs)}, 'why?');
  const cells = COLUMNS.map(([, show, hint]) => h('td', {class: hint ? 'number' : null}, show(decision)));
  cells[2].append(' ', link);
  const level = decision.status >= 400 ? 'failed' : decision.overTokens > 0 ? 'over' : null;
  return {element: h('tr', {class: level}, cells), update: () => {}};
}
