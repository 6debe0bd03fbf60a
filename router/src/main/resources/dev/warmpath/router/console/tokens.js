// A prompt's tokens as text, coloured by how many engines hold them.

import {h, text, variable} from './dom.js';
import {exact} from './format.js';

/** Consecutive blocks with the same holders together: {first, tokens, text, holders}. */
export function segments(blocks) {
  const all = [];
  let first = 0;
  for (const block of blocks) {
    const last = all.at(-1);
    const key = block.holders.join('\n');
    if (last !== undefined && last.key === key) {
      last.tokens += block.tokens;
      last.text = last.text === null || block.text === null ? null : last.text + block.text;
    } else {
      all.push({key, first, tokens: block.tokens, text: block.text, holders: block.holders});
    }
    first += block.tokens;
  }
  return all;
}

/** From 0 to 1: one holder of many engines can be told from none. */
function warmth(holders, engines) {
  return holders === 0 ? 0 : 0.2 + 0.8 * Math.min(1, holders / Math.max(1, engines));
}

export class TokenText {
  #engines = 0;
  #flow = h('div', {class: 'tokens', tabindex: '0', role: 'region', 'aria-label': 'Tokens of the prompt'});
  #readout = h('p', {class: 'muted', 'aria-live': 'polite'});

  constructor() {
    this.element = h('div', {},
      h('p', {class: 'scale'}, h('span', {}, 'held by none'), h('i', {'aria-hidden': 'true'}), h('span', {}, 'held by all')), this.#flow, this.#readout);
  }

  /** Shows blocks of a prompt; `engines` is how many engines could hold them. */
  show(blocks, leftOut, engines) {
    this.#engines = engines;
    const parts = segments(blocks);
    this.#flow.replaceChildren(...parts.flatMap((part, i) => this.#part(part, i)));
    if (leftOut > 0) {
      this.#flow.append(h('span', {class: 'muted'}, ' … ' + exact(leftOut) + ' more blocks'));
    }
    text(this.#readout, parts.length === 0 ? 'The prompt has no whole block.' : 'Point at a part, or move to it with Tab, to see who holds it.');
  }

  #part(part, i) {
    const said = this.#said(part);
    const show = () => text(this.#readout, said);
    const shown = part.text ?? ' ' + exact(part.tokens) + ' tokens ';
    const mark = h('button', {type: 'button', class: 'segment-mark', 'aria-label': said, title: said, onfocus: show, onclick: show}, String(part.holders.length));
    const span = h('span', {class: part.text === null ? 'segment closed' : 'segment', title: said, onpointerenter: show}, shown);
    variable(span, '--heat', (100 * warmth(part.holders.length, this.#engines)).toFixed(0) + '%');
    return i === 0 ? [mark, span] : [h('wbr'), mark, span];
  }

  #said({first, tokens, holders}) {
    const names = holders.slice(0, 8).join(', ') + (holders.length > 8 ? ', …' : '');
    return 'Tokens ' + exact(first + 1) + ' to ' + exact(first + tokens) + ': '
      + (holders.length === 0 ? 'held by none' : 'held by ' + exact(holders.length) + ' of ' + exact(this.#engines) + ' (' + names + ')');
  }
}
