// Hosts for the widget that are not JupyterLab, built like VS Code's notebook webview and Colab's outputs.
// Their page lies at the server's address; the frames at addresses of their own that only this file answers.

import { expect, type FrameLocator, type Page } from '@playwright/test';
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { IHostPage, IRan } from './page';
import type { Host } from './wire';

/**
 * The rules of VS Code's notebooks with `notebook.experimental.enableCsp`, without which they have none; `blob:`
 * is added, without which no anywidget runs, and `data:` for the icons of its own widget manager. Workers fall
 * under `child-src`: none may start.
 */
const RULES = [
  "default-src 'none'",
  "script-src https://vscode.test 'unsafe-inline' 'unsafe-eval' blob:",
  "style-src https://vscode.test 'unsafe-inline'",
  'img-src https://vscode.test https: http: data:',
  'font-src https://vscode.test https: data:',
  'connect-src https:',
  'child-src https: data:'
].join('; ');

/** What VS Code's own style sheets do to outputs, and the colours of its two themes. */
const VSCODE_STYLE = `
body { margin: 0; padding: 0 20px; overflow: hidden; font: 13px sans-serif;
  color: var(--vscode-editor-foreground); }
body.vscode-light { --vscode-editor-foreground: #3b3b3b; --vscode-input-background: #ffffff;
  --vscode-panel-border: #e5e5e5; --vscode-focusBorder: #005fb8; }
body.vscode-dark { --vscode-editor-foreground: #cccccc; --vscode-input-background: #313131;
  --vscode-panel-border: #2b2b2b; --vscode-focusBorder: #0078d4; }
table, thead, tr, th, td, tbody { border: none !important; border-color: transparent; border-collapse: collapse; }
th, td { padding: 4px 8px; }
tr:nth-child(even) { background-color: rgba(130, 130, 130, 0.08); }
a { color: #3794ff; }
img { max-width: 100%; max-height: 100%; }
code { font-family: monospace; }
a:focus, input:focus, select:focus, textarea:focus { outline: 1px solid -webkit-focus-ring-color; outline-offset: -1px; }
.cell-output-ipywidget-background { color: var(--vscode-editor-foreground); }
.cell-output-ipywidget-background :is(button, a, input, [role='button'], [tabindex='0']):focus {
  outline: 2px solid var(--vscode-focusBorder) !important; outline-offset: 2px !important; }
.cell-output-ipywidget-background {
  ${[0, 1, 2, 3].map(n => `--jp-ui-font-color${n}: var(--vscode-editor-foreground); --jp-layout-color${n}: var(--vscode-input-background);`).join(' ')}
  --jp-border-color1: var(--vscode-panel-border); --jp-border-color2: var(--vscode-panel-border);
  --jp-brand-color1: var(--vscode-focusBorder); --jp-brand-color2: var(--vscode-focusBorder); }
`;
const COLAB_STYLE = `
body { margin: 8px; overflow: hidden; font: 14px Roboto, sans-serif; color: #212121; }
html[theme='dark'] body { background: #383838; color: #d5d5d5; }
`;

const directory = __dirname;
const resolved = (name: string): string => require.resolve(name);
const styles = join(
  dirname(resolved('@jupyter-widgets/controls/package.json')),
  'css'
);

/** anywidget's front end in the kernel's environment. */
function anywidget(): string {
  const data = execFileSync(
    'python',
    ['-c', 'import sysconfig; print(sysconfig.get_path("data"))'],
    { encoding: 'utf8' }
  ).trim();
  const folder = join(data, 'share/jupyter/nbextensions/anywidget');
  return readFileSync(join(folder, 'index.js'), 'utf8');
}

const bundles = new Map<string, Promise<string>>();

function bundle(name: string): Promise<string> {
  let building = bundles.get(name);
  if (!building) {
    building = build({
      entryPoints: [join(directory, `${name}.ts`)],
      bundle: true,
      write: false,
      minify: true,
      format: name === 'page' ? 'iife' : 'esm',
      target: 'es2022',
      define: { global: 'globalThis', 'process.env.NODE_ENV': '"production"' },
      loader: { '.svg': 'text' },
      logLevel: 'error'
    }).then(result => result.outputFiles[0].text);
    bundles.set(name, building);
  }
  return building;
}

function document(style: string, sheets: readonly string[], script: string) {
  const links = sheets.map(name => `<link rel="stylesheet" href="${name}">`);
  return `<!doctype html><html><head><meta charset="utf-8"><base href="./">
<style>${style}</style>${links.join('')}</head><body><div id="outputs"></div>
<script type="module" src="${script}"></script></body></html>`;
}

