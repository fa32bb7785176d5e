/**
 * The page: from a URL's fragment to a view. It shows what the archive says through the public routes and changes nothing.
 */

import { current } from './api.js';
import { copy } from './cite.js';
import { byId, el, put } from './dom.js';
import { name } from './escape.js';
import { listen } from './keys.js';
import { BadLink, parse, write } from './link.js';
import { applyTheme, nextTheme } from './settings.js';
import { TABS, fillSearch, frame, refusal, say } from './shell.js';
import * as address from './views/address.js';
import * as atlas from './views/atlas.js';
import * as catalogue from './views/catalogue.js';
import * as diff from './views/diff.js';
import * as functions from './views/functions.js';
import * as graph from './views/graph.js';
import * as imports from './views/imports.js';
import * as listing from './views/listing.js';
import * as search from './views/search.js';
import * as source from './views/source.js';
import * as sourceList from './views/sourcelist.js';
import * as strings from './views/strings.js';

/** @typedef {import('./link.js').Link} Link */
/**
 * What a view is given.
 * @typedef {object} Context
 * @property {Link} link
 * @property {HTMLElement} main
 * @property {import('./shell.js').Edition} edition
 * @property {AbortSignal} signal
 * @property {(link: Link) => void} replace changes the URL without leaving the view
 * @property {(link: Link) => void} go
 * @property {any} state what the view kept at this place in the history
 * @property {(state: any) => void} keep
 */
/**
 * What a view gives back.
 * @typedef {object} Shown
 * @property {string} title
 * @property {HTMLElement} [focus] what takes the keys
 * @property {() => Promise<string> | string} [cite]
 * @property {(link: Link) => boolean} [update] takes a change of the URL, where that is less than another view
 * @property {(keys: string) => boolean} [key]
 * @property {() => void} [dispose]
 */

/** The view of a link. @param {Link} link */
function viewOf(link) {
  switch (link.w) {
    case 'search': return search;
    case 'diff': return diff;
    case 'strings': return strings;
    case 'atlas': return link.x === undefined ? atlas : address;
    case 'listing': return link.f === undefined ? functions : listing;
    case 'graph': return link.f === undefined && link.i === undefined ? imports : graph;
    case 'source': return link.p === undefined ? sourceList : source;
    default: return catalogue;
  }
}

/** Views that show several builds. */
const WITHOUT_BUILD = new Set(['catalogue', 'search', 'diff']);

/** @type {{link: Link, shown: Shown, abort: AbortController} | null} */
let now = null;
let turn = 0;

/** @param {string} b @returns {Promise<import('./shell.js').Edition>} */
async function editionOf(b) {
  const [build, edition] = b.split('/');
  const pointer = await current(build);
  const told = pointer.editions.find((one) => one.edition === edition);
  if (told) return { b, build, edition, told, isCurrent: pointer.editions[0] === told && told.file === pointer.file };
  const gone = pointer.tombstones.find((one) => one.edition === edition);
  const first = pointer.editions[0];
  throw Object.assign(new Error(gone ? `This edition was removed: ${gone.reason}` : 'This archive doesn’t hold that edition'), {
    fix: first ? 'open the current edition instead' : undefined,
    open: first ? { b: `${build}/${first.edition}`, w: 'atlas' } : undefined,
  });
}

