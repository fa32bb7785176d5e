/**
 * The catalogue: the builds of the archive. A large one is a tree of pages, which are read as far as someone asks.
 */

import { catalogue, walk } from '../api.js';
import { count, el, percent, put } from '../dom.js';
import { line, name, raw } from '../escape.js';
import { absolute, write } from '../link.js';
import { citation } from '../cite.js';
import { head } from '../shell.js';

/** So many builds at once. */
const BATCH = 100;

/** @param {any} build */
function row(build) {
  const b = `${build.build_id}/${build.edition}`;
  const shown = name(build.name, 80);
  const whole = line(build.name);
  return el(
    'tr',
    {},
    el('th', { scope: 'row' }, el('a', { href: write({ b, w: 'atlas' }), class: 'name', title: whole === shown ? null : whole }, shown),
      build.soname && raw(build.soname) !== raw(build.name) ? el('span', { class: 'quiet' }, ` ${name(build.soname, 60)}`) : null),
    el('td', { 'data-label': 'Machine' }, build.machine),
    el('td', { 'data-label': 'Functions', class: 'number' }, el('a', { href: write({ b, w: 'listing' }) }, count(build.functions))),
    el('td', { 'data-label': 'Rows', class: 'number' }, count(build.rows)),
    el('td', { 'data-label': 'With a line', class: 'number' }, percent(build.rows_with_line, build.rows)),
    el('td', { 'data-label': 'Package' }, build.package ? line(build.package) : el('span', { class: 'quiet' }, '–')),
    el('td', { 'data-label': 'Build id' }, el('code', { title: build.build_id }, build.build_id.length > 14 ? `${build.build_id.slice(0, 12)}…` : build.build_id)),
  );
}

/** @param {import('../main.js').Context} context @returns {Promise<import('../main.js').Shown>} */
export async function show({ main, link }) {
  const index = await catalogue();
  const body = el('tbody');
  const list = walk(index);
  const shown = [];
  const more = el('button', { type: 'button', onclick: () => next() }, 'Show more builds');
  const said = el('p', { class: 'quiet', role: 'status' });
  const filter = /** @type {HTMLInputElement} */ (el('input', {
    type: 'search', id: 'filter', placeholder: 'Narrow the list', autocomplete: 'off', spellcheck: 'false', oninput: () => narrow(),
  }));
  const next = async () => {
    more.disabled = true;
    const made = [];
    let done = false;
    while (made.length < BATCH) {
      const found = await list.next();
      if (found.done) {
        done = true;
        break;
      }
      shown.push(found.value);
      made.push(row(found.value));
    }
    body.append(...made);
    more.hidden = done;
    more.disabled = false;
    narrow();
  };
  const narrow = () => {
    const sought = filter.value.toLowerCase();
    let left = 0;
    shown.forEach((build, at) => {
      const text = [raw(build.name), build.build_id, build.machine, build.package ?? '', raw(build.soname ?? '')].join(' ').toLowerCase();
      const fits = text.includes(sought);
      /** @type {HTMLElement} */ (body.children[at]).hidden = !fits;
      if (fits) left += 1;
    });
    said.textContent = sought === '' ? '' : `${left} of the ${shown.length} builds that are shown`;
  };
  put(
    main,
    el(
      'div',
      { class: 'page' },
      head('Builds', `${count(index.total)} ${index.total === 1 ? 'build' : 'builds'} in this archive`,
        el('label', { class: 'sr', for: 'filter' }, 'Narrow the list'), filter),
      index.total === 0
        ? el('p', { class: 'notice' }, 'This archive is empty. Add a binary to it: ', el('code', {}, 'elfscope add FILE'))
        : el('table', { class: 'table cards' },
            el('caption', { class: 'sr' }, 'Builds'),
            el('thead', {}, el('tr', {}, ['Name', 'Machine', 'Functions', 'Rows', 'With a line', 'Package', 'Build id'].map((text, at) =>
              el('th', { scope: 'col', class: at > 1 && at < 5 ? 'number' : null }, text)))),
            body),
      said,
      more,
    ),
  );
  await next();
  return {
    title: 'Builds',
    cite: () => citation(link, shown.map((build) => `${build.build_id}/${build.edition}  ${name(build.name)}  ${build.machine}`).join('\n') || absolute(link)),
  };
}
