/**
 * Text from strangers, made safe to show, as `serve/core/src/escape.rs` does it: what a reader would act on instead of seeing
 * it (control characters, turns of direction, invisible characters) is shown as an escape, what is too long is cut visibly.
 */

/** Most characters of a name that a line shows. */
export const NAME = 160;
/** Most characters of a string that a line shows. */
export const TEXT = 100;
/** Most characters of a text that is told whole. */
export const LINE = 2000;
/** Most columns of a line of source. */
export const CODE = 400;
const TAB = 8;

const HIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/u;
const SHORT = new Map([['\n', '\\n'], ['\r', '\\r'], ['\t', '\\t'], ['\0', '\\0'], ['\\', '\\\\']]);
const encoder = new TextEncoder();

/** @param {string} text @returns {number} its length in UTF-8 */
const bytes = (text) => encoder.encode(text).length;

/**
 * @param {string} text
 * @param {number} most characters that are shown
 * @param {boolean} quotes whether quotes are escaped too
 * @param {number} [length] its length in bytes, where the text itself is only its start
 * @returns {string}
 */
function shown(text, most, quotes, length) {
  const out = [];
  let count = 0;
  let at = 0;
  for (const character of text) {
    if (count === most) break;
    count += 1;
    at += character.length;
    if (SHORT.has(character)) out.push(SHORT.get(character));
    else if (quotes && character === '"') out.push('\\"');
    else if (HIDDEN.test(character)) out.push(`\\u{${character.codePointAt(0).toString(16)}}`);
    else out.push(character);
  }
  const left = (length ?? bytes(text)) - bytes(text.slice(0, at));
  return left > 0 ? `${out.join('')}…(${left} bytes more)` : out.join('');
}

/**
 * A name as documents write it: text, what is not UTF-8, or the start of a long one.
 * @typedef {string | {hex: string, lossy: string} | {length: number, prefix: string, sha256: string}} Name
 */

/** @param {Name} name @returns {string} what can be shown of it, as it stands */
export function raw(name) {
  return typeof name === 'string' ? name : (name.lossy ?? name.prefix);
}

/** @param {Name} name @returns {number | undefined} */
const whole = (name) => (typeof name === 'object' ? name.length : undefined);

/** @param {Name} text @param {number} [most] @returns {string} a name, on one line */
export const name = (text, most = NAME) => shown(raw(text), most, false, whole(text));

/** @param {Name} text @returns {string} a text that is told whole, on one line */
export const line = (text) => shown(raw(text), LINE, false, whole(text));

/** @param {Name} text @param {boolean} [cut] whether more follows @param {number} [most] @returns {string} in quotes */
export function quoted(text, cut = false, most = TEXT) {
  const out = `"${shown(raw(text), most, true, whole(text))}"`;
  return cut && !out.endsWith('more)"') ? `${out}…` : out;
}

/** @param {Name} text @param {number} [most] @returns {string} a path, cut at its front: its end says what it is */
export function path(text, most = NAME) {
  const characters = [...raw(text)];
  if (characters.length <= most) return shown(raw(text), most, false, whole(text));
  const start = characters.slice(0, characters.length - most).join('');
  return `(${bytes(start)} bytes before)…${shown(characters.slice(-most).join(''), most, false)}`;
}

/** @param {string} text a line of source without its `\n` @returns {string} as it reads, tabs spaced out */
export function code(text) {
  let out = '';
  let column = 0;
  for (const character of text.replace(/\r$/, '')) {
    let piece = character;
    if (character === '\t') piece = ' '.repeat(TAB - (column % TAB));
    else if (HIDDEN.test(character)) {
      piece = `<U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}>`;
    }
    column += [...piece].length;
    if (column > CODE) return `${out}…`;
    out += piece;
  }
  return out;
}
