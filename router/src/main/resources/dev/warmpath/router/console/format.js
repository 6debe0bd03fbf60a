// Numbers as people read them. What is not known is a dash.

const NONE = '–';
const SPACE = '\u202f';

const grouped = new Intl.NumberFormat('en', {maximumFractionDigits: 0});

function known(value) {
  return typeof value === 'number' && Number.isFinite(value);
}

/** Three significant digits, without an exponent. */
function short(value) {
  const size = Math.abs(value);
  const digits = size === 0 || size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return value.toFixed(digits).replace(/\.0+$/, '');
}

/** A number of things: 950, 12.3 k, 4.56 M. */
export function count(value) {
  if (!known(value)) {
    return NONE;
  }
  const size = Math.abs(value);
  if (size >= 1e9) {
    return short(value / 1e9) + SPACE + 'G';
  }
  if (size >= 1e6) {
    return short(value / 1e6) + SPACE + 'M';
  }
  if (size >= 1e4) {
    return short(value / 1e3) + SPACE + 'k';
  }
  return Number.isInteger(value) || size >= 1e3 ? grouped.format(value) : short(value);
}

/** A whole number with all its digits: 12,345. */
export function exact(value) {
  return known(value) ? grouped.format(value) : NONE;
}

/** 950 B, 12.3 kB, 4.56 MB. */
export function bytes(value) {
  const shown = count(value);
  return known(value) ? shown + (/\d$/.test(shown) ? SPACE : '') + 'B' : NONE;
}

export function rate(value) {
  return known(value) ? count(value) + SPACE + '/s' : NONE;
}

/** A share from 0 to 1. */
export function percent(value) {
  if (!known(value)) {
    return NONE;
  }
  const small = value > 0 && value < 0.0005;
  return (small ? '<0.1' : (100 * value).toFixed(value !== 0 && value < 0.1 ? 1 : 0)) + SPACE + '%';
}

export function millis(value) {
  if (!known(value)) {
    return NONE;
  }
  if (Math.abs(value) >= 60_000) {
    return short(value / 60_000) + SPACE + 'min';
  }
  return Math.abs(value) >= 1_000 ? short(value / 1_000) + SPACE + 's' : short(value) + SPACE + 'ms';
}

/** A cost without a unit, with its sign. */
export function cost(value) {
  if (!known(value)) {
    return NONE;
  }
  return Math.abs(value) >= 1e12 ? value.toExponential(1) : Math.abs(value) >= 1e4 ? count(value) : short(value);
}

/** How long ago a time in milliseconds was: 8 s, 12 min, 3 h, 5 d. */
export function ago(then, now = Date.now()) {
  if (!known(then)) {
    return NONE;
  }
  const seconds = Math.max(0, (now - then) / 1_000);
  if (seconds < 100) {
    return Math.round(seconds) + SPACE + 's';
  }
  if (seconds < 6_000) {
    return Math.round(seconds / 60) + SPACE + 'min';
  }
  return seconds < 172_800 ? Math.round(seconds / 3_600) + SPACE + 'h' : Math.round(seconds / 86_400) + SPACE + 'd';
}

const clock = new Intl.DateTimeFormat('en-GB', {hour: '2-digit', minute: '2-digit', second: '2-digit'});
const minutes = new Intl.DateTimeFormat('en-GB', {hour: '2-digit', minute: '2-digit'});

/** The time of day, with seconds. */
export function time(at) {
  return clock.format(at);
}

/** The time of day, to the minute. */
export function minute(at) {
  return minutes.format(at);
}

/** Tokens by cause, the most first: "352 evicted, 8 new". */
export function causes(tokens) {
  return Object.entries(tokens).sort((a, b) => b[1] - a[1]).map(([cause, amount]) => exact(amount) + ' ' + words(cause)).join(', ');
}

/** A label of metrics as words: queue_full becomes "queue full". */
export function words(label) {
  return label.replaceAll('_', ' ').replaceAll('-', ' ');
}
