/**
 * Elements: the only place that makes any. Text goes in as text; there is no way to hand in markup, so that nothing a binary says
 * can become any.
 */

const SVG = 'http://www.w3.org/2000/svg';

/** @typedef {Node | string | number | null | undefined | false | Child[]} Child */

/** Properties that are set as such; all others are attributes. */
const PROPERTIES = new Set(['value', 'checked', 'disabled', 'hidden', 'selected', 'open', 'tabIndex', 'htmlFor']);

/**
 * @param {Element} element
 * @param {Record<string, any>} settings `on…` are listeners, `class` a class, `style` properties for the style object
 * @param {Child[]} children
 */
function fill(element, settings, children) {
  for (const [key, value] of Object.entries(settings)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'style') for (const [property, to] of Object.entries(value)) element.style.setProperty(property, to);
    else if (PROPERTIES.has(key)) element[key] = value;
    else element.setAttribute(key, value === true ? '' : String(value));
  }
  append(element, children);
  return element;
}

/** @param {Element} parent @param {Child[]} children */
export function append(parent, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(parent, child);
    else parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/**
 * An element.
 * @param {string} tag
 * @param {Record<string, any>} [settings]
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function el(tag, settings = {}, ...children) {
  return fill(document.createElement(tag), settings, children);
}

/** An element of a picture. @param {string} tag @param {Record<string, any>} [settings] @param {...Child} children */
export function svg(tag, settings = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), settings, children);
}

/** Puts these, and nothing else, into an element. @param {Element} parent @param {...Child} children */
export function put(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
}

/** @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found;
}

/** A number with thin spaces, for people. @param {number} number @returns {string} */
export function count(number) {
  return String(number).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

/** A size in bytes, for people. @param {number} bytes @returns {string} */
export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** @param {number} part @param {number} whole @returns {string} */
export function percent(part, whole) {
  if (whole === 0) return '–';
  const value = (100 * part) / whole;
  // What isn't all must not read as all, what isn't nothing not as nothing.
  if (part < whole && value > 99.9) return '99.9 %';
  if (part > 0 && value < 0.1) return '0.1 %';
  return `${Number.isInteger(value) ? value : value.toFixed(1)} %`;
}
