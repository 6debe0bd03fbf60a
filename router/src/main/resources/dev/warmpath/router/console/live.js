// What the router tells while it is watched: other routers, fleet, figures, decisions. Reconnects by itself; a page that is paused or
// hidden for a minute costs the router nothing.

import {ApiError, events, get} from './api.js';
import {History} from './history.js';

const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 15_000;
const NO_END = Infinity;
const SILENCE = 15_000;
const HIDDEN = 60_000;
const MOST_DECISIONS = 1_000;
const CLUSTER_MILLIS = 10_000;

/** Dispatches "state", "cluster", "fleet", "now" and "decisions". */
export class Live extends EventTarget {
  state = {name: 'connecting', detail: ''};
  settings = {};
  fleet = null;
  /** The last ten seconds of the other routers, as {at, data}, oldest first; empty if this router is alone. */
  clusters = [];
  /** When the last event came; null before the first. */
  at = null;
  history = null;
  /** Newest first. */
  decisions = [];

  #paused = false;
  #hidden = false;
  #running = false;
  #abort = null;
  #wake = () => {};

  constructor() {
    super();
    let timer;
    document.addEventListener('visibilitychange', () => {
      clearTimeout(timer);
      if (document.hidden) {
        timer = setTimeout(() => this.#hide(true), HIDDEN);
      } else {
        this.#hide(false);
      }
    });
    // A page that was left may be kept for the way back, and its connection with it; browsers open six to one host.
    window.addEventListener('pagehide', () => this.#hide(true));
    window.addEventListener('pageshow', () => this.#hide(false));
  }

  /** Whether the router is known to have no others; they come before the fleet. */
  get isAlone() {
    return this.fleet !== null && this.clusters.length === 0;
  }

  get paused() {
    return this.#paused;
  }

  pause() {
    this.#paused = true;
    this.#stop();
    this.#show('paused');
  }

  resume() {
    this.#paused = false;
    this.start();
  }

  #hide(hidden) {
    this.#hidden = hidden;
    if (hidden) {
      this.#stop();
    } else {
      this.start();
    }
  }

  #stop() {
    this.#abort?.abort();
    this.#wake();
  }

  /** Connects, and goes on until it is stopped. */
  async start() {
    this.#wake();
    if (this.#running || this.#paused || this.#hidden) {
      return;
    }
    this.#running = true;
    let wait = FIRST_WAIT;
    while (!this.#paused && !this.#hidden) {
      this.#show('connecting');
      const heard = await this.#listen();
      if (this.#paused || this.#hidden) {
        break;
      }
      wait = heard ? FIRST_WAIT : Math.min(2 * wait, LONGEST_WAIT);
      const isBarred = this.state.name === 'locked' && this.fleet === null; // the page has a button
      await this.#sleep(isBarred ? NO_END : wait);
    }
    this.#running = false;
  }

  /** Until the stream ends; whether anything came. */
  async #listen() {
    const abort = new AbortController();
    this.#abort = abort;
    let heard = false;
    let watchdog;
    try {
      this.clusters = [];
      this.settings = await get('console/settings', abort.signal);
      this.history = new History(await get('console/history?seconds=3600', abort.signal));
      for await (const event of events('console/live', abort.signal)) {
        heard = true;
        clearTimeout(watchdog);
        watchdog = setTimeout(() => abort.abort(new ApiError(0, 'Nothing came for ' + SILENCE / 1_000 + ' s.')), SILENCE);
        this.#take(event);
      }
      this.#show('waiting', 'The router closed the stream.');
    } catch (e) {
      this.#failed(e);
    } finally {
      clearTimeout(watchdog);
    }
    return heard;
  }

  #failed(e) {
    if (this.#paused || this.#hidden || e.name === 'AbortError') {
      return; // it was ended here
    }
    if (e instanceof ApiError) {
      this.#show(e.status === 401 ? 'locked' : 'waiting', e.message);
    } else {
      this.#show('waiting', 'The stream broke off.');
    }
  }

  #take({event, data}) {
    this.at = Date.now();
    if (event === 'cluster') {
      this.clusters = [...this.clusters.filter(({at}) => this.at - at <= CLUSTER_MILLIS), {at: this.at, data}];
    } else if (event === 'fleet') {
      this.fleet = data;
    } else if (event === 'now') {
      this.history.add(data);
    } else if (event === 'decision') {
      this.decisions = [...data].reverse().concat(this.decisions).slice(0, MOST_DECISIONS);
    }
    if (this.state.name !== 'live') {
      this.#show('live');
    }
    this.dispatchEvent(new CustomEvent(event === 'decision' ? 'decisions' : event, {detail: data}));
  }

  #show(name, detail = '') {
    this.state = {name, detail};
    this.dispatchEvent(new Event('state'));
  }

  #sleep(millis) {
    return new Promise((done) => {
      const timer = millis === NO_END ? 0 : setTimeout(done, millis);
      this.#wake = () => {
        clearTimeout(timer);
        done();
      };
    });
  }
}
