/**
 * Search: in one build, or over the builds of the catalogue, one after another, a few at a time.
 */

import { ask, buildsBy, catalogue, walk } from '../api.js';
import { citation } from '../cite.js';
import { count, el, put } from '../dom.js';
import { line, name, path, quoted, raw } from '../escape.js';
import { write } from '../link.js';
import { importName, versioned } from '../names.js';
import { head } from '../shell.js';

/** Builds that are searched at a time. */
const BUILDS = 8;
/** Results of one build among several. */
const FEW = 10;

const MATCH = { substring: 'any part', prefix: 'the start', exact: 'the whole', regex: 'a regular expression' };

/** Where a result leads. @param {string} b @param {any} hit */
function to(b, hit) {
  if (hit.kind === 'import') return { b, w: 'graph', i: importName(hit), d: 'in' };
  if (hit.kind === 'source') return { b, w: 'source', p: raw(hit.name) };
  // A thread-local object's address is an offset in the thread's block: no place in the file.
  if (hit.kind === 'tls' || !hit.address) return null;
  return { b, w: 'atlas', x: hit.address };
}

/** @param {any} hit @returns {string} what was found, in words */
function words(hit) {
  if (hit.kind === 'string') return quoted(hit.name);
  if (hit.kind === 'source') return path(hit.name);
  return versioned(hit.name, hit.version, hit.default);
}

/** @param {string} b @param {any} hit */
function row(b, hit) {
  const link = to(b, hit);
  const shown = words(hit);
  const kind = hit.kind === 'string' ? 'string' : hit.kind === 'source' ? 'path' : 'name';
  const whole = line(hit.name);
  const title = whole.length > shown.length ? whole : null;
  return el('tr', {},
    el('td', { class: 'quiet kind', 'data-label': 'Kind' }, hit.kind, hit.demangled ? ' demangled' : ''),
    el('td', { class: 'found', 'data-label': 'Found' }, link ? el('a', { href: write(link), class: kind, title }, shown) : el('span', { class: kind, title }, shown),
      hit.not_published ? el('span', { class: 'quiet' }, ` not published: ${hit.not_published}`) : null),
    el('td', { class: 'mono', 'data-label': 'Address' }, hit.address ?? ''));
}

/** @param {HTMLElement} body */
const table = (body) => el('table', { class: 'table hits cards' }, el('caption', { class: 'sr' }, 'Results'),
  el('thead', {}, el('tr', {}, ['Kind', 'Found', 'Address'].map((text) => el('th', { scope: 'col' }, text)))), body);

/** @param {any} error */
const failed = (error) => el('p', { class: 'notice error' }, `${error.message}${error.fix ? `; ${error.fix}` : ''}.`);

/** @param {import('../main.js').Context} context @returns {Promise<import('../main.js').Shown>} */
export async function show(context) {
  const { main, link } = context;
  const q = link.q ?? '';
  if (q === '') {
    put(main, el('div', { class: 'page' }, head('Search', 'Type what to look for above: a name, a string, a path, or an address as 0x….')));
    return { title: 'Search' };
  }
  const about = `${MATCH[link.m ?? 'substring']} of ${link.k ? `${link.k}s` : 'names, strings and sources'}`;
  const title = ['Search for ', el('span', { class: 'name' }, name(q, 80))];
  if (link.k === 'build') return builds(context, title);
  return link.b ? inBuild(context, title, about) : overBuilds(context, title, about);
}

/** @param {import('../main.js').Context} context @param {any} title @param {string} about */
async function inBuild({ main, link, edition, signal }, title, about) {
  const { b } = edition;
  const address = /^0x([0-9a-f]{1,16})$/i.exec(link.q);
  const body = el('tbody');
  const said = el('p', { class: 'quiet', role: 'status' });
  const more = el('button', { type: 'button', onclick: () => next() }, 'Show more results');
  const hits = [];
  let cursor = null;
  let scanned = 0;
  const problem = el('div');
  const next = async () => {
    more.disabled = true;
    try {
      const answer = await ask('search', { q: link.q, build: b, match: link.m, kind: link.k, cursor }, signal);
      hits.push(...answer.hits);
      body.append(...answer.hits.map((hit) => row(b, hit)));
      cursor = answer.next_cursor;
      scanned += answer.scanned ?? 0;
      more.hidden = !cursor;
      said.textContent = hits.length === 0
        ? cursor ? `Nothing among the first ${count(scanned)} records; there are more to look through.` : 'Nothing was found.'
        : `${count(hits.length)} ${hits.length === 1 ? 'result' : 'results'}${cursor ? ' so far; there may be more' : ', all there are'}.`;
    } catch (error) {
      if (error.name === 'AbortError') throw error;
      put(problem, failed(error));
      more.hidden = true;
    }
    more.disabled = false;
  };
  const everywhere = el('a', { class: 'button', href: write({ ...link, b: undefined }) }, 'In all builds');
  put(main, el('div', { class: 'page' }, head(title, about, everywhere, el('button', { type: 'button', 'data-cite': true }, 'Copy citation')),
    address ? el('p', { class: 'notice' }, el('a', { href: write({ b, w: 'atlas', x: address[1].toLowerCase().replace(/^0+(?=.)/, '') }) }, `Go to the address 0x${address[1].toLowerCase()}`)) : null,
    problem, table(body), said, more));
  await next();
  return { title: `Search for ${name(link.q, 40)}`, cite: () => citation(link, hits.slice(0, 50).map((hit) => `${hit.kind}  ${words(hit)}${hit.address ? `  ${hit.address}` : ''}`).join('\n')) };
}

