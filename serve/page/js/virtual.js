/**
 * A long list of lines of one height, of which only those in sight are elements. Its items come in segments, the pages of a
 * document, which are loaded when they come into sight; how many items one has is estimated until then, and what is in sight
 * stays where it is when the estimate was wrong. It is a grid with one active row, driven by arrow keys.
 */

import { el } from './dom.js';

/** Tallest canvas that browsers lay out; above it the scrollbar stands for more than it measures. */
const TALLEST = 16_000_000;
/** Lines beyond what is in sight that are made too. */
const BEYOND = 12;

/**
 * @template T
 * @typedef {object} Options
 * @property {string} label what the list is, for who can't see it
 * @property {number[]} estimates how many items each segment has, as far as known
 * @property {(segment: number) => Promise<T[]>} load the items of one
 * @property {(item: T, row: HTMLElement) => void} render fills a row
 * @property {(item: T) => boolean} [stops] whether the active row may be this one
 * @property {(item: T, event: Event) => void} [open] Enter, or a double click
 * @property {(item: T | null, event: Event | null) => void} [active] another row is the active one
 * @property {HTMLElement} [head] a row of column heads
 * @property {number} [columns] how many columns
 * @property {string} [empty] what is said where there is nothing
 * @property {string} [name] a class
 */

/** @template T */
export class VirtualList {
  /** @param {Options<T>} options */
  constructor(options) {
    this.options = options;
    /** @type {{count: number, items: T[] | null, asked: Promise<void> | null, failed: Error | null}[]} */
    this.segments = options.estimates.map((count) => ({ count, items: null, asked: null, failed: null }));
    this.at = { segment: 0, index: -1 };
    this.rows = new Map();
    this.canvas = el('div', { class: 'canvas', role: 'rowgroup' });
    this.element = el(
      'div',
      {
        class: `virtual ${options.name ?? ''}`,
        role: 'grid',
        tabIndex: 0,
        'aria-label': options.label,
        'aria-colcount': options.columns,
        onscroll: () => this.schedule(),
        onkeydown: (event) => this.key(event),
        onclick: (event) => this.click(event),
        ondblclick: (event) => this.act(event),
      },
      options.head,
      this.canvas,
    );
    this.resize = new ResizeObserver(() => this.measure());
    this.resize.observe(this.element);
    this.height = 22;
    this.total = 0;
    this.frame = 0;
    this.recount();
  }

  /** Ends it. */
  dispose() {
    this.resize.disconnect();
    cancelAnimationFrame(this.frame);
  }

  /** The height of a line follows the text's size. */
  measure() {
    const height = parseFloat(getComputedStyle(this.element).getPropertyValue('--line')) || 22;
    const root = parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
    this.height = Math.round(height * root);
    this.drop();
    this.draw();
  }

  recount() {
    this.starts = [0];
    for (const segment of this.segments) this.starts.push(this.starts[this.starts.length - 1] + segment.count);
    this.total = this.starts[this.starts.length - 1];
    this.element.setAttribute('aria-rowcount', String(this.total));
  }

  /** The part of the list that is in sight: height, and the head that stands over it. */
  get view() {
    return Math.max(0, this.element.clientHeight - (this.options.head?.offsetHeight ?? 0));
  }

  /** How many pixels of the list a pixel of the scrollbar stands for. */
  get scale() {
    const real = this.total * this.height;
    return real <= TALLEST ? 1 : (real - this.view) / (TALLEST - this.view);
  }

  /** The first line in sight, with its fraction. */
  get top() {
    return (this.element.scrollTop * this.scale) / this.height;
  }

  /** @param {number} line */
  set top(line) {
    this.element.scrollTop = (line * this.height) / this.scale;
  }

  /** What is at the top, so that it can be found again when segments have other sizes. @returns {{segment: number, index: number}} */
  get place() {
    const segment = this.segmentOf(Math.floor(this.top));
    return { segment, index: this.top - this.starts[segment] };
  }

  /** Goes back to a place. @param {{segment: number, index: number} | undefined} place */
  async restore(place) {
    if (!place || !this.segments[place.segment]) return;
    await this.need(place.segment);
    this.size();
    this.top = this.starts[place.segment] + place.index;
    this.draw();
  }

