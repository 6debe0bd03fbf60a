// The engines of the fleet as rows: one object per engine with all that the map, the table and the panel show.

const DOWN = {level: 'bad', sign: '✕', label: 'down', why: 'It gets no requests while another replica of its model is well.'};
const ASLEEP = {level: 'bad', sign: '☾', label: 'asleep', why: 'Its engines sleep. It gets no requests while another replica of its model is awake.'};
const STUCK = {level: 'bad', sign: '!', label: 'stuck', why: 'It gets one request at a time while another replica of its model is well, until it answers one.'};
const LEAVING = {level: 'note', sign: '↓', label: 'leaving', why: 'It was removed, and leaves when its requests have ended.'};
const DRAINING = {level: 'note', sign: '↓', label: 'draining', why: 'It gets no new requests until it is resumed.'};
const OPEN = {level: 'bad', sign: '!', label: 'circuit open', why: 'It gets no requests while another engine can take them.'};
const HALF_OPEN = {level: 'bad', sign: '!', label: 'circuit half open', why: 'It gets one request at a time until one is answered.'};
const UP = {level: 'good', sign: '', label: 'up', why: ''};

/** Levels: good, note (worth knowing), bad (takes no requests, or is not trusted). `why` is a sentence for the operator. */
function state(replica, engine) {
  if (replica.health !== 'up') {
    return because(replica.problem, DOWN);
  }
  if (replica.leaving) {
    return LEAVING;
  }
  if (replica.draining) {
    return DRAINING;
  }
  if (replica.asleep) {
    return ASLEEP;
  }
  if (replica.stuck) {
    return because(replica.problem, STUCK);
  }
  const state = circuit(engine);
  return state === 'open' ? because(engine.problem, OPEN) : state === 'half_open' ? because(engine.problem, HALF_OPEN) : knowledge(engine.events);
}

/** The cause before what it means. */
function because(problem, state) {
  return problem ? {...state, why: problem[0].toUpperCase() + problem.slice(1) + '. ' + state.why} : state;
}

/** What the router knows of the engine's cache. */
function knowledge(events) {
  if (events === null) {
    return {...UP, why: 'It has no event stream, so load alone decides.'};
  }
  if (events.layoutMismatch) {
    return {level: 'bad', sign: '!', label: 'layout differs', why: 'Its blocks differ from those of other engines of its model: ' + events.layoutMismatch + '.'};
  }
  const {trust, reason} = events;
  if (trust === 'suspect') {
    return {level: 'bad', sign: '?', label: 'suspect', why: 'Its cache is credited less: ' + reason + '.'};
  }
  if (trust === 'none') {
    return {level: 'bad', sign: '?', label: 'no trust', why: 'Its cache is not known, so load alone decides: ' + reason + '.'};
  }
  return trust === 'catching_up' ? {level: 'note', sign: '…', label: 'catching up', why: 'Its cache is credited less until missed events are replayed: ' + reason + '.'} : UP;
}

function circuit(engine) {
  return engine.circuit ?? (engine.ejected ? 'open' : 'closed');
}

/** All engines of the answer of GET /admin/fleet. */
export function rows(fleet) {
  return fleet.replicas.flatMap((replica) => replica.engines.map((engine) => row(replica, engine)));
}

function row(replica, engine) {
  return {
    name: engine.engine,
    replica,
    engine,
    state: state(replica, engine),
    circuit: circuit(engine),
    trust: engine.events?.trust ?? null,
    since: engine.events ? Date.parse(engine.events.since) : null,
    role: replica.role ?? 'both',
    handedOver: (replica.kvConnector ?? 'none') === 'none' ? null : engine.handedOver ?? null,
    inFlight: engine.requestsInFlight,
    waiting: engine.requestsWaiting ?? null,
    running: engine.requestsRunning ?? null,
    queued: engine.queuedPrefillTokens,
    kvUse: engine.kvUse ?? null,
    held: engine.index?.heldBlocks ?? null,
    hitRate: engine.hitRate ?? null,
    worth: engine.worth ? 1_000 * engine.worth.seconds : null,
    error: engine.predictionError ?? null,
    lag: engine.events ? 1_000 * engine.events.lagSeconds : null,
  };
}

/** The part of the names that all share, up to its last separator: it is left out in narrow cells. */
export function sharedPrefix(names) {
  if (names.length < 2) {
    return '';
  }
  let length = names[0].length;
  for (const name of names) {
    while (!name.startsWith(names[0].slice(0, length))) {
      length--;
    }
  }
  return names[0].slice(0, length).replace(/[^-_./:]*$/, '');
}
