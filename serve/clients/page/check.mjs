/** What every check of the page uses: counts, a browser, pages that note what goes wrong in them. */

import { chromium } from 'playwright-core';

let passed = 0;
const failed = [];

/** @param {unknown} held @param {string} what */
export function check(held, what) {
  if (held) passed += 1;
  else {
    failed.push(what);
    console.error(`failed: ${what}`);
  }
}

/** @param {unknown} found @param {unknown} expected @param {string} what */
export function same(found, expected, what) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  check(a === b, `${what}: ${String(a).slice(0, 300)} instead of ${String(b).slice(0, 300)}`);
}

export const counts = () => ({ passed, failed });

const ARGS = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];

/** @returns {Promise<import('playwright-core').Browser>} */
export const browser = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ARGS });

/** A server that is asked, and what it holds. */
export class Site {
  /** @param {string} base @param {import('playwright-core').Browser} browser */
  constructor(base, browser) {
    this.base = base;
    this.browser = browser;
    this.contexts = new Map();
  }

  /** @param {string} path @returns {Promise<any>} */
  async json(path) {
    const response = await fetch(`${this.base}/archive/${path}`);
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return response.json();
  }

  async read() {
    this.builds = (await this.json('index.json')).builds;
  }

  /** The edition of a build by its name. @param {string} name @returns {string} */
  pin(name) {
    const found = this.builds.find((build) => build.name === name);
    if (!found) throw new Error(`no build ${name}`);
    return `${found.build_id}/${found.edition}`;
  }

  /**
   * A page that has loaded a view.
   * @param {string} fragment
   * @param {{scheme?: 'light' | 'dark', width?: number, height?: number, allow?: RegExp}} [how] `allow`: what its console may say
   */
  async open(fragment, how = {}) {
    const { scheme = 'light', width = 1360, height = 850, allow } = how;
    const key = `${scheme} ${width} ${height}`;
    if (!this.contexts.has(key)) {
      this.contexts.set(key, await this.browser.newContext({
        colorScheme: scheme, viewport: { width, height }, reducedMotion: 'reduce', permissions: ['clipboard-read', 'clipboard-write'],
      }));
    }
    const page = await this.contexts.get(key).newPage();
    page.wrong = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()) && !allow?.test(message.text())) page.wrong.push(message.text());
    });
    page.on('pageerror', (error) => page.wrong.push(String(error)));
    page.on('dialog', (dialog) => {
      page.wrong.push(`a dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(this.base)) page.wrong.push(`it asks elsewhere: ${request.url()}`);
    });
    await page.goto(`${this.base}/${fragment}`);
    await settle(page);
    return page;
  }
}

/** Waits until a view is there. @param {import('playwright-core').Page} page */
export async function settle(page) {
  await page.waitForFunction(() => {
    const main = document.getElementById('main');
    return main.childElementCount > 0 && !main.hasAttribute('aria-busy');
  });
  await page.waitForLoadState('networkidle');
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** Ends a page; nothing may have gone wrong in it. @param {import('playwright-core').Page} page @param {string} what */
export async function close(page, what) {
  same(page.wrong, [], `${what}: its console`);
  await page.close();
}

/** The text of what is shown. @param {import('playwright-core').Page} page @returns {Promise<string>} */
export const shown = (page) => page.locator('#main').innerText();
