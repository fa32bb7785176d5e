/**
 * Keys that work everywhere. Single letters can be turned off (WCAG 2.2, 2.1.4), and never work while someone types.
 */

import { byId } from './dom.js';
import { get, set } from './settings.js';

/** @returns {boolean} */
const letters = () => get('letters', 'on') === 'on';

/** @param {Event} event @returns {boolean} whether someone types into something */
function isTyping(event) {
  return event.target instanceof Element && event.target.closest('input, select, textarea, dialog') !== null;
}

/**
 * Listens.
 * @param {(keys: string) => boolean} act does what keys (`/`, `c`, `g f`) stand for; false where that is nothing
 */
export function listen(act) {
  const box = /** @type {HTMLInputElement} */ (byId('letters'));
  box.checked = letters();
  box.addEventListener('change', () => set('letters', box.checked ? 'on' : 'off'));
  let before = '';
  let timer = 0;
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    if (event.key !== 'Escape' && (!letters() || event.key.length !== 1)) return;
    const keys = before === '' ? event.key : `${before} ${event.key}`;
    before = '';
    clearTimeout(timer);
    if (event.key === 'g' && keys === 'g') {
      before = 'g';
      timer = setTimeout(() => (before = ''), 1500);
      event.preventDefault();
      return;
    }
    if (act(keys)) event.preventDefault();
  });
}