type File = [type: string, text: () => string | Promise<string>];

const FILES: Record<Host, Record<string, File>> = {
  vscode: {
    'frame.html': [
      'text/html',
      () => document(VSCODE_STYLE, ['labvariables.css'], 'frame.js')
    ],
    'frame.js': ['text/javascript', () => bundle('vscode')],
    'ipywidgets.js': [
      'text/javascript',
      () =>
        // Another bundler would follow it.
        readFileSync(resolved('@vscode/jupyter-ipywidgets8'), 'utf8').replace(
          /\n\/\/# sourceMappingURL.*$/,
          ''
        )
    ],
    'nbextensions/anywidget/index.js': ['text/javascript', anywidget]
  },
  colab: {
    'frame.html': [
      'text/html',
      () =>
        document(COLAB_STYLE, ['labvariables.css', 'widgets.css'], 'frame.js')
    ],
    'frame.js': ['text/javascript', () => bundle('colab')],
    'cdn/anywidget.js': ['text/javascript', anywidget]
  }
};

export interface IHostLog {
  /** Requests that nobody here answers. */
  foreign: string[];
  errors: string[];
}

/** What VS Code's bundle itself writes as errors while it loads. */
const NOISE = /ipywidgets8/;

async function route(page: Page, log: IHostLog): Promise<void> {
  await page.route('**/*', async route => {
    const url = new URL(route.request().url());
    if (url.hostname === 'localhost') {
      await route.continue();
      return;
    }
    const name = url.pathname.slice(1);
    const [, kind] = /^(vscode|colab)\.test$/.exec(url.hostname) ?? [];
    const sheet = kind && /^[a-z-]+\.css$/.test(name);
    const file: File | undefined = sheet
      ? ['text/css', () => readFileSync(join(styles, name), 'utf8')]
      : FILES[kind as Host]?.[name];
    if (!file) {
      log.foreign.push(url.href);
      await route.abort();
      return;
    }
    await route.fulfill({
      contentType: `${file[0]}; charset=utf-8`,
      headers: {
        'access-control-allow-origin': '*',
        ...(kind === 'vscode' ? { 'content-security-policy': RULES } : {})
      },
      body: await file[1]()
    });
  });
}

function listen(page: Page, log: IHostLog): void {
  page.on('console', message => {
    if (message.type() === 'error' && !NOISE.test(message.text())) {
      log.errors.push(message.text());
    }
  });
  page.on('pageerror', error => log.errors.push(error.message));
}

/** One page of a host with its kernel. */
export class Opened {
  readonly log: IHostLog = { foreign: [], errors: [] };

  private constructor(readonly page: Page) {}

  /** `flags` are those of the frames' sandbox: without `allow-same-origin` they have no origin and no storage. */
  static async open(
    page: Page,
    host: Host,
    flags = 'allow-scripts'
  ): Promise<Opened> {
    const opened = new Opened(page);
    listen(page, opened.log);
    await route(page, opened.log);
    // Something of the server's own: what a test answers itself may not reach kernels on this machine.
    await page.goto('/static/style/index.css');
    await page.setContent('<body style="margin: 0"></body>');
    await page.addScriptTag({ content: await bundle('page') });
    await page.evaluate(
      ([host, flags]) =>
        (window as unknown as { host: IHostPage }).host.start(host, flags),
      [host, flags] as const
    );
    return opened;
  }

  /** Runs a cell without saying anything of how it ended. */
  run(code: string): Promise<IRan> {
    return this.page.evaluate(
      code => (window as unknown as { host: IHostPage }).host.run(code),
      code
    );
  }

  /** Runs a cell that must not fail; what it printed or is. */
  async cell(...lines: string[]): Promise<string> {
    const { text, error } = await this.run(lines.join('\n'));
    expect(error).toBe('');
    return text.trim();
  }

  /** Shows a model of what a notebook saved of its widgets; the kernel knows nothing of it. */
  restore(metadata: unknown, model: string): Promise<void> {
    return this.page.evaluate(
      ([metadata, model]) =>
        (window as unknown as { host: IHostPage }).host.restore(
          metadata,
          model
        ),
      [metadata, model] as const
    );
  }

  theme(theme: 'light' | 'dark'): Promise<void> {
    return this.page.evaluate(
      theme => (window as unknown as { host: IHostPage }).host.theme(theme),
      theme
    );
  }

  /** The frame of an output; VS Code has one for all. */
  frame(index = 0): FrameLocator {
    return this.page.frameLocator('iframe').nth(index);
  }
}
