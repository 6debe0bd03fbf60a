// The two questions that the page asks: for the admin key, and whether a change is meant.

import {h, text} from './dom.js';

/** Shows a dialog until it is closed; resolves to what `answer` gives when it was confirmed, else to null. */
function ask(title, content, confirm, {danger = false, answer = () => true, check = () => ''} = {}) {
  return new Promise((done) => {
    const before = document.activeElement;
    const problem = h('p', {class: 'problem', role: 'alert'});
    let result = null;
    const submit = (event) => {
      event.preventDefault();
      text(problem, check());
      if (problem.textContent === '') {
        result = answer();
        dialog.close();
      }
    };
    const form = h('form', {onsubmit: submit},
      h('h2', {id: 'question'}, title), content, problem,
      h('div', {class: 'actions'},
        h('button', {type: 'button', class: 'quiet', onclick: () => dialog.close()}, 'Cancel'),
        h('button', {type: 'submit', class: danger ? 'danger' : 'primary'}, confirm)));
    const dialog = h('dialog', {'aria-labelledby': 'question'}, form);
    dialog.addEventListener('close', () => {
      dialog.remove();
      before?.focus?.();
      done(result);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Asks for the admin key; null if the operator gives none. */
export function askForKey(refused) {
  const input = h('input', {type: 'password', autocomplete: 'off', autofocus: true, required: true, spellcheck: 'false'});
  const content = h('div', {},
    h('p', {}, refused ? 'The router refused this key.' : 'This router asks for its admin key.'),
    h('label', {class: 'field wide'}, h('span', {}, 'Admin key'), input),
    h('p', {class: 'muted'}, 'It is kept in this tab until you close it.'));
  return ask('Admin key', content, 'Use this key', {
    answer: () => input.value.trim(),
    check: () => (/^[\x21-\x7e]+$/.test(input.value.trim()) ? '' : 'A key has letters, digits and signs without spaces.'),
  });
}

/** Asks whether a change is meant. */
export async function confirmed(title, explanation, confirm, danger) {
  return (await ask(title, h('p', {}, explanation), confirm, {danger})) !== null;
}
