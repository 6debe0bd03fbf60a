// Starts the page: tabs, theme, connection.

import {onKeyNeeded} from './api.js';
import {DecisionsView} from './decisions.js';
import {askForKey} from './dialogs.js';
import {attribute, h, notice, text} from './dom.js';
import {ExplainView} from './explain.js';
import {FleetView} from './fleet.js';
import {time} from './format.js';
import {Live} from './live.js';
import {NowView} from './now.js';
import {PrefixesView} from './prefixes.js';
import {RoutersView} from './routers.js';

const SHOWN = 6_000;

const byId = (id) => document.getElementById(id);
const live = new Live();
const context = {live, say};
const views = {
  fleet: ['Fleet', () => new FleetView(context)],
  now: ['Now', () => new NowView(context)],
  explain: ['Explain', () => new ExplainView(context)],
  decisions: ['Decisions', () => new DecisionsView(context)],
  prefixes: ['Prefixes', () => new PrefixesView(context)],
  routers: ['Routers', () => new RoutersView(context)],
};
const made = {};
let current = null;

/** Shows a message for a moment. */
function say(message, bad = false) {
  const line = h('p', {class: bad ? 'message bad' : 'message'}, message);
  byId('messages').append(line);
  setTimeout(() => line.remove(), SHOWN);
}

/** Shows the view that the address names, as #explain?decision=17. */
function route() {
  const [name, query] = location.hash.slice(1).split('?');
  const chosen = Object.hasOwn(views, name) && !(name === 'routers' && live.isAlone) ? name : 'fleet';
  const [title, make] = views[chosen];
  for (const tab of byId('tabs').children) {
    attribute(tab, 'aria-current', tab.hash === '#' + chosen ? 'page' : null);
  }
  document.title = title + ' · Warmpath';
  made[chosen] ??= make();
  if (current !== made[chosen]) {
    current?.hide();
    current = made[chosen];
    byId('view').replaceChildren(current.element);
  }
  current.show(new URLSearchParams(query ?? ''));
}

const STATES = {
  connecting: () => 'Connecting…',
  live: () => 'Live',
  paused: () => 'Paused' + since(),
  waiting: () => 'No connection' + since(),
  locked: () => 'Locked',
};

/** How old the data on the page are, when no new ones come. */
function since() {
  return live.at === null ? '' : ' since ' + time(live.at);
}

function showConnection() {
  const {name, detail} = live.state;
  const place = byId('connection');
  place.dataset.state = name;
  attribute(place, 'title', detail === '' ? null : detail);
  text(place, STATES[name]());
  text(byId('pause'), live.paused ? 'Resume' : 'Pause');
  showBarrier(name, detail);
}

/** Says in the page's place why there is nothing, as long as there never was anything. */
function showBarrier(name, detail) {
  const missing = live.fleet === null && (name === 'locked' || name === 'waiting');
  document.body.classList.toggle('barred', missing);
  byId('barrier')?.remove();
  if (missing) {
    const again = h('button', {type: 'button', class: 'primary', onclick: () => live.start()}, name === 'locked' ? 'Enter the key' : 'Try again');
    const shown = notice(name === 'locked' ? 'The admin key is needed' : 'Nothing to show', detail, again);
    shown.id = 'barrier';
    byId('view').before(shown);
  }
}

function showPolicy() {
  const {policy, stage} = live.fleet;
  text(byId('policy'), policy + (stage === 'open' ? '' : ' · ' + stage));
  attribute(byId('policy'), 'title', 'Warmpath ' + live.settings.version);
}

/** A router that is alone has no view of others. */
function showRouters() {
  const tab = document.querySelector('#tabs a[href="#routers"]');
  tab.hidden = live.isAlone;
  if (live.isAlone && current === made.routers) {
    route();
  }
}

const THEMES = ['auto', 'light', 'dark'];

function showTheme() {
  const theme = document.documentElement.dataset.theme;
  text(byId('theme'), {auto: '◐', light: '○', dark: '●'}[theme]);
  attribute(byId('theme'), 'aria-label', 'Colours: ' + theme);
  attribute(byId('theme'), 'title', 'Colours: ' + theme);
}

function nextTheme() {
  const theme = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem('warmpath.theme', theme);
  } catch {
    // no storage: it holds until the page is left
  }
  showTheme();
}

onKeyNeeded(askForKey);
live.addEventListener('state', showConnection);
live.addEventListener('fleet', showPolicy);
live.addEventListener('fleet', showRouters);
byId('pause').addEventListener('click', () => (live.paused ? live.resume() : live.pause()));
byId('theme').addEventListener('click', nextTheme);
window.addEventListener('hashchange', route);
showTheme();
route();
live.start();