/** Shows what the URL says. @param {boolean} isFirst */
async function route(isFirst) {
  const mine = ++turn;
  const main = byId('main');
  let link;
  try {
    link = parse(location.hash);
    if (!link.b && !WITHOUT_BUILD.has(link.w)) throw new BadLink('It names no build by b=, which this view needs.');
  } catch (error) {
    leave();
    frame({ w: 'catalogue' }, null);
    document.title = 'elfscope';
    put(main, refusal(error, 'This link can’t be read'));
    return;
  }
  if (now?.shown.update && viewOf(now.link) === viewOf(link) && now.shown.update(link)) {
    now.link = link;
    return;
  }
  leave();
  fillSearch(link);
  main.setAttribute('aria-busy', 'true');
  const abort = new AbortController();
  let edition = null;
  try {
    if (link.b) edition = await editionOf(link.b);
    if (mine !== turn) return;
    frame(link, edition);
    put(main);
    main.className = `view-${link.w}`;
    const shown = await viewOf(link).show({
      link, main, edition, signal: abort.signal,
      replace: (to) => replace(to),
      go: (to) => { location.hash = write(to); },
      state: history.state?.view ?? null,
      keep: (state) => keep(state),
    });
    if (mine !== turn) {
      shown.dispose?.();
      return;
    }
    // A view may have written the URL anew.
    now = { link: parse(location.hash), shown, abort };
    document.title = `${shown.title}${edition ? ` · ${name(edition.told.name, 40)}` : ''} · elfscope`;
    if (!isFirst) (shown.focus ?? main.querySelector('h1') ?? main).focus({ preventScroll: true });
  } catch (error) {
    if (mine !== turn || (error instanceof DOMException && error.name === 'AbortError')) return;
    if (!edition) frame({ w: 'catalogue' }, null);
    document.title = 'elfscope';
    put(main, refusal(error), error.open ? el('p', { class: 'refusal-open' }, el('a', { href: write(error.open) }, 'Open the current edition')) : null);
    main.querySelector('h1')?.focus();
  } finally {
    if (mine === turn) main.removeAttribute('aria-busy');
  }
}

function leave() {
  now?.abort.abort();
  now?.shown.dispose?.();
  now = null;
}

/** @param {Link} link */
function replace(link) {
  if (now) now.link = link;
  try {
    history.replaceState(history.state, '', write(link));
  } catch {
    // Browsers let a page do this so often a minute; what is shown is right all the same.
  }
}

/** @param {any} state */
function keep(state) {
  try {
    history.replaceState({ ...history.state, view: state }, '');
  } catch {
    // As above.
  }
}

/** @param {string} keys @returns {boolean} */
function act(keys) {
  if (now?.shown.key?.(keys)) return true;
  if (keys === '/') byId('search-text').focus();
  else if (keys === '?') /** @type {HTMLDialogElement} */ (byId('help')).showModal();
  else if (keys === 'c' && now?.shown.cite) copy(now.shown.cite());
  else if (keys === 't') theme();
  else if (keys === 'g c') location.hash = write({ w: 'catalogue' });
  else if (keys.startsWith('g ')) {
    const b = now?.link.b;
    const tab = b ? TABS(b).find(([key]) => key === keys.slice(2)) : null;
    if (!tab) return false;
    location.hash = write(tab[2]);
  } else return false;
  return true;
}

function theme() {
  const shown = nextTheme();
  label(shown);
  say(`Theme: ${shown === 'system' ? 'as the system has it' : shown}`);
}

/** @param {string} shown */
function label(shown) {
  const words = { system: 'Auto', light: 'Light', dark: 'Dark' };
  byId('theme').textContent = words[shown];
  byId('theme').setAttribute('aria-label', `Theme: ${words[shown]}`);
}

function start() {
  label(applyTheme());
  byId('theme').addEventListener('click', theme);
  byId('help-open').addEventListener('click', () => /** @type {HTMLDialogElement} */ (byId('help')).showModal());
  byId('skip').addEventListener('click', (event) => {
    event.preventDefault();
    (now?.shown.focus ?? byId('main')).focus();
  });
  byId('search').addEventListener('submit', (event) => {
    event.preventDefault();
    const value = (id) => /** @type {HTMLInputElement} */ (byId(id)).value;
    const q = value('search-text');
    if (q.trim() === '') {
      say('Type what to look for first');
      return;
    }
    const link = now?.link ?? {};
    const kind = value('search-kind');
    const isHere = value('search-where') === 'here' && link.b && kind !== 'build';
    location.hash = write({ b: isHere ? link.b : undefined, w: 'search', q, m: value('search-match'), k: kind || undefined });
  });
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-cite]') : null;
    if (button && now?.shown.cite) copy(now.shown.cite());
  });
  listen(act);
  window.addEventListener('hashchange', () => route(false));
  route(true);
}

start();
