// The engines of the fleet as rows: one object per engine with all that the map, the table and the panel show.

/** Levels: good, note (worth knowing), bad (takes no requests, or is not trusted). */
function state(replica, engine) {
  const trust = engine.events?.trust ?? null;
  if (replica.health !== 'up') {
    return {level: 'bad', sign: '✕', label: 'down'};
  }
  if (replica.leaving) {
    return {level: 'note', sign: '↓', label: 'leaving'};
  }
  if (replica.draining) {
    return {level: 'note', sign: '↓', label: 'draining'};
  }
  if (circuit(engine) !== 'closed') {
    return {level: 'bad', sign: '!', label: 'circuit ' + circuit(engine).replace('_', ' ')};
  }
  if (engine.events?.layoutMismatch) {
    return {level: 'bad', sign: '!', label: 'layout differs'};
  }
  if (trust === 'suspect' || trust === 'none') {
    return {level: 'bad', sign: '?', label: trust === 'none' ? 'no trust' : 'suspect'};
  }
  return trust === 'catching_up' ? {level: 'note', sign: '…', label: 'catching up'} : {level: 'good', sign: '', label: 'up'};
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
    inFlight: engine.requestsInFlight,
    waiting: engine.requestsWaiting ?? null,
    running: engine.requestsRunning ?? null,
    queued: engine.queuedPrefillTokens,
    kvUse: engine.kvUse ?? null,
    held: engine.index?.heldBlocks ?? null,
    hitRate: engine.hitRate ?? null,
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
