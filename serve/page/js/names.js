/**
 * How things are named on the page: functions, builds, targets of edges, levels of sources. Everything that comes out is text,
 * escaped as `escape.js` does.
 */

import { el } from './dom.js';
import { line, name, path, quoted, raw } from './escape.js';
import { plus, write } from './link.js';
import { mark } from './classes.js';

/** @typedef {import('./escape.js').Name} Name */

/** `name`, `name@version` or `name@@version`. @param {Name} text @param {Name} [version] @param {boolean} [isDefault] @param {number} [most] */
export function versioned(text, version, isDefault = false, most = undefined) {
  return version === undefined || version === null ? name(text, most) : `${name(text, most)}${isDefault ? '@@' : '@'}${name(version)}`;
}

/** The imported name as a reference writes it. @param {{name?: Name, version?: Name}} symbol @returns {string} */
export function importName(symbol) {
  const text = raw(symbol.name ?? '');
  return symbol.version === undefined || symbol.version === null ? text : `${text}@${raw(symbol.version)}`;
}

/** What stands for a body without a name. @param {string} key @returns {string} */
export const unnamed = (key) => `no name, at 0x${key.slice(0, key.lastIndexOf('-'))}`;

/** A code-like text, whole in a tooltip where it is cut. @param {string} shown @param {Name} whole @param {string} [kind] */
export function told(shown, whole, kind = 'name') {
  const full = line(whole);
  return el('span', { class: kind, title: full !== shown ? full : null }, shown);
}

/** A link. @param {import('./link.js').Link} to @param {string} kind @param {...import('./dom.js').Child} children */
export const link = (to, kind, ...children) => el('a', { href: write(to), class: kind }, ...children);

/** A link to a function. @param {string} b @param {string} key @param {Name | undefined} text @param {{rows?: boolean, most?: number}} [how] */
export function functionLink(b, key, text, how = {}) {
  const to = { b, w: 'listing', f: key, s: how.rows ? undefined : 'source' };
  const shown = text === undefined || text === null ? unnamed(key) : name(text, how.most);
  const full = text === undefined || text === null ? '' : line(text);
  return el('a', { href: write(to), class: 'name', title: full !== shown && full !== '' ? full : null }, shown);
}

/** A link to what is at an address. @param {string} b @param {string} address @param {string} [shown] */
export const addressLink = (b, address, shown) => link({ b, w: 'atlas', x: address }, 'address', shown ?? address);

/**
 * Where an edge leads.
 * @param {string} b
 * @param {{class: string, target?: any}} edge
 * @returns {HTMLElement}
 */
export function target(b, edge) {
  const to = edge.target;
  if (!to) return el('span', { class: 'quiet' }, 'not known statically');
  const named = to.names?.[0];
  const beyond = to.offset ? `+0x${to.offset.toString(16)}` : '';
  const out = el('span', { class: 'target' });
  if (to.key) {
    if (to.offset) {
      const at = to.address ?? plus(to.key.slice(0, to.key.lastIndexOf('-')), to.offset);
      out.append(addressLink(b, at, `${named === undefined ? unnamed(to.key) : name(named, 80)}${beyond}`));
    } else {
      out.append(functionLink(b, to.key, named, { most: 80 }));
    }
  } else if (named !== undefined) {
    const version = to.version;
    const reference = importName({ name: named, version });
    out.append(link({ b, w: 'graph', i: reference, d: 'in' }, 'name', versioned(named, version, false, 80)));
  } else if (to.address) {
    out.append(addressLink(b, to.address, `0x${to.address}`));
  }
  if (to.library) out.append(el('span', { class: 'quiet' }, ` from ${name(to.library)}`));
  if (to.stub) out.append(el('span', { class: 'quiet' }, ' via stub'));
  return out;
}

/** What each level of verification means. */
const LEVELS = new Map([
  ['md5-verified', 'published: its MD5 is the one in the debug data'],
  ['package-verified', 'published: from the source package that the binary says it was built from'],
  ['path-matched', 'published: a supplied file fits its path and has the lines that are cited'],
  ['ambiguous', 'not published: several supplied files fit equally well'],
  ['mismatched', 'not published: the file that fits is not the one that was compiled'],
  ['missing', 'not published: no supplied file fits its path'],
]);

/**
 * The level that a source counts as.
 * @param {{level?: string, tree?: number, also?: number[]}} file
 * @param {number[]} verified trees whose files count as verified by their package
 */
export function level(file, verified) {
  const trees = [file.tree, ...(file.also ?? [])];
  const isPackage = file.level === 'path-matched' && trees.some((tree) => tree !== undefined && verified.includes(tree));
  return isPackage ? 'package-verified' : (file.level ?? 'not published');
}

/** A level as a mark. @param {string} text @param {[number, number]} [names] @returns {HTMLElement} */
export function levelMark(text, names) {
  const published = ['md5-verified', 'package-verified', 'path-matched'].includes(text);
  return el(
    'span',
    { class: `level ${published ? 'level-published' : 'level-absent'} level-${text.replace(/ /g, '-')}`, title: LEVELS.get(text) ?? null },
    text,
    names ? el('span', { class: 'level-names', title: `${names[0]} of the ${names[1]} functions declared in it are named where the debug data says` }, ` names ${names[0]}/${names[1]}`) : null,
  );
}

/** A source's path as a link to its text. @param {string} b @param {Name} text @param {number} [at] a line @param {number} [most] */
export function sourceLink(b, text, at, most) {
  const shown = `${path(text, most)}${at ? `:${at}` : ''}`;
  return link({ b, w: 'source', p: raw(text), l: at ? [at, at] : undefined }, 'path', shown);
}

/**
 * What an operand refers to.
 * @param {string} b
 * @param {any} to
 * @param {any} [edge] the edge that leaves from the row
 * @returns {HTMLElement | null}
 */
export function referent(b, to, edge) {
  if (edge) return el('span', { class: 'referent' }, mark(edge.class), target(b, edge));
  if (!to) return null;
  const beyond = to.offset ? `+0x${to.offset.toString(16)}` : '';
  const out = el('span', { class: 'referent' });
  if (to.kind === 'string') {
    const shown = quoted(to.text ?? '', to.cut);
    out.append(to.address ? link({ b, w: 'atlas', x: to.address }, 'string', shown) : shown);
  } else if (to.kind === 'import') {
    const reference = importName(to);
    out.append(el('span', { class: 'quiet' }, 'import '), link({ b, w: 'graph', i: reference, d: 'in' }, 'name', versioned(to.name ?? '', to.version, false, 80)));
  } else {
    const words = { pointer: 'pointer to ', ifunc: 'slot of ', data: 'in ' };
    const shown = `${to.name === undefined ? '' : name(to.name, 80)}${beyond}` || `0x${to.address}`;
    if (words[to.kind]) out.append(el('span', { class: 'quiet' }, words[to.kind]));
    out.append(to.address ? addressLink(b, to.address, shown) : shown);
  }
  return out;
}
