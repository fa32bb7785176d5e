/**
 * The summary of a build: what it is, how its sections lie, how much is known of everything and how, what could not be read.
 */

import { document_ } from '../api.js';
import { citation } from '../cite.js';
import { mark } from '../classes.js';
import { count, el, percent, put, size } from '../dom.js';
import { line, name } from '../escape.js';
import { place, write } from '../link.js';
import { addressLink, level as levelOf, levelMark } from '../names.js';
import { fact, head } from '../shell.js';

/** Most items of a list that stand here. */
const MOST = 100;
/** `sh_type` of sections without bytes in the file (gABI: SHT_NOBITS). */
const NOBITS = 8;

/** What a section holds, from its flags and type. @param {any} section */
function role(section) {
  const flags = BigInt(`0x${section.flags}`);
  if (flags & 4n) return 'code';
  if (flags & 1n) return section.type === NOBITS ? 'zeroed' : 'written';
  if (flags & 2n) return 'constant';
  return 'unloaded';
}

const ROLES = {
  code: 'code', constant: 'constant data', written: 'written data', zeroed: 'zeroed at start', unloaded: 'not loaded',
};

/** The strip of sections, each as wide as it is large, none too narrow to see. @param {any[]} sections */
function strip(sections) {
  const sized = sections.filter((one) => one.type !== 0 && BigInt(`0x${one.size}`) > 0n).map((one) => ({ one, bytes: Number(BigInt(`0x${one.size}`)) }));
  const all = sized.reduce((sum, { bytes }) => sum + bytes, 0);
  if (all === 0) return null;
  return el('div', { class: 'strip', role: 'img', 'aria-label': `Sections by size: ${[...sized].sort((a, b) => b.bytes - a.bytes).slice(0, 5).map(({ one, bytes }) => `${name(one.name, 30)} ${size(bytes)}`).join(', ')}` },
    sized.map(({ one, bytes }) => el('span', { class: `strip-part strip-${role(one)}`, style: { 'flex-grow': String(bytes) }, title: `${name(one.name, 60)}, ${size(bytes)}, ${ROLES[role(one)]}` },
      bytes / all > 0.07 ? el('span', { class: 'strip-name' }, name(one.name, 24)) : null)));
}

/** A share as a bar. @param {string} label @param {[string, number, string][]} parts name, number, class @param {(number: number) => string} shown */
function bar(label, parts, shown) {
  const all = parts.reduce((sum, [, number]) => sum + number, 0);
  const there = parts.filter(([, number]) => number > 0);
  return el('div', { class: 'share' },
    el('div', { class: 'bar', role: 'img', 'aria-label': `${label}: ${there.map(([text, number]) => `${text} ${shown(number)}`).join(', ')}` },
      there.map(([, number, kind]) => el('span', { class: `bar-part ${kind}`, style: { 'flex-grow': String(number) } }))),
    el('ul', { class: 'legend' }, there.map(([text, number, kind]) => el('li', {}, el('span', { class: `swatch ${kind}`, 'aria-hidden': 'true' }), `${text} `, el('b', {}, shown(number)), el('span', { class: 'quiet' }, ` ${percent(number, all)}`)))));
}

/** A list whose rest stands elsewhere. @param {any} listed @param {string} what */
const rest = (listed, what) => (listed.total > Math.min(listed.items.length, MOST)
  ? el('p', { class: 'quiet' }, `the first ${Math.min(listed.items.length, MOST)} of ${count(listed.total)} ${what}`) : null);

