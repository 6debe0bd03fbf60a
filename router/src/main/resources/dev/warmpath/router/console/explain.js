// Where a request would go, and why: a pasted request, or one that was decided before, against the index as it is now.

import {ApiError, get, post} from './api.js';
import {attribute, h, notice, select, text} from './dom.js';
import {causes, cost, exact, time, words} from './format.js';
import {scoreTable} from './scores.js';
import {TokenText} from './tokens.js';

const PATHS = [['', 'by its fields'], ['/v1/chat/completions', '/v1/chat/completions'], ['/v1/completions', '/v1/completions'],
  ['/v1/messages', '/v1/messages'], ['/v1/responses', '/v1/responses']];

export class ExplainView {
  #live;
  #body = h('textarea', {rows: '9', spellcheck: 'false', placeholder: '{"model": "…", "messages": [{"role": "user", "content": "…"}]}'});
  #path = select('Path', PATHS, () => {});
  #session = h('input', {type: 'text', autocomplete: 'off', spellcheck: 'false'});
  #button = h('button', {type: 'submit', class: 'primary'}, 'Explain');
  #problem = h('p', {class: 'problem', role: 'alert'});
  #result = h('div', {class: 'result', 'aria-live': 'polite'});
  #tokens = new TokenText();
  #decision = null;
  #form;
  #asked = 0;

