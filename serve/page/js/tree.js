/**
 * The indices of an edition (`lookup.json` and its pages): how many leaves one has, its leaves by number, the leaf that may hold
 * a key. As `schema/src/lookup.rs` describes them.
 */

import { document_ } from './api.js';
import { compare } from './link.js';

/**
 * @typedef {object} Tree
 * @property {number} entries how many records it has
 * @property {number} leaves how many leaves
 * @property {(number: number) => Promise<any[]>} leaf the records of one
 */

/** @param {string} pin @param {string} index @returns {Promise<any | undefined>} */
async function root(pin, index) {
  return (await document_(pin, 'lookup.json')).indices[index];
}

/** @param {string} pin @param {number} ordinal @returns {Promise<any>} */
const page = (pin, ordinal) => document_(pin, `lookup/${ordinal}.json`);

/**
 * An index, with the number of its leaves.
 * @param {string} pin
 * @param {string} index
 * @returns {Promise<Tree>}
 */
export async function open(pin, index) {
  const top = await root(pin, index);
  if (!top) return { entries: 0, leaves: 0, leaf: async () => [] };
  if (top.leaf) return { entries: top.entries, leaves: top.leaf.length > 0 ? 1 : 0, leaf: async () => top.leaf };
  let table = top.table;
  for (let level = top.levels; level > 1; level -= 1) table = (await page(pin, table[table.length - 1][1])).table;
  const leaves = table[table.length - 1][1] - top.first_leaf + 1;
  return { entries: top.entries, leaves, leaf: async (number) => (await page(pin, top.first_leaf + number)).leaf };
}

/**
 * The place of the last entry that isn't past what is sought, or -1.
 * @template T
 * @param {T[]} list
 * @param {(item: T) => number} order of an item against what is sought
 */
export function lastUpTo(list, order) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (order(list[middle]) <= 0) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * The body that an address is in.
 * @param {string} pin
 * @param {string} address
 * @returns {Promise<any | null>} its entry `[address, size, ordinal, callers, kind, names]`
 */
export async function bodyAt(pin, address) {
  const top = await root(pin, 'address');
  if (!top) return null;
  let { leaf, table } = top;
  for (let level = top.levels; level > 0; level -= 1) {
    const at = lastUpTo(table, (entry) => compare(entry[0], address));
    if (at < 0) return null;
    ({ leaf, table } = await page(pin, table[at][1]));
  }
  const at = lastUpTo(leaf, (entry) => compare(entry[0], address));
  if (at < 0) return null;
  const entry = leaf[at];
  const [start, sought] = [entry[0], address].map((text) => text.split('-').reverse());
  if (start[1] !== sought[1]) return null;
  return BigInt(`0x${sought[0]}`) - BigInt(`0x${start[0]}`) < BigInt(entry[1]) ? entry : null;
}

/**
 * The data items on the page that may hold an address.
 * @param {string} pin
 * @param {string} address
 * @returns {Promise<any[]>}
 */
export async function dataNear(pin, address) {
  const top = await root(pin, 'data');
  if (!top) return [];
  let table = top.table ?? [];
  for (let level = top.levels; level > 1; level -= 1) {
    const at = Math.max(0, lastUpTo(table, (entry) => compare(entry[0], address)));
    table = (await page(pin, table[at][1])).table;
  }
  const at = lastUpTo(table, (entry) => compare(entry[0], address));
  if (at < 0) return [];
  return (await document_(pin, `data/${table[at][1]}.json`)).items;
}

/** @param {string} pin @returns {Promise<number>} how many pages of data there are */
export async function dataPages(pin) {
  return packSize(pin, 'data.jsonl.gz');
}

/** @param {string} pin @param {string} pack @returns {Promise<number>} how many documents a pack has */
export async function packSize(pin, pack) {
  const packs = (await document_(pin, 'packs.json')).packs;
  return packs.find((told) => told.name === pack)?.members ?? 0;
}

/** The key of an entry of the index of addresses. @param {any[]} entry @returns {string} */
export const keyOf = (entry) => `${entry[0]}-${entry[1]}`;

const encoder = new TextEncoder();
/** Longest part of a text that an index sorts by, in bytes. */
const SORT_KEY = 192;

/** The start of a text that its sort key keeps. @param {string} text @returns {Uint8Array} */
const sortable = (text) => encoder.encode(text).subarray(0, SORT_KEY);

/** @param {Uint8Array} a @param {Uint8Array} other @returns {number} */
function byBytes(a, other) {
  const length = Math.min(a.length, other.length);
  for (let at = 0; at < length; at += 1) if (a[at] !== other[at]) return a[at] - other[at];
  return a.length - other.length;
}

/**
 * The first record of a path.
 * @param {string} pin
 * @param {string} index `source` or `source_function`
 * @param {string} path
 * @param {(record: any) => any} name of a record
 * @returns {Promise<any | null>}
 */
export async function byPath(pin, index, path, name) {
  const top = await root(pin, index);
  if (!top) return null;
  const sought = sortable(path);
  const textOf = (record) => {
    const text = name(record);
    return typeof text === 'string' ? text : (text.lossy ?? text.prefix);
  };
  if (top.leaf) return top.leaf.find((record) => textOf(record) === path) ?? null;
  let table = top.table;
  for (let level = top.levels; level > 1; level -= 1) {
    const at = Math.max(0, lastUpTo(table, (entry) => (byBytes(encoder.encode(entry[0]), sought) < 0 ? -1 : 1)));
    table = (await page(pin, table[at][1])).table;
  }
  // Records with an equal key may also end the page before the one that starts with it.
  let number = table[Math.max(0, lastUpTo(table, (entry) => (byBytes(encoder.encode(entry[0]), sought) < 0 ? -1 : 1)))][1];
  for (let reads = 0; reads < 8; reads += 1, number += 1) {
    let leaf;
    try {
      leaf = await page(pin, number);
    } catch {
      return null;
    }
    if (leaf.index !== index || !leaf.leaf) return null;
    const found = leaf.leaf.find((record) => textOf(record) === path);
    if (found) return found;
    const last = leaf.leaf[leaf.leaf.length - 1];
    if (last && byBytes(sortable(textOf(last)), sought) > 0) return null;
  }
  return null;
}
