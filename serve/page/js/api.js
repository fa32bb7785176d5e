/**
 * The archive's public routes, and nothing else: every request of the page is made here. Pinned documents never change, so a
 * bounded number of them is kept.
 */

/** A refusal: what the server said, or that it said nothing. */
export class Refused extends Error {
  /** @param {number} status @param {{code?: string, message?: string, given?: string, allowed?: unknown, fix?: string}} said */
  constructor(status, said) {
    super(said.message ?? `the server answered with status ${status}`);
    this.status = status;
    this.code = said.code ?? '';
    this.given = said.given;
    this.allowed = said.allowed;
    this.fix = said.fix;
  }
}

/** Most documents that are kept. */
const KEPT = 300;
/** @type {Map<string, Promise<any>>} */
const kept = new Map();

/** @param {string} path @param {AbortSignal} [signal] @returns {Promise<Response>} */
async function fetched(path, signal) {
  let response;
  try {
    response = await fetch(path, { signal, headers: { accept: '*/*' } });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Refused(0, { message: 'the server can’t be reached', fix: 'check that it runs, then reload' });
  }
  if (response.status === 200) return response;
  let said = {};
  try {
    said = await response.json();
  } catch {
    // Whatever stands between here and the archive needn't answer in JSON.
  }
  throw new Refused(response.status, said);
}

/** @param {string} path @param {(response: Response) => Promise<any>} read @returns {Promise<any>} */
function keep(path, read) {
  const found = kept.get(path);
  if (found) {
    // The one that was asked for last is dropped last.
    kept.delete(path);
    kept.set(path, found);
    return found;
  }
  const asked = fetched(path).then(read);
  kept.set(path, asked);
  asked.catch(() => kept.delete(path));
  if (kept.size > KEPT) kept.delete(kept.keys().next().value);
  return asked;
}

/** @param {string} text @returns {string} a path's segments, encoded, its slashes kept */
const segments = (text) => text.split('/').map(encodeURIComponent).join('/');

/** A document of an edition. @param {string} pin @param {string} rest @returns {Promise<any>} */
export const document_ = (pin, rest) => keep(`/archive/${pin}/${rest}`, (response) => response.json());

/** A text of an edition. @param {string} pin @param {string} rest @returns {Promise<string>} */
export const text = (pin, rest) => keep(`/archive/${pin}/${rest}`, (response) => response.text());

/** @returns {Promise<any>} the catalogue */
export const catalogue = () => fetched('/archive/index.json').then((response) => response.json());

/** A page of the catalogue. @param {string} by @param {string} page @returns {Promise<any>} */
export const cataloguePage = (by, page) => keep(`/archive/index/${by}/${page}.json`, (response) => response.json());

/** The builds of a catalogue, page by page, in the order of its tree. @param {any} index @returns {AsyncGenerator<any>} */
export async function* walk(index) {
  if (index.builds) {
    yield* index.builds;
    return;
  }
  const prefixes = ['root'];
  while (prefixes.length > 0) {
    const prefix = prefixes.shift();
    const page = await cataloguePage('id', prefix);
    if (page.builds) yield* page.builds;
    const start = prefix === 'root' ? '' : prefix;
    // What stands below it comes before what stands behind it.
    prefixes.unshift(...[...(page.split ?? '')].map((digit) => start + digit));
    for (let number = 1; number <= (page.pages ?? 0); number += 1) {
      yield* (await cataloguePage('id', `${prefix}.${number}`)).builds ?? [];
    }
  }
}

/**
 * The builds with this very name, soname, package or id: one request a digit of its digest, however long the catalogue is.
 * @param {'id' | 'name' | 'soname' | 'package'} by
 * @param {string} text
 * @returns {AsyncGenerator<any>}
 */
export async function* buildsBy(by, text) {
  // Browsers digest only for pages from this machine or over HTTPS.
  if (!globalThis.crypto?.subtle) return;
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  const hex = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  let prefix = '';
  let page;
  try {
    page = await cataloguePage(by, 'root');
    while (page.split?.includes(hex[prefix.length])) {
      prefix = hex.slice(0, prefix.length + 1);
      page = await cataloguePage(by, prefix);
    }
  } catch (error) {
    // Where no build has such a key there is no page.
    if (error.status === 404) return;
    throw error;
  }
  yield* page.builds ?? [];
  for (let number = 1; number <= (page.pages ?? 0); number += 1) {
    yield* (await cataloguePage(by, `${prefix || 'root'}.${number}`)).builds ?? [];
  }
}

/** A build's editions. @param {string} build @returns {Promise<any>} */
export const current = (build) => fetched(`/archive/${build}/current.json`).then((response) => response.json());

/** The path of a source. @param {string} path @returns {string} */
export function sourcePath(path) {
  return path.startsWith('/') ? `src/abs/${segments(path.slice(1))}` : `src/rel/${segments(path)}`;
}

/**
 * A question with parameters.
 * @param {string} route
 * @param {Record<string, string | number | undefined | null>} parameters
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export function ask(route, parameters, signal) {
  const query = Object.entries(parameters)
    .filter(([, value]) => value !== undefined && value !== null && value !== '')
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`)
    .join('&');
  return fetched(`/archive/${route}${query ? `?${query}` : ''}`, signal).then((response) => response.json());
}

/** The first page of a body by a name or an address. @param {string} pin @param {string} name @returns {Promise<any>} */
export const named = (pin, name) => document_(pin, `function/${segments(name)}`);

/** Who calls an imported symbol. @param {string} pin @param {string} name @param {number} page @returns {Promise<any>} */
export const importCallers = (pin, name, page) =>
  document_(pin, `callers/import:${segments(name)}.json${page > 0 ? `?page=${page}` : ''}`);

/** Who calls a body. @param {string} pin @param {string} key @param {number} page @returns {Promise<any>} */
export const callers = (pin, key, page) => document_(pin, `callers/${key}${page > 0 ? `.${page}` : ''}.json`);

/** A page of a body. @param {string} pin @param {string} key @param {number} page @returns {Promise<any>} */
export const body = (pin, key, page) => document_(pin, `fn/${key}${page > 0 ? `.${page}` : ''}.json`);
