// Makes dist/, which is served beside src/: Tailwind's classes as one style sheet, and Alpine as its package has it.
// `--check` writes nothing and fails where what is committed is not what would be made. UNTERM_NODE_MODULES says where the packages are, if not here.
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const modules = process.env.UNTERM_NODE_MODULES ?? join(here, 'node_modules');
const names = ['alpine.js', 'page.css'];

// Tailwind looks for its own sheet beside ours.
const work = mkdtempSync(join(tmpdir(), 'unterm-page-'));
try {
    cpSync(join(here, 'src'), join(work, 'src'), { recursive: true });
    symlinkSync(modules, join(work, 'node_modules'));
    mkdirSync(join(work, 'dist'));
    copyFileSync(join(modules, '@alpinejs/csp/dist/cdn.min.js'), join(work, 'dist/alpine.js'));
    const tailwind = join(modules, '@tailwindcss/cli/dist/index.mjs');
    execFileSync(process.execPath, [tailwind, '-i', 'src/page.css', '-o', 'dist/page.css', '--minify'], {
        cwd: work,
        stdio: ['ignore', 'ignore', 'pipe'],
    });
    if (process.argv.includes('--check')) {
        const read = (folder, name) => readFileSync(join(folder, 'dist', name), 'utf8');
        const stale = names.filter((name) => read(work, name) !== read(here, name));
        if (stale.length > 0) {
            console.error(`stale in assets/settings/dist: ${stale.join(', ')}; run npm run build there`);
            process.exitCode = 1;
        }
    } else {
        names.forEach((name) => copyFileSync(join(work, 'dist', name), join(here, 'dist', name)));
    }
} finally {
    rmSync(work, { recursive: true });
}