  /** @param {number} line @returns {number} the segment it is in */
  segmentOf(line) {
    let [low, high] = [0, this.segments.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= line) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  schedule() {
    if (this.frame === 0) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.draw();
      });
    }
  }

  /** Loads a segment. @param {number} number @returns {Promise<void>} */
  need(number) {
    const segment = this.segments[number];
    if (!segment || segment.items) return Promise.resolve();
    segment.asked ??= this.options.load(number).then(
      (items) => {
        const before = segment.count;
        const first = Math.floor(this.top);
        segment.items = items;
        segment.count = items.length;
        segment.failed = null;
        const start = this.starts[number];
        const moved = items.length - before;
        const { top } = this;
        this.recount();
        if (moved !== 0) {
          this.size();
          // What is in sight stays there.
          if (start + before <= first) this.top = top + moved;
        }
        this.drop();
        this.schedule();
      },
      (error) => {
        segment.asked = null;
        segment.failed = error;
        this.drop();
        this.schedule();
      },
    );
    return segment.asked;
  }

  drop() {
    for (const row of this.rows.values()) row.remove();
    this.rows.clear();
  }

  /** Makes all rows in sight again. */
  refresh() {
    this.drop();
    this.draw();
  }

  size() {
    this.canvas.style.setProperty('height', `${Math.min(TALLEST, this.total * this.height)}px`);
  }

  draw() {
    this.size();
    const view = this.view;
    if (view === 0) return;
    if (this.total === 0) {
      if (!this.said && this.segments.every((segment) => segment.items)) {
        this.said = el('p', { class: 'empty' }, this.options.empty ?? 'Nothing here.');
        this.element.after(this.said);
      }
      for (let number = 0; number < this.segments.length; number += 1) this.need(number);
      return;
    }
    this.said?.remove();
    this.said = null;
    const top = this.top;
    const first = Math.max(0, Math.floor(top) - BEYOND);
    const last = Math.min(this.total - 1, Math.ceil(top + view / this.height) + BEYOND);
    for (const [line, row] of this.rows) {
      if (line < first || line > last || this.scale !== 1) {
        row.remove();
        this.rows.delete(line);
      }
    }
    const base = this.scale === 1 ? 0 : this.element.scrollTop - top * this.height;
    for (let number = this.segmentOf(first); number <= this.segmentOf(last); number += 1) this.need(number);
    for (let line = first; line <= last; line += 1) {
      if (!this.rows.has(line)) {
        const row = this.row(line);
        row.style.setProperty('transform', `translateY(${base + line * this.height}px)`);
        this.rows.set(line, row);
      }
    }
    const order = [...this.rows.keys()].sort((a, b) => a - b).map((line) => this.rows.get(line));
    // Readers of a screen go by the order of the elements.
    order.forEach((row, place) => {
      if (this.canvas.children[place] !== row) this.canvas.insertBefore(row, this.canvas.children[place] ?? null);
    });
    this.mark();
  }

  /** @param {number} line @returns {HTMLElement} */
  row(line) {
    const number = this.segmentOf(line);
    const segment = this.segments[number];
    const index = line - this.starts[number];
    const row = el('div', { class: 'line', role: 'row', id: `row-${line}`, 'aria-rowindex': line + 1 });
    row.dataset.line = String(line);
    if (segment.items) this.options.render(segment.items[index], row);
    else if (segment.failed && index === 0) row.append(el('span', { role: 'gridcell', class: 'error' }, segment.failed.message));
    else row.append(el('span', { role: 'gridcell', class: 'waiting' }, '…'));
    return row;
  }

  /** @param {number} line @returns {T | null} */
  item(line) {
    const number = this.segmentOf(line);
    return this.segments[number]?.items?.[line - this.starts[number]] ?? null;
  }

  /** The line of the active row, or -1. */
  get line() {
    return this.at.index < 0 ? -1 : this.starts[this.at.segment] + this.at.index;
  }

  mark() {
    const line = this.line;
    for (const [at, row] of this.rows) row.classList.toggle('active', at === line);
    if (line >= 0 && this.rows.has(line)) this.element.setAttribute('aria-activedescendant', `row-${line}`);
    else this.element.removeAttribute('aria-activedescendant');
  }

  /** Makes a line the active one. @param {number} line @param {Event | null} event */
  activate(line, event) {
    const segment = this.segmentOf(line);
    this.at = { segment, index: line - this.starts[segment] };
    this.show(line);
    this.draw();
    this.options.active?.(this.item(line), event);
  }

  /** Brings a line into sight. @param {number} line @param {boolean} [middle] */
  show(line, middle = false) {
    const lines = this.view / this.height;
    const top = this.top;
    if (middle) this.top = Math.max(0, line - Math.floor(lines / 3));
    else if (line < top) this.top = line;
    else if (line + 1 > top + lines) this.top = line + 1 - lines;
  }

  /**
   * Brings an item of a segment into sight, once it is loaded, and makes it the active one.
   * @param {number} number the segment
   * @param {(item: T) => boolean} is which item
   * @returns {Promise<boolean>} whether there is one
   */
  async reveal(number, is) {
    await this.need(number);
    const index = this.segments[number]?.items?.findIndex(is) ?? -1;
    if (index < 0) return false;
    this.size();
    this.at = { segment: number, index };
    this.show(this.line, true);
    this.draw();
    this.options.active?.(this.item(this.line), null);
    return true;
  }

  /** The next line from one on that may be active. @param {number} line @param {number} step */
  stop(line, step) {
    const stops = this.options.stops;
    const bounded = Math.max(0, Math.min(this.total - 1, line));
    if (!stops) return bounded;
    for (let at = bounded; at >= 0 && at < this.total; at += step) {
      const item = this.item(at);
      if (item === null || stops(item)) return at;
    }
    for (let at = bounded; at >= 0 && at < this.total; at -= step) {
      const item = this.item(at);
      if (item === null || stops(item)) return at;
    }
    return bounded;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.element) return;
    const page = Math.max(1, Math.floor(this.view / this.height) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key === 'Enter') {
      this.act(event);
      return;
    }
    const step = steps[event.key];
    if (step === undefined || this.total === 0) return;
    event.preventDefault();
    const from = this.line < 0 ? Math.floor(this.top) - Math.sign(step) : this.line;
    const to = step === -Infinity ? 0 : step === Infinity ? this.total - 1 : from + step;
    this.activate(this.stop(to, step < 0 ? -1 : 1), event);
  }

  /** @param {Event} event @returns {number} the line of a row that something happened on, or -1 */
  static lineOf(event) {
    const row = event.target instanceof Element ? event.target.closest('.line') : null;
    return row instanceof HTMLElement ? Number(row.dataset.line) : -1;
  }

  /** @param {MouseEvent} event */
  click(event) {
    const line = VirtualList.lineOf(event);
    if (line < 0 || (event.target instanceof Element && event.target.closest('a, button'))) return;
    const item = this.item(line);
    if (item === null || (this.options.stops && !this.options.stops(item))) return;
    this.activate(line, event);
  }

  /** @param {Event} event */
  act(event) {
    const line = event.type === 'dblclick' ? VirtualList.lineOf(event) : this.line;
    const item = line < 0 ? null : this.item(line);
    if (item !== null) this.options.open?.(item, event);
  }
}
