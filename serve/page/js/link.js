/**
 * Links: one view as a URL fragment, `#v=1&b=<build-id>/<edition>&w=listing&f=…`. The same form, keys and order as
 * `serve/core/src/link.rs`. What isn't exactly of that form is refused with a sentence, never guessed at.
 */

/**
 * @typedef {object} Link
 * @property {string} [b] the edition, `<build-id>/<edition>`
 * @property {string} w the view
 * @property {string} [q] a search's text
 * @property {string} [m] how it fits: exact, prefix, substring, regex
 * @property {string} [k] a kind
 * @property {string} [a] the other side of a diff: an edition, and `:<function key>` where functions are compared
 * @property {string} [f] a function key
 * @property {string} [i] an imported name
 * @property {string} [d] which edges: in, out
 * @property {string} [c] a class of edges
 * @property {number} [n] rows shown before each site
 * @property {string} [x] an address
 * @property {string} [s] how rows are shown: outline, asm, source
 * @property {[number, number]} [r] rows, from 0
 * @property {number} [o] the row in focus
 * @property {number} [e] the number of an edge
 * @property {string} [p] a source's path
 * @property {[number, number]} [l] its lines, from 1
 */

/** The views. */
export const VIEWS = ['catalogue', 'search', 'diff', 'strings', 'atlas', 'listing', 'graph', 'source'];

/** Ways to fit a text. */
export const MATCHES = ['substring', 'prefix', 'exact', 'regex'];

const BUILD = '(?:(?:[0-9a-f]{2}){4,64}|sha256-[0-9a-f]{64})';
const EDITION = '[0-9a-f]{32}';
const ADDRESS = '(?:s[1-9][0-9]*-)?(?:0|[1-9a-f][0-9a-f]{0,15})';
const KEY = `${ADDRESS}-[1-9][0-9]*`;

/** @param {string} pattern what a whole value must be @returns {(value: string) => string | null} */
function fits(pattern) {
  const whole = new RegExp(`^${pattern}$`);
  return (value) => (whole.test(value) ? value : null);
}

/** @param {string} value @returns {string} */
const any = (value) => value;

/** @param {string} value @returns {number | null} */
function number(value) {
  const found = /^[0-9]{1,16}$/.test(value) ? Number(value) : NaN;
  return Number.isSafeInteger(found) ? found : null;
}

/** @param {string} value @returns {[number, number] | null} */
function range(value) {
  const parts = value.split('-');
  if (parts.length !== 2) return null;
  const [first, last] = parts.map(number);
  return first !== null && last !== null && first <= last ? [first, last] : null;
}

/** The keys in their order: what reads a value (null refuses it), and what a value may be, in words. */
const KEYS = new Map([
  ['v', [(value) => (value === '1' ? 1 : null), '1']],
  ['b', [fits(`${BUILD}/${EDITION}`), 'a build id and an edition with a slash between']],
  ['w', [fits(VIEWS.join('|')), VIEWS.join(', ')]],
  ['q', [any, 'text']],
  ['m', [fits(MATCHES.join('|')), MATCHES.join(', ')]],
  ['k', [any, 'text']],
  ['a', [fits(`${BUILD}/${EDITION}(?::${KEY})?`), 'an edition, and a function key behind a colon']],
  ['f', [fits(KEY), 'a function key, as in 1139-31']],
  ['i', [any, 'an imported name']],
  ['d', [fits('in|out'), 'in or out']],
  ['c', [any, 'a class of edges']],
  ['n', [number, 'a number']],
  ['x', [fits(ADDRESS), 'an address in hex, without 0x']],
  ['s', [fits('outline|asm|source'), 'outline, asm or source']],
  ['r', [range, 'first-last, from 0']],
  ['o', [number, 'a number']],
  ['e', [number, 'a number']],
  ['p', [any, 'a path']],
  ['l', [range, 'first-last, from 1']],
]);

const ORDER = [...KEYS.keys()];

/** What makes a fragment no link: a sentence for whoever followed it. */
export class BadLink extends Error {}

/** @param {string} value @returns {string} percent-encoded but for unreserved characters and `/:@` */
function encode(value) {
  const upper = (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(value).replace(/[!'()*]/g, upper).replace(/%(2F|3A|40)/g, decodeURIComponent);
}

/** @param {string} value @returns {string | null} */
function decode(value) {
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}

/**
 * Reads a fragment, with or without its `#`. An empty one is the catalogue.
 * @param {string} fragment
 * @returns {Link}
 */
export function parse(fragment) {
  const text = fragment.replace(/^#/, '');
  if (text === '') return { w: 'catalogue' };
  /** @type {Record<string, unknown>} */
  const link = {};
  let last = -1;
  for (const member of text.split('&')) {
    const cut = member.indexOf('=');
    if (cut < 0) throw new BadLink('Its members must be written key=value.');
    const key = member.slice(0, cut);
    const at = ORDER.indexOf(key);
    if (at < 0) throw new BadLink(`It has the key “${key}”, which this page doesn't know.`);
    if (at <= last) throw new BadLink(`Each key stands once and in order, and “${key}” doesn't.`);
    last = at;
    const [read, allowed] = KEYS.get(key);
    const value = decode(member.slice(cut + 1));
    const found = value === null ? null : read(value);
    if (found === null) throw new BadLink(`Its “${key}” can't be that: it takes ${allowed}.`);
    link[key] = found;
  }
  if (link.v !== 1 || link.w === undefined) throw new BadLink('It must start with v=1 and name a view by w=.');
  delete link.v;
  return /** @type {Link} */ (link);
}

/**
 * Writes a link as a fragment with its `#`.
 * @param {Link} link
 * @returns {string}
 */
export function write(link) {
  const members = ['v=1'];
  for (const key of ORDER) {
    const value = link[key];
    if (key === 'v' || value === undefined || value === null) continue;
    members.push(`${key}=${encode(Array.isArray(value) ? value.join('-') : String(value))}`);
  }
  return `#${members.join('&')}`;
}

/** @param {Link} link @returns {string} the whole URL, for a citation */
export function absolute(link) {
  return `${location.origin}${location.pathname}${write(link)}`;
}

/** @param {string} key a function key @returns {{address: string, size: number}} */
export function parts(key) {
  const cut = key.lastIndexOf('-');
  return { address: key.slice(0, cut), size: Number(key.slice(cut + 1)) };
}

/** @param {string} address @returns {{section: number, offset: bigint}} */
export function place(address) {
  const cut = address.lastIndexOf('-');
  return { section: cut < 0 ? 0 : Number(address.slice(1, cut)), offset: BigInt(`0x${address.slice(cut + 1)}`) };
}

/** @param {string} address @param {number | bigint} bytes @returns {string} the address so many bytes further on */
export function plus(address, bytes) {
  const { section, offset } = place(address);
  const hex = BigInt.asUintN(64, offset + BigInt(bytes)).toString(16);
  return section === 0 ? hex : `s${section}-${hex}`;
}

/** @param {string} a @param {string} b @returns {number} their order */
export function compare(a, b) {
  const [one, other] = [place(a), place(b)];
  if (one.section !== other.section) return one.section - other.section;
  return one.offset < other.offset ? -1 : one.offset > other.offset ? 1 : 0;
}
