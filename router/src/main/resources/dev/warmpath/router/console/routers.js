// The other routers: who is heard, how old what they told is, and what being several costs.

import {attribute, h, keyed, notice, text} from './dom.js';
import {bytes, count, exact, millis} from './format.js';
import {tile} from './now.js';

/** A router tells something at least every second. */
const SILENT_MILLIS = 2_500;

const UNTIL = 'Its requests count until nothing was heard of it for cluster.expire-ms.';

const SEEDS = {
  waiting: 'looking for a neighbour’s index',
  seeded: 'a neighbour gave its index',
  nobody_has_state: 'no neighbour knew more',
  refused: 'no neighbour gave its index in time',
};

/** Levels are those of engines. */
function state(router) {
  if (!router.reachable) {
    return {level: 'bad', sign: '✕', label: 'not reachable', why: 'It was stopped, killed or cut off. ' + UNTIL};
  }
  if (router.heardMs === null) {
    return {level: 'bad', sign: '?', label: 'not understood', why: 'Nothing that it told could be read: it may be of another version.'};
  }
  if (router.heardMs > SILENT_MILLIS) {
    return {level: 'note', sign: '…', label: 'silent', why: 'It hangs, or the network is slow. ' + UNTIL};
  }
  return router.inStep
    ? {level: 'good', sign: '', label: 'in step', why: 'All is known that it told.'}
    : {level: 'note', sign: '…', label: 'catching up', why: 'Something that it told is missing, and is asked for again.'};
}

/** This router before the others. Several may have one name, by mistake. */
function rows(cluster) {
  const own = {name: cluster.router, age: '–', requests: cluster.requests, waiting: cluster.waiting, state: {level: 'good', sign: '', label: 'this router', why: ''}};
  return [own, ...cluster.routers.map((router) => ({...router, age: router.heardMs === null ? 'never' : millis(router.heardMs), state: state(router)}))].map((row, i) => ({...row, key: i + row.name}));
}

const COLUMNS = [
  {label: 'State', show: (row) => [row.state.sign, row.state.label].join(' ').trim()},
  {label: 'Last heard', hint: 'Before so long: how old what is known of it is', show: (row) => row.age, number: true},
  {label: 'In flight', hint: 'Requests that it has sent and that are not over', show: (row) => exact(row.requests), number: true},
  {label: 'Waiting', hint: 'Requests that wait at it for a place', show: (row) => exact(row.waiting), number: true},
];

const TILES = [
  ['Routers', (now) => exact(1 + now.routers.filter(({reachable}) => reachable).length), (now) => (now.lost === 0 ? 'none was lost' : 'one was lost ' + times(now.lost))],
  ['In flight, all routers', (now) => exact(sum(now, 'requests')), (now) => exact(sum(now, 'waiting')) + ' waiting'],
  ['Told others', (now, speed) => speed('sentBytes'), (now) => bytes(now.waitingBytes) + ' not sent yet'],
  ['Heard of others', (now, speed) => speed('receivedBytes'), (now) => count(now.bookings) + ' requests so far'],
  ['Asked again', (now) => exact(now.askedAgain), (now) => exact(now.droppedMessages) + ' messages dropped here'],
  ['Blind choices', (now) => exact(now.blindChoices), (now) => millis(now.blindPrefillMs) + ' of prefill'],
];

function times(n) {
  return n === 1 ? 'once' : exact(n) + ' times';
}

function sum(cluster, name) {
  return cluster.routers.reduce((total, router) => total + router[name], cluster[name]);
}

/** How fast a counter grew in the last seconds. */
function speed(clusters, name) {
  const [first, last] = [clusters[0], clusters.at(-1)];
  return first.at === last.at ? '–' : bytes((1_000 * (last.data[name] - first.data[name])) / (last.at - first.at)) + '/s';
}

/** How this router came to its index, and what it refused; empty if there is nothing to tell. */
function remarks({seed, refusedMessages, malformedMessages, refusedRows}) {
  const start = seed === undefined ? null : 'Start: ' + SEEDS[seed.outcome] + (seed.bytes > 0 ? ', ' + bytes(seed.bytes) : '') + ', ' + millis(1_000 * seed.seconds) + '.';
  const refused = [[refusedMessages, 'messages too long or without the secret'], [malformedMessages, 'of another version'], [refusedRows, 'rows without room']]
    .filter(([n]) => n > 0).map(([n, what]) => exact(n) + ' ' + what).join(', ');
  return [start, refused === '' ? null : 'Refused: ' + refused + '.'].filter((part) => part !== null).join(' ');
}

export class RoutersView {
  #live;
  #empty = h('div', {class: 'stand-in'});
  #problem = h('p', {class: 'problem', role: 'status'});
  #tiles = TILES.map(([label, main, detail]) => tile(label, main, detail));
  #body = h('tbody');
  #remarks = h('p', {class: 'muted'});
  #shown;

  constructor({live}) {
    this.#live = live;
    const heads = COLUMNS.map(({label, hint, number}) => h('th', {scope: 'col', class: number ? 'number' : null, title: hint ?? null}, label));
    const table = h('table', {class: 'routers'}, h('caption', {class: 'hidden'}, 'Routers'), h('thead', {}, h('tr', {}, h('th', {scope: 'col'}, 'Router'), heads)), this.#body);
    this.#shown = h('div', {class: 'stack'}, h('dl', {class: 'tiles'}, this.#tiles.map(({element}) => element)), this.#problem,
      h('div', {class: 'wide-table', tabindex: '0', role: 'region', 'aria-label': 'Table of routers'}, table), this.#remarks);
    this.element = h('section', {'aria-label': 'Routers'}, this.#empty, this.#shown);
    this.listener = () => this.#draw();
  }

  show() {
    this.#live.addEventListener('cluster', this.listener);
    this.#draw();
  }

  hide() {
    this.#live.removeEventListener('cluster', this.listener);
  }

  #draw() {
    const clusters = this.#live.clusters;
    const now = clusters.at(-1)?.data ?? null;
    this.#empty.replaceChildren(...(now === null ? [notice('Waiting for the routers', 'The router tells of the others every second.')] : []));
    this.#shown.hidden = now === null;
    if (now !== null) {
      this.#tiles.forEach((each) => each.show(now, (name) => speed(clusters, name)));
      const shown = rows(now);
      keyed(this.#body, shown, ({key}) => key, ({name}) => row(name));
      const bad = shown.filter(({state}) => state.level === 'bad').map(({name, state}) => name + ' is ' + state.label + '. ' + state.why);
      text(this.#problem, (now.problem === null ? bad : ['This router goes on alone: ' + now.problem + '.', ...bad]).join(' '));
      text(this.#remarks, remarks(now));
    }
  }
}

function row(name) {
  const cells = COLUMNS.map(({number}) => h('td', {class: number ? 'number' : null}));
  return {
    element: h('tr', {'data-router': name}, h('th', {scope: 'row'}, name), cells),
    update: (now) => {
      cells.forEach((cell, i) => text(cell, COLUMNS[i].show(now)));
      cells[0].className = 'state ' + now.state.level;
      attribute(cells[0], 'title', now.state.why === '' ? null : now.state.why);
    },
  };
}
