// Calls to the router's admin endpoints, with the admin key where one is needed.

const KEY = 'warmpath.key';

/** A call that failed; `status` is 0 if there was no answer. */
export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

let askForKey = async () => null;
let asking = null;

/** Sets who asks the operator for the key: a function that resolves to a key, or to null. */
export function onKeyNeeded(ask) {
  askForKey = ask;
}

export async function get(path, signal) {
  return (await call('GET', path, undefined, signal)).json();
}

export async function post(path, body = '') {
  return (await call('POST', path, body)).json();
}

export async function remove(path) {
  return (await call('DELETE', path)).json();
}

/** The events of a stream, as they come: {event, data}. Ends when the router closes it. */
export async function* events(path, signal) {
  const response = await call('GET', path, undefined, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const {value, done} = await reader.read();
    if (done) {
      return;
    }
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      const event = parsed(block);
      if (event.data !== '') {
        yield {event: event.name, data: JSON.parse(event.data)};
      }
    }
  }
}

function parsed(block) {
  const event = {name: 'message', data: ''};
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) {
      event.name = line.slice(6).trim();
    } else if (line.startsWith('data:')) {
      event.data += line.slice(5);
    }
  }
  return event;
}

async function call(method, path, body, signal) {
  for (;;) {
    const key = sessionStorage.getItem(KEY);
    const response = await answer(method, path, body, signal, key);
    if (response.ok) {
      return response;
    }
    const message = await reason(response);
    if (response.status !== 401) {
      throw new ApiError(response.status, message);
    }
    if (!(await anotherKey(key))) {
      throw new ApiError(401, message);
    }
  }
}

async function answer(method, path, body, signal, key) {
  const headers = key === null ? {} : {authorization: 'Bearer ' + key};
  try {
    return await fetch(new URL(path, document.baseURI), {method, body, signal, headers, cache: 'no-store'});
  } catch (e) {
    if (e.name === 'AbortError') {
      throw e;
    }
    throw new ApiError(0, 'The router does not answer.');
  }
}

async function reason(response) {
  try {
    return (await response.json()).error.message;
  } catch {
    return 'The router answered ' + response.status + '.';
  }
}

/** Asks once, however many calls were refused; whether there is another key than the refused one. */
async function anotherKey(refused) {
  if (sessionStorage.getItem(KEY) !== refused) {
    return true;
  }
  asking ??= askForKey(refused !== null).finally(() => (asking = null));
  const key = await asking;
  if (key === null) {
    return false;
  }
  sessionStorage.setItem(KEY, key);
  return true;
}
