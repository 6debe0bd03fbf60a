// The last hour in steps: one point is {at, values}, with the time at which the step ended.

const HOUR = 3_600_000;

export class History {
  #points;
  #step;

  /** From the answer of console/history. */
  constructor({stepSeconds, from, series}) {
    this.#step = stepSeconds * 1_000;
    this.#points = points(series, from, this.#step);
  }

  /** Adds a step of the live stream: one comes every second, and takes the place of the last until a whole step has passed. */
  add({at, ...values}) {
    if (this.#points.at(-1)?.moving) {
      this.#points.pop();
    }
    const settled = this.#points.at(-1);
    const point = {at, values, moving: settled !== undefined && at - settled.at < this.#step};
    this.#points.push(point);
    while (this.#points[0].at < point.at - HOUR) {
      this.#points.shift();
    }
  }

  /** The points of the last `millis`, oldest first. */
  since(millis) {
    const end = this.#points.at(-1)?.at ?? 0;
    return this.#points.filter((point) => point.at >= end - millis);
  }

  get latest() {
    return this.#points.at(-1) ?? null;
  }

  get stepMillis() {
    return this.#step;
  }
}

/** Columns to rows; a column is an array, or an object of arrays. */
function points(series, from, step) {
  const length = Math.max(0, ...Object.values(series).map(lengthOf));
  return Array.from({length}, (_, i) => ({at: from + (i + 1) * step, values: row(series, i)}));
}

function lengthOf(column) {
  return Array.isArray(column) ? column.length : Math.max(0, ...Object.values(column).map((each) => each.length));
}

function row(series, i) {
  const values = {};
  for (const [name, column] of Object.entries(series)) {
    values[name] = Array.isArray(column) ? (column[i] ?? null) : row(column, i);
  }
  return values;
}
