// Everything about one engine, and what can be done with its replica.

import {ApiError, post, remove} from './api.js';
import {confirmed} from './dialogs.js';
import {attribute, h, keyed, text} from './dom.js';
import {ago, count, exact, millis, percent, words} from './format.js';

/** Sections of the panel: a title and its lines, each a label and a text. */
function sections(row) {
  const {engine, replica} = row;
  const lists = [
    ['Load', [
      ['Requests in flight', exact(row.inFlight)],
      ['Running at the engine', exact(row.running)],
      ['Waiting at the engine', exact(row.waiting)],
      ['Prefill queued', exact(row.queued) + ' tokens'],
      ['KV cache in use', percent(row.kvUse)],
      ['Circuit', words(row.circuit) + (engine.problem ? ': ' + engine.problem : '')],
      ['Prefill speed', prefill(engine.prefill)],
      ['Decode step', decode(engine.decode)],
    ]],
    ['Cache', [
      ['Hit rate, 5 min', percent(row.hitRate)],
      ['Prediction error, 5 min', percent(row.error)],
      ['Blocks held', exact(row.held)],
      ['Held by it alone', exact(engine.worth?.soleTokens) + ' tokens'],
      ['Worth', millis(row.worth) + ' of prefill, ' + percent(engine.worth?.reuseChance) + ' likely to be used again'],
      ['Computed of what sessions share', prewarmed(engine.prewarm)],
      ['Blocks expected', exact(engine.expectedBlocks?.now)],
      ['Blocks without their parent', exact(engine.index?.orphanBlocks)],
      ['Blocks not credited', exact(engine.index?.suspendedBlocks)],
    ]],
    ['Events', engine.events === null ? [['Events', 'none: it is routed by load']] : [
      ['Trust', words(row.trust) + ' for ' + ago(row.since)],
      ['Reason', engine.events.reason ?? '–'],
      ['Last sequence', engine.events.lastSequence < 0 ? 'none yet' : exact(engine.events.lastSequence)],
      ['Lag', millis(row.lag)],
      ['Batches queued', exact(engine.events.ring?.messages) + ' of ' + exact(engine.events.ring?.maxMessages)],
      ['Block size', engine.events.blockSizeTokens === null ? '–' : exact(engine.events.blockSizeTokens) + ' tokens'],
      ['Layout', engine.events.layoutMismatch ?? 'as others'],
      ...Object.entries(engine.events.counters).map(([name, n]) => [words(name), exact(n)]),
    ]],
    ['Replica', [
      ['Name', replica.name],
      ['URL', replica.url],
      ['Health', replica.health + (replica.asleep ? ', asleep' : '') + (replica.stuck ? ', stuck' : '') + (replica.draining ? ', draining' : '')],
      ['Last health check', replica.checkProblem ?? 'passed'],
      ['Models', replica.models.join(', ')],
      ['Named by', replica.source ?? '–'],
      ['Role', row.role + (row.handedOver === null ? '' : ', by ' + replica.kvConnector + ': ' + exact(row.handedOver) + ' handed over')],
      ['Weight', replica.weight === undefined ? '–' : count(replica.weight)],
      ['Rank', exact(engine.dpRank)],
    ]],
  ];
  return lists.map(([title, lines]) => ({title, lines: lines.map(([label, value]) => ({label, value}))}));
}

function prewarmed(status) {
  return status === null || status === undefined
    ? '–'
    : exact(status.computed) + ' of ' + exact(status.prefixes) + ' prefixes' + (status.tooLong > 0 ? ', ' + exact(status.tooLong) + ' too long' : '') + ', ' + exact(status.tokens) + ' tokens in '
      + millis(status.millis) + ' (' + words(status.state) + (status.problem === null ? '' : ': ' + status.problem) + ')';
}

function prefill(learned) {
  return learned === undefined || learned.samples === 0
    ? 'not yet'
    : (1_000 * learned.millisPerToken).toFixed(1) + '\u202fµs a token, ' + exact(learned.samples) + ' samples';
}

