/**
 * Classes of edges: what each is called and means, and the mark that tells it apart by its label and its dash as well as by its
 * colour.
 */

import { el, svg } from './dom.js';

/** Label, dashes, meaning, by the class's name in documents. */
export const CLASSES = new Map([
  ['direct', ['direct', '', 'a call to the exact entry of a function']],
  ['tail', ['tail', '7 3', 'a jump, or falling through, into the exact entry of another function']],
  ['import', ['import', '2 3', 'through a stub or slot whose relocation names a symbol of another file']],
  ['ifunc', ['ifunc', '9 2 2 2', 'the final target is chosen at run time by a resolver function']],
  ['into_body', ['into body', '4 2', 'lands inside another function, not at its entry']],
  ['internal_unresolved', ['unresolved', '2 6', 'lands in this binary where no function is known']],
  ['indirect', ['indirect', '1 2', 'through a register or computed memory: not statically resolvable']],
]);

/** @param {string} name @returns {string} its label; of one that isn't known here, its name */
export const label = (name) => CLASSES.get(name)?.[0] ?? name.slice(0, 40);

/** @param {string} name @returns {string} what it means */
export const meaning = (name) => CLASSES.get(name)?.[2] ?? 'a class that this page doesn’t know';

/** The mark of a class. @param {string} name @returns {HTMLElement} */
export function mark(name) {
  const known = CLASSES.has(name);
  const line = svg('line', {
    x1: 0, y1: 3, x2: 26, y2: 3, class: 'dash', 'stroke-dasharray': CLASSES.get(name)?.[1] || null,
  });
  return el(
    'span',
    { class: `edge edge-${known ? name : 'other'}`, title: meaning(name) },
    svg('svg', { width: 26, height: 6, viewBox: '0 0 26 6', 'aria-hidden': 'true', focusable: 'false' }, line),
    label(name),
  );
}

/** How control leaves, in words. @param {{kind: string, conditional?: boolean, switch?: boolean}} edge */
export function kind(edge) {
  const kinds = { call: 'call', jump: 'jump', fallthrough: 'falls through' };
  const told = kinds[edge.kind] ?? edge.kind;
  return [edge.conditional ? `conditional ${told}` : told, edge.switch ? 'may be a switch' : ''].filter(Boolean).join(', ');
}
