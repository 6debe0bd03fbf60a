// Builds and updates the page. Data become text nodes and attribute values, never markup.

const SVG = 'http://www.w3.org/2000/svg';

/** An HTML element: h('td', {class: 'number', onclick: go}, 'text', child). */
export function h(name, properties = {}, ...children) {
  return filled(document.createElement(name), properties, children);
}

/** An SVG element. */
export function svg(name, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, name), properties, children);
}

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('on')) {
      element.addEventListener(name.slice(2), value);
    } else {
      attribute(element, name, value);
    }
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** Sets an attribute; null and false remove it. Writes only what differs. */
export function attribute(element, name, value) {
  if (value === null || value === undefined || value === false) {
    element.removeAttribute(name);
  } else {
    const text = value === true ? '' : String(value);
    if (element.getAttribute(name) !== text) {
      element.setAttribute(name, text);
    }
  }
}

/** Sets an element's text. Writes only what differs. */
export function text(element, value) {
  if (element.textContent !== value) {
    element.textContent = value;
  }
}

/** Sets a custom property of an element's style; the page's policy allows no style attributes. */
export function variable(element, name, value) {
  if (element.style.getPropertyValue(name) !== String(value)) {
    element.style.setProperty(name, value);
  }
}

const lists = new WeakMap();

/**
 * Makes the children of `parent` show `items` in their order. `create` returns an object with
 * `element` and `update(item)`, which is used again for the item of the same key.
 */
export function keyed(parent, items, keyOf, create) {
  const focused = parent.contains(document.activeElement) ? document.activeElement : null;
  const before = lists.get(parent) ?? new Map();
  const after = new Map(items.map((item) => [keyOf(item), before.get(keyOf(item)) ?? create(item)]));
  for (const [key, row] of before) {
    if (!after.has(key)) {
      row.element.remove();
    }
  }
  let next = parent.firstElementChild;
  for (const item of items) {
    const row = after.get(keyOf(item));
    row.update(item);
    if (row.element === next) {
      next = next.nextElementSibling;
    } else {
      parent.insertBefore(row.element, next);
    }
  }
  lists.set(parent, after);
  if (focused !== null && focused !== document.activeElement && parent.contains(focused)) {
    focused.focus({preventScroll: true});
  }
}

/** A message in place of data: nothing there yet, an error, a locked door. */
export function notice(title, explanation, ...actions) {
  return h('div', {class: 'notice'}, h('h2', {}, title), h('p', {}, explanation), ...actions);
}

/** A choice of one of several values as a row of buttons. */
export function choice(label, options, selected, changed) {
  const buttons = options.map(([value, name]) =>
    h('button', {type: 'button', 'aria-pressed': String(value === selected), onclick: () => select(value)}, name));
  function select(value) {
    options.forEach(([each], i) => attribute(buttons[i], 'aria-pressed', String(each === value)));
    changed(value);
  }
  return h('div', {class: 'choice', role: 'group', 'aria-label': label}, buttons);
}

/** A drop-down list with a label. */
export function select(label, options, changed) {
  const list = h('select', {onchange: () => changed(list.value)}, options.map(option));
  return {
    element: h('label', {class: 'field'}, h('span', {}, label), list),
    get value() {
      return list.value;
    },
    /** Replaces the options; keeps the choice if it is still there. */
    set options(wanted) {
      const shown = [...list.options].map((each) => each.value).join('\n');
      if (shown !== wanted.map(([value]) => value).join('\n')) {
        const value = list.value;
        list.replaceChildren(...wanted.map(option));
        list.value = wanted.some(([each]) => each === value) ? value : wanted[0][0];
      }
    },
    set value(value) {
      list.value = value;
    },
  };
}

function option([value, name]) {
  return h('option', {value}, name);
}
