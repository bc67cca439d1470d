// Drives Chromium for the tests. Reads one JSON command per line, and answers each with one line. The tests choose the
// commands and check the answers; this program contains no test.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { join } from 'node:path';

const require = createRequire(join(process.env.UNTERM_NODE_MODULES, 'page.js'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const [patience, ...flags] = process.argv.slice(2);
const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    // Tests run as root in containers. There, Chromium can't create its own sandbox, and shared memory is small.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', ...flags],
});
const page = await browser.newPage({ viewport: { width: 1100, height: 900 } });
page.setDefaultTimeout(Number(patience));
const faults = [];
page.on('pageerror', (error) => faults.push(error.message));
page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
});

// The Chrome DevTools Protocol, for features without a Playwright command, such as a virtual authenticator.
const devtools = await page.context().newCDPSession(page);

const commands = {
    devtools: ({ method, params }) => devtools.send(method, params),
    goto: ({ url }) => page.goto(url).then(() => null),
    url: () => page.url(),
    click: ({ at }) => page.click(at),
    focus: ({ at }) => page.focus(at),
    press: ({ key }) => page.keyboard.press(key),
    /** Enters text into a field and moves the focus out of it, as a user does. */
    fill: async ({ at, text }) => {
        await page.fill(at, text);
        await page.locator(at).blur();
    },
    select: ({ at, text }) => page.selectOption(at, text).then(() => null),
    text: ({ at }) => page.textContent(at),
    value: ({ at }) => page.inputValue(at),
    list: ({ at, attribute }) => page.$$eval(at, (all, name) => all.map((one) => one.getAttribute(name)), attribute),
    options: ({ at }) => page.$$eval(`${at} option`, (all) => all.map((one) => one.value)),
    kind: ({ at }) => page.locator(at).evaluate((one) => (one.tagName === 'SELECT' ? 'select' : one.getAttribute('role') ?? one.type)),
    /** Waits until an element contains a text. */
    wait_text: ({ at, text }) =>
        page.waitForFunction(([at, text]) => document.querySelector(at)?.textContent.includes(text), [at, text]).then(() => null),
    wait_value: ({ at, text }) =>
        page.waitForFunction(([at, text]) => document.querySelector(at)?.value === text, [at, text]).then(() => null),
    wait_gone: ({ at }) => page.waitForSelector(at, { state: 'detached' }).then(() => null),
    wait_there: ({ at }) => page.waitForSelector(at, { state: 'attached' }).then(() => null),
    wait_for: ({ at }) => page.waitForSelector(at, { state: 'visible' }).then(() => null),
    /** Accessibility faults of the page that axe rates "serious" or "critical". */
    axe: () =>
        page.evaluate(`${axe};
            // Exclude samples of a theme: they are hidden from screen readers, and their contrast is the theme's.
            axe.run({ exclude: ['.sample', '.preview'] }).then(({ violations }) => violations
                .filter((one) => ['serious', 'critical'].includes(one.impact))
                .map((one) => one.id + ': ' + one.nodes.map((node) => node.target.join(' ')).join(', ')))`),
    faults: () => faults.splice(0),
    /** Evaluates a function in the page, and returns its result. */
    evaluate: ({ script, given }) => page.evaluate(`(${script})(${JSON.stringify(given ?? null)})`),
    /** Serves a page at an address instead of asking the network: the browser got it before the name pointed to Unterm. */
    serve: ({ url, body }) => page.route(url, (route) => route.fulfill({ contentType: 'text/html', body })).then(() => null),
    clipboard: async () => {
        await page.context().grantPermissions(['clipboard-read']);
        return page.evaluate('navigator.clipboard.readText()');
    },
    storage: () => page.evaluate(() => JSON.stringify({ ...localStorage })),
};

for await (const line of createInterface({ input: process.stdin })) {
    const { command, ...given } = JSON.parse(line);
    let answer;
    try {
        answer = { ok: (await commands[command](given)) ?? null };
    } catch (error) {
        answer = { error: error.message };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
