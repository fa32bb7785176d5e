/**
 * What stands around every view: the build's tabs, the line that says where everything comes from, the search form, messages.
 */

import { byId, el, put } from './dom.js';
import { name, line } from './escape.js';
import { write } from './link.js';

/** @typedef {import('./link.js').Link} Link */
/**
 * An edition that is shown.
 * @typedef {object} Edition
 * @property {string} b `<build-id>/<edition>`
 * @property {string} build
 * @property {string} edition
 * @property {any} told what `current.json` says of it
 * @property {boolean} isCurrent
 */

/** The tabs of a build: key, name, link. @param {string} b @returns {[string, string, Link][]} */
export const TABS = (b) => [
  ['s', 'Summary', { b, w: 'atlas' }],
  ['f', 'Functions', { b, w: 'listing' }],
  ['d', 'Strings and data', { b, w: 'strings' }],
  ['i', 'Imports', { b, w: 'graph' }],
  ['o', 'Sources', { b, w: 'source' }],
  ['x', 'Compare', { b, w: 'diff' }],
];

/** Which tab a view belongs to. @param {Link} link */
function tabOf(link) {
  if (link.w === 'graph') return link.f ? 'Functions' : 'Imports';
  return { atlas: 'Summary', listing: 'Functions', strings: 'Strings and data', source: 'Sources', diff: 'Compare' }[link.w];
}

/** @param {string} text @param {number} most @returns {string} its first digits */
const short = (text, most) => (text.length > most ? `${text.slice(0, most)}…` : text);

/**
 * Tabs and provenance of an edition; none in the catalogue.
 * @param {Link} link
 * @param {Edition | null} edition
 */
export function frame(link, edition) {
  const tabs = byId('tabs');
  const provenance = byId('provenance');
  tabs.hidden = !edition;
  if (!edition) {
    put(tabs);
    put(provenance, el('p', { class: 'provenance-line' }, 'All builds of this archive. Each edition is pinned: its rows never change.'));
    return;
  }
  const here = tabOf(link);
  put(
    tabs,
    el('a', { class: 'build', href: write({ b: edition.b, w: 'atlas' }), title: line(edition.told.name) }, name(edition.told.name, 40)),
    el('ul', {}, TABS(edition.b).map(([, text, to]) =>
      el('li', {}, el('a', { href: write(to), 'aria-current': text === here ? 'page' : null }, text)))),
  );
  tabs.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  const known = edition.told.provenance;
  put(
    provenance,
    el(
      'details',
      {},
      el(
        'summary',
        {},
        el('span', { class: 'provenance-id' }, el('b', {}, 'build '), el('code', { title: edition.build }, short(edition.build, 12))),
        el('span', { class: 'provenance-id' }, el('b', {}, 'edition '), el('code', { title: edition.edition }, short(edition.edition, 8)),
          edition.isCurrent ? el('span', { class: 'quiet' }, ' current') : el('span', { class: 'warn' }, ' not the current one')),
        el('span', { class: 'provenance-how' }, el('b', {}, 'known from '), line(known)),
      ),
      el('dl', { class: 'facts' },
        fact('Build id', el('code', {}, edition.build)),
        fact('Edition', el('code', {}, edition.edition), edition.isCurrent ? ' the current one' : ' not the current one'),
        fact('Known from', line(known)),
        edition.told.package ? fact('Package', line(edition.told.package)) : null),
    ),
  );
}

/** @param {string} term @param {...import('./dom.js').Child} said */
export const fact = (term, ...said) => el('div', {}, el('dt', {}, term), el('dd', {}, ...said));

let timer = 0;

/** Says something to everyone, for a while. @param {string} text */
export function say(text) {
  const status = byId('status');
  status.textContent = text;
  status.classList.toggle('shown', text !== '');
  clearTimeout(timer);
  timer = setTimeout(() => status.classList.remove('shown'), 4000);
}

/**
 * A refusal, in full.
 * @param {any} error
 * @param {string} [title]
 */
export function refusal(error, title = 'That can’t be shown') {
  const allowed = Array.isArray(error.allowed) ? error.allowed : error.allowed ? [error.allowed] : [];
  return el(
    'section',
    { class: 'refusal', role: 'alert' },
    el('h1', { tabIndex: -1 }, title),
    el('p', {}, line(String(error.message ?? error)), /[.!?]$/.test(String(error.message ?? error)) ? '' : '.'),
    allowed.length > 0 ? [el('p', { class: 'quiet' }, 'What there is:'), el('ul', { class: 'plain-list' }, allowed.slice(0, 20).map((one) =>
      el('li', {}, el('code', {}, line(typeof one === 'string' ? one : JSON.stringify(one))))))] : null,
    error.fix ? el('p', {}, `What to do: ${line(error.fix)}.`) : null,
    error.code ? el('p', { class: 'quiet' }, el('code', {}, error.code)) : null,
    el('p', {}, el('a', { href: write({ w: 'catalogue' }) }, 'Go to the catalogue')),
  );
}

/**
 * The head of a view: its title, what is said of it, what can be done.
 * @param {import('./dom.js').Child} title
 * @param {import('./dom.js').Child} about
 * @param {...import('./dom.js').Child} actions
 */
export function head(title, about, ...actions) {
  return el(
    'div',
    { class: 'head' },
    el('div', { class: 'head-text' }, el('h1', { tabIndex: -1 }, title), about ? el('div', { class: 'about' }, about) : null),
    el('div', { class: 'actions' }, ...actions),
  );
}

/** The search form as a link has it. @param {Link} link */
export function fillSearch(link) {
  const set = (id, value) => {
    const field = /** @type {HTMLInputElement} */ (byId(id));
    field.value = value;
  };
  if (link.w === 'search') {
    set('search-text', link.q ?? '');
    set('search-kind', link.k ?? '');
    set('search-match', link.m ?? 'substring');
  }
  const where = /** @type {HTMLSelectElement} */ (byId('search-where'));
  where.options[0].disabled = !link.b;
  if (!link.b) where.value = 'all';
  else if (link.w !== 'search' || where.value === 'all') where.value = 'here';
}
