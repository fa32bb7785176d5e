/**
 * Citations: the pinned link of a view and the rows it shows, as the server tells them, for pasting into a report that
 * `elfscope check` can verify.
 */

import { text } from './api.js';
import { byId } from './dom.js';
import { absolute } from './link.js';
import { say } from './shell.js';

/** Most rows of one citation: what the server tells at once. */
export const ROWS = 500;
/** Most lines of a source at once. */
export const LINES = 400;

/** @param {import('./link.js').Link} link @param {string} quoted @returns {string} */
export const citation = (link, quoted) => `${absolute(link)}\n\n${quoted.replace(/\n+$/, '')}\n`;

/**
 * The rows of a body as the server tells them, without what stands above them.
 * @param {string} b
 * @param {string} key
 * @param {[number, number]} rows
 * @returns {Promise<string>}
 */
export async function rowsText(b, key, [first, last]) {
  if (last - first >= ROWS) throw new Error(`a citation takes at most ${ROWS} rows, and ${last - first + 1} are selected`);
  const told = await text(b, `fn/${key}.txt?rows=${first}-${last}`);
  const [, ...blocks] = told.split('\n\n');
  return blocks.join('\n\n').replace(/\n {2}… [0-9]+ rows more, from row [0-9]+\n?$/, '\n');
}

/** Copies it, or shows it where that isn't let. @param {Promise<string> | string} made */
export async function copy(made) {
  let written;
  try {
    written = await made;
  } catch (error) {
    say(`Nothing was copied: ${error.message}`);
    return;
  }
  try {
    await navigator.clipboard.writeText(written);
    const lines = written.split('\n').length - 3;
    say(`Copied: the link and ${lines} ${lines === 1 ? 'line' : 'lines'}`);
  } catch {
    const area = /** @type {HTMLTextAreaElement} */ (byId('copy-text'));
    area.value = written;
    /** @type {HTMLDialogElement} */ (byId('copy')).showModal();
    area.select();
  }
}
