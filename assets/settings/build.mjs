// Builds the dist/ folders of the settings page and of the dashboard, which are served beside their src/: Tailwind's classes as one
// style sheet, and files of packages as they are. `--check` writes nothing and fails if a committed file is stale.
// UNTERM_NODE_MODULES names the folder of the packages; the default is node_modules beside this file.
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const assets = dirname(here);
const modules = process.env.UNTERM_NODE_MODULES ?? join(here, 'node_modules');

const alpine = { 'alpine.js': '@alpinejs/csp/dist/cdn.min.js' };
// The module form of xterm.js is a third smaller than its script form.
const xterm = { 'xterm.js': '@xterm/xterm/lib/xterm.mjs', 'xterm.css': '@xterm/xterm/css/xterm.css' };
// The files that each page takes from packages. The hub serves the settings page's Alpine with its own page.
const pages = { settings: alpine, dashboard: xterm };

/** Builds a page in an empty folder, and returns the names of the files in its dist/. */
function build(page, packaged, work) {
    cpSync(join(assets, page, 'src'), join(work, 'src'), { recursive: true });
    copyFileSync(join(here, 'src/theme.css'), join(work, 'src/theme.css'));
    // Tailwind looks for its own sheet beside ours.
    symlinkSync(modules, join(work, 'node_modules'));
    mkdirSync(join(work, 'dist'));
    Object.entries(packaged).forEach(([name, path]) => copyFileSync(join(modules, path), join(work, 'dist', name)));
    const tailwind = join(modules, '@tailwindcss/cli/dist/index.mjs');
    execFileSync(process.execPath, [tailwind, '-i', 'src/page.css', '-o', 'dist/page.css', '--minify'], {
        cwd: work,
        stdio: ['ignore', 'ignore', 'pipe'],
    });
    return [...Object.keys(packaged), 'page.css'];
}

for (const [page, packaged] of Object.entries(pages)) {
    const dist = join(assets, page, 'dist');
    const work = mkdtempSync(join(tmpdir(), 'unterm-page-'));
    try {
        const names = build(page, packaged, work);
        const made = (name) => join(work, 'dist', name);
        if (process.argv.includes('--check')) {
            const isStale = (name) => !existsSync(join(dist, name)) || !readFileSync(made(name)).equals(readFileSync(join(dist, name)));
            const stale = names.filter(isStale);
            if (stale.length > 0) {
                console.error(`stale in assets/${page}/dist: ${stale.join(', ')}; run npm run build in assets/settings`);
                process.exitCode = 1;
            }
        } else {
            mkdirSync(dist, { recursive: true });
            names.forEach((name) => copyFileSync(made(name), join(dist, name)));
        }
    } finally {
        rmSync(work, { recursive: true });
    }
}
