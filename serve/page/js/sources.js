/**
 * Texts of sources: whole files by their digest, for the lines that stand between the rows of a listing. Bytes that are not
 * UTF-8 are shown as `<0xFF>`.
 */

/** Most bytes of a file that is shown between rows; a larger one is read in its own view, in parts. */
const LARGEST = 2_000_000;
/** Most bytes that are kept. */
const KEPT = 8_000_000;

/** @type {Map<string, {lines: string[] | null, size: number, asked: Promise<void>, why: string}>} */
const files = new Map();

/** @param {Uint8Array} bytes @returns {string} */
export function decode(bytes) {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    let out = '';
    let at = 0;
    while (at < bytes.length) {
      const first = bytes[at];
      const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
      try {
        out += new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.subarray(at, at + length));
        at += length;
      } catch {
        out += `<0x${first.toString(16).toUpperCase().padStart(2, '0')}>`;
        at += 1;
      }
    }
    return out;
  }
}

/**
 * Asks for a file.
 * @param {string} b
 * @param {string} sha256
 * @returns {Promise<void>}
 */
export function need(b, sha256) {
  const found = files.get(sha256);
  if (found) return found.asked;
  const file = { lines: null, size: 0, why: '', asked: Promise.resolve() };
  file.asked = load(b, sha256, file);
  files.set(sha256, file);
  return file.asked;
}

async function load(b, sha256, file) {
  try {
    const response = await fetch(`/archive/${b}/src/sha256/${sha256}`);
    const length = Number(response.headers.get('content-length') ?? 0);
    if (!response.ok || length > LARGEST) {
      file.why = response.ok ? 'the source is too large to be shown here' : 'the source can’t be read';
      await response.body?.cancel();
      return;
    }
    const bytes = new Uint8Array(await response.arrayBuffer());
    file.lines = decode(bytes).split('\n');
    file.size = bytes.length;
  } catch {
    file.why = 'the source can’t be read';
    files.delete(sha256);
    return;
  }
  let size = 0;
  for (const [key, other] of [...files].reverse()) {
    size += other.size;
    if (size > KEPT && key !== sha256) files.delete(key);
  }
}

/**
 * A line of a file, where it is loaded.
 * @param {string} sha256
 * @param {number} line from 1
 * @returns {{text?: string, why?: string}}
 */
export function lineOf(sha256, line) {
  const file = files.get(sha256);
  if (!file) return {};
  if (file.lines) return { text: file.lines[line - 1] ?? '' };
  return file.why ? { why: file.why } : {};
}