/** @param {import('../main.js').Context} context @returns {Promise<import('../main.js').Shown>} */
export async function show({ main, link, edition }) {
  const { b } = edition;
  const meta = await document_(b, 'meta.json');
  const { counts, coverage } = meta;
  const shown = name(meta.file.name, 80);
  const sections = meta.sections.items;
  const pack = (one) => `${one.name} ${one.version} ${one.architecture}`;
  const edges = Object.entries(counts.edges).sort((a, c) => c[1] - a[1]);
  const most = Math.max(1, ...edges.map(([, number]) => number));
  const sources = Object.entries(counts.sources ?? {});
  const compilers = new Map();
  for (const one of meta.compilers) compilers.set(line(one.text).split(' -')[0], [...(compilers.get(line(one.text).split(' -')[0]) ?? []), one]);
  put(
    main,
    el('div', { class: 'page atlas' },
      head(shown, `${meta.machine.name}, ${meta.class}-bit, ${meta.byte_order}-endian, ${meta.type}, ${size(meta.file.size)}`,
        el('a', { class: 'button', href: write({ b, w: 'diff' }) }, 'Compare'),
        el('button', { type: 'button', 'data-cite': true }, 'Copy citation')),
      el('ul', { class: 'figures' },
        figure(counts.functions, 'functions', { b, w: 'listing' }),
        figure(counts.rows, 'rows'),
        el('li', {}, el('b', {}, percent(counts.rows_with_line, counts.rows)), el('span', {}, 'of rows with a source line')),
        figure(counts.data?.string ?? 0, 'strings', { b, w: 'strings', k: 'string' }),
        figure(sources.reduce((sum, [, number]) => sum + number, 0), 'sources cited', { b, w: 'source' })),
      el('section', {}, el('h2', {}, `Sections ${count(meta.sections.total)}`), strip(sections),
        el('ul', { class: 'legend' }, Object.keys(ROLES).filter((key) => sections.some((one) => one.type !== 0 && role(one) === key)).map((key) =>
          el('li', {}, el('span', { class: `swatch strip-${key}`, 'aria-hidden': 'true' }), ROLES[key]))),
        el('details', {}, el('summary', {}, 'All sections'),
          el('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Table of sections' }, el('table', { class: 'table' }, el('caption', { class: 'sr' }, 'Sections'),
            el('thead', {}, el('tr', {}, ['Name', 'Address', 'Size', 'Holds'].map((text, at) => el('th', { scope: 'col', class: at === 2 ? 'number' : null }, text)))),
            el('tbody', {}, sections.slice(0, MOST).filter((one) => one.type !== 0).map((one) => el('tr', {},
              el('th', { scope: 'row', class: 'mono' }, name(one.name, 60) || '–'),
              el('td', { class: 'mono' }, place(one.address).offset === 0n ? '–' : addressLink(b, one.address)),
              el('td', { class: 'number' }, size(Number(BigInt(`0x${one.size}`)))),
              el('td', {}, ROLES[role(one)])))))),
          rest(meta.sections, 'sections'))),
      el('section', {}, el('h2', {}, 'Executable bytes'),
        bar('Executable bytes', [['in functions', coverage.functions, 'bar-functions'], ['in linker stubs', coverage.stubs, 'bar-stubs'], ['in no function', coverage.gaps, 'bar-gaps']], size)),
      el('div', { class: 'columns' },
        el('section', {}, el('h2', {}, 'Edges by class'),
          edges.length === 0 ? el('p', { class: 'quiet' }, 'none') : el('ul', { class: 'bars' }, edges.map(([one, number]) => el('li', {}, mark(one),
            el('span', { class: 'bar-track', 'aria-hidden': 'true' }, el('span', { class: `bar-fill edge-${one}`, style: { width: `${(100 * number) / most}%` } })), el('b', {}, count(number)))))),
        el('section', {}, el('h2', {}, 'Where bounds of bodies come from'),
          el('dl', { class: 'pairs' }, Object.entries(counts.bodies).sort((a, c) => c[1] - a[1]).map(([one, number]) => fact(one, count(number))))),
        el('section', {}, el('h2', {}, 'Sources'),
          sources.length === 0 ? el('p', { class: 'quiet' }, 'The debug data cites none, or there is none.')
            : el('dl', { class: 'pairs' }, sources.map(([one, number]) => el('div', {}, el('dt', {}, levelMark(one)), el('dd', {}, count(number))))),
          (meta.sources ?? []).map((tree, at) => el('p', { class: 'quiet' }, `Tree ${at}: ${count(tree.files)} files${tree.package ? `, source package ${line(`${tree.package.name} ${tree.package.version}`)}` : ''}${tree.package_verified ? ', the binary’s own' : ''}. Counts as ${levelOf({ level: 'path-matched', tree: at }, edition.told.package_verified ?? [])}.`)))),
      el('section', {}, el('h2', {}, 'The file'), el('dl', { class: 'facts' },
        fact('Name', el('span', { class: 'mono' }, line(meta.file.name))),
        fact('SHA-256', el('code', {}, meta.file.sha256)),
        meta.soname === null || meta.soname === undefined ? null : fact('Soname', el('span', { class: 'mono' }, name(meta.soname))),
        meta.package ? fact('Package', line(pack(meta.package)), meta.package.path === undefined ? '' : [', ', el('span', { class: 'path' }, line(meta.package.path))]) : fact('Package', el('span', { class: 'quiet' }, 'none: the file was added alone')),
        meta.entry ? fact('Entry', addressLink(b, meta.entry, `0x${meta.entry}`)) : null,
        meta.interpreter ? fact('Interpreter', el('span', { class: 'path' }, line(meta.interpreter))) : null,
        fact('Needs', meta.needed.length === 0 ? el('span', { class: 'quiet' }, 'no library') : el('ul', { class: 'plain-list' }, meta.needed.slice(0, MOST).map((one) => el('li', {}, el('span', { class: 'mono' }, name(one.library)),
          one.versions.length > 0 ? el('span', { class: 'quiet' }, ` ${one.versions.slice(0, 12).map((version) => name(version, 40)).join(', ')}`) : null)))),
        fact('Debug data', meta.debug.length === 0 ? el('span', { class: 'quiet' }, 'none') : el('ul', { class: 'plain-list' }, meta.debug.map((one) => el('li', {}, el('span', { class: 'mono' }, name(one.file.name)), ` ${size(one.file.size)}, found: ${one.found.replace(/_/g, ' ')}${one.package ? `, of ${line(pack(one.package))}` : ''}`)))),
        fact('Decoder', meta.decoder ? `${meta.decoder.name} ${meta.decoder.version}, ${meta.decoder.mode}, ${meta.decoder.syntax} syntax; ${count(counts.undecoded)} rows not decoded` : el('span', { class: 'quiet' }, 'none for this machine: no rows')),
        fact('Derivation', `version ${meta.derivation}`),
        fact('Compilers', meta.compilers.length === 0 ? el('span', { class: 'quiet' }, 'nothing says') : el('ul', { class: 'plain-list' }, [...compilers].slice(0, 20).map(([text, all]) => el('li', {}, all.length === 1 && all[0].text.length === text.length ? text
          : el('details', {}, el('summary', {}, `${text}, ${all.length} ${all.length === 1 ? 'set' : 'sets'} of options`), el('ul', { class: 'plain-list options' }, all.slice(0, 40).map((one) => el('li', {}, el('code', {}, line(one.text)))))))))))),
      el('section', {}, el('h2', {}, `Diagnostics ${count(meta.diagnostics.total)}`),
        meta.diagnostics.total === 0 ? el('p', { class: 'quiet' }, 'Everything could be read.')
          : el('ul', { class: 'plain-list diagnostics' }, meta.diagnostics.items.slice(0, MOST).map((one) => el('li', {}, el('code', {}, one.code), ` ${line(one.message)} `, el('span', { class: 'quiet' }, name(one.subject, 80))))),
        rest(meta.diagnostics, 'diagnostics')),
    ),
  );
  return {
    title: 'Summary',
    cite: () => citation(link, [
      `${shown}  ${meta.machine.name}  sha256 ${meta.file.sha256}`,
      `${counts.functions} functions, ${counts.rows} rows, ${counts.rows_with_line} with a source line`,
      edition.told.provenance,
    ].join('\n')),
  };
}

/** @param {number} number @param {string} text @param {import('../link.js').Link} [to] */
const figure = (number, text, to) => el('li', {}, to ? el('a', { href: write(to) }, el('b', {}, count(number)), el('span', {}, text)) : [el('b', {}, count(number)), el('span', {}, text)]);