/** @param {import('../main.js').Context} context @param {any} title @param {string} about */
async function overBuilds({ main, link, signal }, title, about) {
  const found = el('div', { class: 'groups' });
  const said = el('p', { class: 'quiet', role: 'status' });
  const more = el('button', { type: 'button', onclick: () => next() }, `Search ${BUILDS} more builds`);
  const list = walk(await catalogue());
  const lines = [];
  let searched = 0;
  let some = 0;
  put(main, el('div', { class: 'page' }, head(title, `${about}, over the builds`, el('button', { type: 'button', 'data-cite': true }, 'Copy citation')), said, found, more));
  const next = async () => {
    more.disabled = true;
    const batch = [];
    let done = false;
    while (batch.length < BUILDS) {
      const one = await list.next();
      if (one.done) {
        done = true;
        break;
      }
      batch.push(one.value);
    }
    const answers = await Promise.all(batch.map(async (build) => {
      const b = `${build.build_id}/${build.edition}`;
      try {
        return { build, b, answer: await ask('search', { q: link.q, build: b, match: link.m, kind: link.k, limit: FEW }, signal) };
      } catch (error) {
        if (error.name === 'AbortError') throw error;
        return { build, b, error };
      }
    }));
    for (const { build, b, answer, error } of answers) {
      if (answer && answer.hits.length === 0 && !answer.next_cursor) continue;
      some += 1;
      const body = el('tbody', {}, (answer?.hits ?? []).map((hit) => row(b, hit)));
      lines.push(...(answer?.hits ?? []).map((hit) => `${b}  ${hit.kind}  ${words(hit)}`));
      found.append(el('section', { class: 'group-build' },
        el('h2', {}, el('a', { href: write({ ...link, b }) }, name(build.name, 60)), el('span', { class: 'quiet' }, ` ${build.machine} `), el('code', { class: 'quiet' }, build.build_id.slice(0, 12))),
        error ? failed(error) : [table(body), answer.next_cursor ? el('p', {}, el('a', { href: write({ ...link, b }) }, 'More in this build')) : null]));
    }
    searched += batch.length;
    more.hidden = done;
    more.disabled = false;
    said.textContent = `${count(searched)} ${searched === 1 ? 'build' : 'builds'} searched, ${count(some)} with results${done ? '' : '; there are more builds'}.`;
  };
  await next();
  return { title: `Search for ${name(link.q, 40)}`, cite: () => citation(link, lines.slice(0, 50).join('\n')) };
}

/** Builds by name, soname, package or id. @param {import('../main.js').Context} context @param {any} title */
async function builds({ main, link }, title) {
  const sought = link.q.toLowerCase();
  const how = link.m ?? 'substring';
  let regex = null;
  try {
    regex = how === 'regex' ? new RegExp(link.q, 'u') : null;
  } catch {
    put(main, el('div', { class: 'page' }, head(title, 'builds'), failed(new Error('this is no regular expression'))));
    return { title: 'Search' };
  }
  const fits = (text) => (regex ? regex.test(text) : how === 'exact' ? text === link.q : how === 'prefix' ? text.startsWith(link.q) : text.toLowerCase().includes(sought));
  const body = el('tbody');
  let looked = 0;
  const lines = [];
  const seen = new Set();
  for await (const build of likely(await catalogue(), link.q)) {
    if (seen.has(build.build_id)) continue;
    seen.add(build.build_id);
    looked += 1;
    const texts = [raw(build.name), raw(build.soname ?? ''), build.build_id, (build.package ?? '').split(' ')[0]];
    if (!texts.some((text) => text !== '' && fits(text))) continue;
    const b = `${build.build_id}/${build.edition}`;
    lines.push(`${b}  ${name(build.name)}`);
    body.append(el('tr', {}, el('td', { class: 'quiet kind', 'data-label': 'Kind' }, 'build'),
      el('td', { class: 'found', 'data-label': 'Found' }, el('a', { class: 'name', href: write({ b, w: 'atlas' }) }, name(build.name, 80)), el('span', { class: 'quiet' }, ` ${build.machine} ${build.package ? line(build.package) : ''}`)),
      el('td', { class: 'mono', 'data-label': 'Address' }, build.build_id.slice(0, 16))));
    if (body.children.length === 100 || looked === 2000) break;
  }
  put(main, el('div', { class: 'page' }, head(title, `builds by name, soname, package or id; ${count(looked)} looked at`, el('button', { type: 'button', 'data-cite': true }, 'Copy citation')),
    body.children.length === 0 ? el('p', { class: 'quiet' }, 'Nothing was found.') : table(body)));
  return { title: `Search for ${name(link.q, 40)}`, cite: () => citation(link, lines.join('\n')) };
}

/** The builds of a catalogue: of a long one first those that have this very name. @param {any} index @param {string} text */
async function* likely(index, text) {
  if (!index.builds) for (const by of /** @type {const} */ (['name', 'soname', 'package', 'id'])) yield* buildsBy(by, text);
  yield* walk(index);
}