function decode(learned) {
  return learned === undefined || learned.samples === 0
    ? 'not yet'
    : learned.stepMillis.toFixed(1) + '\u202fms and ' + (1_000_000 * learned.contextMillis).toFixed(0)
      + '\u202fns a token of context, ' + exact(learned.samples) + ' samples';
}

export class EnginePanel {
  name = null;
  #say;
  #closed;
  #row = null;
  #title = h('h2', {tabindex: '-1'});
  #state = h('p', {class: 'state'});
  #meaning = h('p', {class: 'muted'});
  #sections = h('div', {class: 'sections'});
  #drain = h('button', {type: 'button', onclick: () => this.#toggleDraining()});
  #remove = h('button', {type: 'button', class: 'danger', onclick: () => this.#takeAway()}, 'Remove…');
  #why = h('p', {class: 'muted'});

  /** `say` shows a message; `closed` is called when the panel was closed. */
  constructor(say, closed) {
    this.#say = say;
    this.#closed = closed;
    this.element = h('aside', {class: 'panel', 'aria-label': 'Engine', hidden: true, onkeydown: (event) => event.key === 'Escape' && this.#close()},
      h('header', {}, this.#title, h('button', {type: 'button', class: 'quiet', 'aria-label': 'Close', onclick: () => this.#close()}, '✕')),
      this.#state, this.#meaning, h('div', {class: 'actions'}, this.#drain, this.#remove), this.#why, this.#sections);
  }

  open(name) {
    this.name = name;
  }

  focus() {
    this.#title.focus({preventScroll: true});
  }

  /** Shows the engine as it is in `rows`; closes when it has left. */
  show(rows) {
    const row = rows.find((each) => each.name === this.name) ?? null;
    this.#row = row;
    this.element.hidden = row === null;
    if (row === null) {
      this.name = null;
      return;
    }
    text(this.#title, row.name);
    text(this.#state, [row.state.sign, row.state.label].join(' ').trim());
    text(this.#meaning, row.state.why);
    this.#state.className = 'state ' + row.state.level;
    text(this.#drain, row.replica.draining ? 'Resume' : 'Drain…');
    this.#drain.disabled = row.replica.leaving === true;
    const {source} = row.replica;
    const owned = source === null || source === 'admin';
    this.#remove.disabled = !owned || row.replica.leaving === true;
    text(this.#why, owned ? '' : 'Named by ' + source + ': remove it there, or drain it here.');
    keyed(this.#sections, sections(row), ({title}) => title, ({title}) => section(title));
  }

  #close() {
    this.name = null;
    this.element.hidden = true;
    this.#closed();
  }

  async #toggleDraining() {
    const {name, draining} = this.#row.replica;
    if (draining) {
      await this.#change(() => post(path(name) + '/resume'), name + ' takes requests again.');
    } else if (await confirmed('Drain ' + name + '?', 'It gets no new requests until you resume it. Requests in flight end normally: '
        + exact(this.#row.inFlight) + ' now.', 'Drain', false)) {
      await this.#change(() => post(path(name) + '/drain'), name + ' drains.');
    }
  }

  async #takeAway() {
    const {name} = this.#row.replica;
    if (await confirmed('Remove ' + name + '?', 'It leaves the fleet when its requests have ended. Its index entries and learned speed go with it.', 'Remove', true)) {
      await this.#change(() => remove(path(name)), name + ' leaves.');
    }
  }

  async #change(call, message) {
    try {
      await call();
      this.#say(message);
    } catch (e) {
      if (!(e instanceof ApiError)) {
        throw e;
      }
      this.#say(e.message, true);
    }
  }
}

function path(name) {
  return 'replicas/' + encodeURIComponent(name);
}

function section(title) {
  const list = h('dl');
  return {
    element: h('section', {}, h('h3', {}, title), list),
    update: ({lines}) => keyed(list, lines, ({label}) => label, ({label}) => line(label)),
  };
}

function line(label) {
  const value = h('dd');
  return {
    element: h('div', {}, h('dt', {}, label), value),
    update: (now) => {
      text(value, now.value);
      attribute(value, 'title', now.value.length > 24 ? now.value : null);
    },
  };
}
