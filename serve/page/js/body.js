/**
 * A body by its pages: which page a row or an offset is on, and the lines that a listing shows of a page, as
 * `serve/core/src/interleave.rs` says which lines of a source stand between the rows.
 */

import { body } from './api.js';
import { raw } from './escape.js';

/** So many lines of source further on, the lines between are shown too. */
const STEP = 5;

/**
 * A line of a listing.
 * @typedef {object} Item
 * @property {'row' | 'place' | 'text' | 'silent' | 'run'} is a row; where the code below comes from; a line of source; that nothing says where
 * @property {number} [n] a row's number
 * @property {any[]} [row] the row
 * @property {any} [edge] the edge that leaves from it
 * @property {any} [file] the source
 * @property {number | null} [line] its line
 * @property {{function?: any, file?: any, line?: number}[]} [stack] what the code was inlined into, innermost first
 * @property {[number, number]} [rows] the rows of a run, first and last
 */

/** The stack at a place of a page, innermost first. @param {any} page @param {any} at */
export function stack(page, at) {
  const files = page.files ?? [];
  const frames = page.frames ?? [];
  const out = [{ file: files[at.file], line: at.line, function: undefined }];
  let below = frames.length;
  let number = at.frame;
  while (number !== undefined && number !== null && number < below && frames[number]) {
    const frame = frames[number];
    out[out.length - 1].function = frame.function;
    const parent = frame.parent;
    if (parent !== undefined && parent !== null) out.push({ file: files[frame.call_file], line: frame.call_line, function: undefined });
    below = number;
    number = parent;
  }
  return out;
}

/**
 * The lines of one page.
 * @param {any} page
 * @param {string} how `asm`, `source` or `outline`
 * @returns {Item[]}
 */
export function lines(page, how) {
  /** @type {Item[]} */
  const out = [];
  const edges = new Map(page.edges.map((edge) => [edge.row, edge]));
  const seen = new Set();
  const before = new Map();
  const hasPlaces = page.runs.some((run) => run.at);
  let last = '';
  let n = page.rows_from;
  for (const run of page.runs) {
    const at = run.at;
    const file = at ? (page.files ?? [])[at.file] : null;
    const from = n;
    const rows = run.rows.map((row) => ({ is: 'row', n: n++, row, edge: edges.get(row[0]) }));
    if (how === 'outline') {
      out.push({ is: 'run', rows: [from, n - 1], n: from, file, line: at?.line, stack: at ? stack(page, at) : undefined });
      out.push(...rows.filter((row) => row.edge));
      continue;
    }
    if (!at && hasPlaces) {
      out.push({ is: 'silent' });
      last = '';
    }
    if (at) {
      const place = `${at.file} ${at.frame}`;
      const isText = how === 'source' && file?.sha256 && at.line;
      if (!isText || place !== last) out.push({ is: 'place', file, line: at.line, stack: stack(page, at) });
      last = isText ? place : '';
      if (at.line > 0) {
        let first = at.line;
        const earlier = before.get(place);
        before.set(place, at.line);
        if (earlier < at.line && at.line - earlier <= STEP) {
          while (first - 1 > earlier && !seen.has(`${at.file}:${first - 1}`)) first -= 1;
        }
        for (let line = first; line <= at.line; line += 1) {
          seen.add(`${at.file}:${line}`);
          if (isText) out.push({ is: 'text', file, line });
        }
      }
    }
    out.push(...rows);
  }
  return out;
}

/**
 * The page that something is on, sought from an estimate.
 * @param {string} b
 * @param {string} key
 * @param {any} first page 0
 * @param {number} estimate
 * @param {(page: any) => number} side below 0 where it is before the page, above 0 where it is behind
 * @returns {Promise<any | null>}
 */
async function seek(b, key, first, estimate, side) {
  let [low, high] = [0, first.pages - 1];
  let at = Math.max(low, Math.min(high, estimate));
  while (low <= high) {
    const page = await body(b, key, at);
    const where = side(page);
    if (where === 0) return page;
    if (where < 0) high = at - 1;
    else low = at + 1;
    // The estimate was near: close by first, then by halves.
    const near = where < 0 ? at - 1 : at + 1;
    at = Math.abs(high - low) > 8 && Math.abs(near - estimate) < 3 ? near : (low + high) >> 1;
  }
  return null;
}

const rowsOf = (page) => page.runs.reduce((sum, run) => sum + run.rows.length, 0);

/** The page that has a row. @param {string} b @param {string} key @param {any} first page 0 @param {number} row */
export function pageOfRow(b, key, first, row) {
  const estimate = Math.floor((row / Math.max(1, first.head.rows_total)) * first.pages);
  return seek(b, key, first, estimate, (page) => (row < page.rows_from ? -1 : row >= page.rows_from + rowsOf(page) ? 1 : 0));
}

/**
 * The row that an offset is in.
 * @param {string} b
 * @param {string} key
 * @param {number} offset
 * @returns {Promise<number | null>} its number
 */
export async function rowAt(b, key, offset) {
  const first = await body(b, key, 0);
  const size = Number(key.slice(key.lastIndexOf('-') + 1));
  const ends = (row) => row[0] + row[1].length / 2;
  const page = await seek(b, key, first, Math.floor((offset / size) * first.pages), (page) => {
    const rows = page.runs.flatMap((run) => run.rows);
    if (rows.length === 0) return 0;
    return offset < rows[0][0] ? -1 : offset >= ends(rows[rows.length - 1]) ? 1 : 0;
  });
  const rows = page?.runs.flatMap((run) => run.rows) ?? [];
  const at = rows.findIndex((row) => offset >= row[0] && offset < ends(row));
  return at < 0 ? null : page.rows_from + at;
}

/** The name that listings show of a body. @param {any} head @returns {any} */
export const shownName = (head) => head?.names?.[0]?.name;

/** The key of a source in a cache. @param {any} file @returns {string} */
export const fileKey = (file) => file.sha256 ?? raw(file.path);