  constructor({live}) {
    this.#live = live;
    const form = h('form', {class: 'explain-form', onsubmit: (event) => {
      event.preventDefault();
      this.#explainBody();
    }, onkeydown: (event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && form.requestSubmit()},
      h('label', {class: 'field wide'}, h('span', {}, 'Request body'), this.#body),
      h('div', {class: 'filters'}, this.#path.element, h('label', {class: 'field'}, h('span', {}, 'Session'), this.#session),
        h('button', {type: 'button', class: 'quiet', onclick: () => this.#example()}, 'Example'), this.#button),
      this.#problem);
    this.#form = h('details', {class: 'card', open: true}, h('summary', {}, 'Request'), form);
    this.element = h('section', {'aria-label': 'Explain'}, this.#form, this.#result);
    this.#result.append(notice('No request yet', 'Paste the body of a request. Nothing is sent to an engine or reserved. Decisions link here too.'));
  }

  show(query) {
    const decision = query.get('decision');
    if (decision !== null && decision !== this.#decision) {
      this.#decision = decision;
      this.#form.open = false;
      this.#explainDecision(decision);
    }
  }

  hide() {}

  #example() {
    const model = this.#live.fleet?.replicas.flatMap((replica) => replica.models)[0] ?? 'MODEL';
    this.#body.value = JSON.stringify({model, messages: [{role: 'user', content: 'Hello'}]}, null, 2);
    this.#body.focus();
  }

  #explainBody() {
    try {
      JSON.parse(this.#body.value);
    } catch (e) {
      text(this.#problem, 'This is no JSON: ' + e.message);
      return;
    }
    const query = new URLSearchParams({detail: 'tokens', policies: 'all'});
    if (this.#path.value !== '') {
      query.set('path', this.#path.value);
    }
    if (this.#session.value !== '') {
      query.set('session', this.#session.value);
    }
    this.#ask(() => post('explain?' + query, this.#body.value));
  }

  #explainDecision(id) {
    this.#ask(() => get('decisions/' + encodeURIComponent(id) + '/explain?policies=all'));
  }

  async #ask(call) {
    const asked = ++this.#asked;
    text(this.#problem, '');
    attribute(this.#button, 'disabled', true);
    attribute(this.#result, 'aria-busy', 'true');
    try {
      const answer = await call();
      if (asked === this.#asked) {
        this.#show(answer);
      }
    } catch (e) {
      if (!(e instanceof ApiError)) {
        throw e;
      }
      text(this.#problem, e.message);
      this.#result.replaceChildren();
    } finally {
      attribute(this.#button, 'disabled', null);
      attribute(this.#result, 'aria-busy', null);
    }
  }

  #show(answer) {
    const parts = [this.#verdict(answer)];
    if (answer.blocks?.length > 0) {
      this.#tokens.show(answer.blocks, answer.blocksLeftOut ?? 0, answer.engines.length);
      parts.push(card('Who holds the prompt', this.#tokens.element));
    } else if (answer.decision?.explainable === false) {
      parts.push(card('Who holds the prompt', h('p', {class: 'muted'}, 'The blocks of this decision are not kept.')));
    }
    if (answer.engines.length > 0 || answer.enginesThen?.length > 0) {
      parts.push(...scores(answer));
    }
    if (answer.otherPolicies?.length > 0) {
      parts.push(card('What other policies would do', policies(answer)));
    }
    const passed = Object.entries(answer.passedOver ?? {});
    if (passed.length > 0) {
      parts.push(card('No candidates', h('ul', {class: 'plain'}, passed.map(([name, cause]) => h('li', {}, h('b', {}, name), ' ', words(cause))))));
    }
    this.#result.replaceChildren(...parts);
  }

  #verdict(answer) {
    const {prompt} = answer;
    const decision = answer.decision ?? null;
    const winner = answer.engines.find((engine) => engine.engine === answer.winner);
    const second = answer.engines.find((engine) => engine.engine === answer.runnerUp);
    const margin = winner && second ? ' ahead of ' + second.engine + ' by ' + cost(second.score - winner.score) : '';
    const share = winner && prompt.tokens > 0 ? winner.creditTokens / prompt.tokens : null;
    return h('div', {class: 'verdict'},
      h('p', {class: 'muted'}, decision === null ? 'This request would go to' : before(decision) + ' By the index as it is now, it would go to'),
      h('p', {class: 'winner'}, answer.winner ?? 'no engine', h('span', {class: 'tag'}, words(answer.reason))),
      h('p', {}, prompt.exact ? exact(prompt.tokens) + ' prompt tokens' + (share === null ? '' : ', ' + exact(winner.creditTokens) + ' of them warm there') + '; ' + answer.policy + margin
        : 'The prompt’s tokens are not known (' + words(prompt.reason ?? 'unknown') + (prompt.detail ? ': ' + prompt.detail : '') + '), so load decides; ' + answer.policy + margin),
      answer.uncachedTokens ? h('p', {}, 'To compute there: ' + (causes(answer.uncachedTokens) || 'nothing')) : null,
      answer.split ? h('p', {}, pair(answer.split)) : null);
  }
}

function pair({prefill, decode, splits, apartMs, aloneMs}) {
  const both = prefill + ' computes the prompt, ' + decode + ' answers: ' + cost(apartMs) + ' ms';
  const alone = aloneMs === null ? 'nobody serves it alone' : cost(aloneMs) + ' ms alone';
  return (splits ? 'It would be split. ' : 'It would not be split. ') + both + ', ' + alone + '.';
}

function before(decision) {
  return 'Decision ' + decision.id + ' of ' + time(decision.timeMs) + (decision.engine === null ? ' found no engine.'
    : ' went to ' + decision.engine + ': predicted ' + exact(decision.predictedCachedTokens) + ' cached tokens, the engine reported ' + exact(decision.cachedTokens) + '.');
}

/** The scores as they are now; of a decision those of its moment beside them. */
function scores(answer) {
  const now = card((answer.decision ? 'By the index and the load as they are now' : 'What each engine would cost') + ': the lowest score wins', scoreTable(answer));
  const engines = answer.enginesThen ?? [];
  if (engines.length === 0) {
    return [now];
  }
  const winner = answer.decision.engine;
  const others = engines.filter((engine) => engine.engine !== winner).sort((a, b) => a.score - b.score);
  const title = 'When it was decided' + (engines.length < answer.engines.length ? ': the winner, the warmest, and the least loaded' : '');
  return [h('div', {class: 'beside'}, card(title, scoreTable({engines, winner, runnerUp: others[0]?.engine ?? null})), now)];
}

function card(title, content) {
  return h('section', {class: 'card'}, h('h3', {}, title), content);
}

function policies(answer) {
  const heads = h('tr', {}, ['Policy', 'Engine', 'Reason', ''].map((head) => h('th', {scope: 'col'}, head)));
  const body = answer.otherPolicies.map(({policy, winner, reason, note}) =>
    h('tr', {class: winner === answer.winner ? '' : 'other'}, h('th', {scope: 'row'}, policy), h('td', {}, winner ?? '–'),
      h('td', {}, words(reason ?? '')), h('td', {class: 'muted'}, note ?? (winner === answer.winner ? 'the same' : ''))));
  return h('div', {class: 'wide-table', tabindex: '0', role: 'region', 'aria-label': 'Other policies'}, h('table', {}, h('thead', {}, heads), h('tbody', {}, body)));
}
