// A frame as VS Code's notebook webview: its own widget manager over a kernel connection whose socket is
// messages to the page. `window.parent` and storage are out of reach for what runs here.

import type { Kernel } from '@jupyterlab/services';
import { KernelConnection } from '@jupyterlab/services/lib/kernel/default';
import { ServerConnection } from '@jupyterlab/services/lib/serverconnection';
import { Modules } from './amd';
import { hear, createOutput, tellHeight, toPage } from './wire';

/** VS Code's widget manager as far as it is used here. */
interface IManager {
  restoreWidgets(
    notebook: { getMetadata(key: string): unknown },
    from: { loadKernel: boolean; loadNotebook: boolean }
  ): Promise<void>;
  has_model(id: string): boolean;
  get_model(id: string): Promise<unknown>;
  create_view(model: unknown, options: object): Promise<unknown>;
  display_view(message: unknown, view: unknown, options: object): unknown;
}

interface IScripts {
  readonly widgetsRegisteredInRequireJs: Set<string>;
  loadWidgetScript(name: string, version: string): Promise<void>;
  errorHandler(...details: unknown[]): void;
  successHandler(...details: unknown[]): void;
}

interface IWindow {
  define: Modules['define'];
  requirejs(
    names: string[],
    resolve: (...modules: unknown[]) => void,
    failed: (reason: unknown) => void
  ): void;
  vscIPyWidgets8: { load(): void };
  vscIPyWidgets: {
    WidgetManager: new (
      kernel: Kernel.IKernelConnection,
      element: HTMLElement,
      scripts: IScripts,
      log: (text: string) => void
    ) => IManager;
  };
}

/** What the kernel connection takes for a WebSocket. */
class Socket {
  static latest: Socket | null = null;
  onopen: ((event: unknown) => void) | null = null;
  onmessage: ((event: unknown) => void) | null = null;
  onclose: ((event: unknown) => void) | null = null;
  onerror: ((event: unknown) => void) | null = null;
  binaryType = 'arraybuffer';
  protocol = '';
  readyState = 0;

  constructor(_url: string, protocols: string[] = []) {
    Socket.latest = this;
    toPage({ kind: 'connect', protocols });
  }

  open(protocol: string): void {
    this.protocol = protocol;
    this.readyState = 1;
    this.onopen?.({ target: this });
  }

  send(data: string | ArrayBuffer): void {
    toPage({ kind: 'send', data });
  }

  close(): void {
    this.readyState = 3;
  }
}

const modules = new Modules();
const page = window as unknown as IWindow;
page.define = modules.define;
page.requirejs = (names, resolve, failed) =>
  void Promise.all(names.map(name => modules.require(name))).then(
    modules => resolve(...modules),
    failed
  );

/** The script of a widget library in the kernel's folder of notebook extensions. */
function script(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const element = document.createElement('script');
    element.src = `nbextensions/${name}/index.js`;
    element.onload = () => resolve();
    element.onerror = () => reject(new Error(`No script of ${name}`));
    document.head.append(element);
  });
}

function scripts(): IScripts {
  const registered = new Set<string>();
  const loading = new Map<string, Promise<void>>();
  return {
    widgetsRegisteredInRequireJs: registered,
    loadWidgetScript: async name => {
      const loaded =
        loading.get(name) ?? modules.load(name, () => script(name));
      loading.set(name, loaded);
      await loaded;
      registered.add(name);
    },
    errorHandler: (...details) => console.error('No widget class', ...details),
    successHandler: () => undefined
  };
}

async function start(): Promise<IManager> {
  const url = new URL('ipywidgets.js', document.baseURI).href;
  const bundle = (await import(url)) as { activate(): void };
  bundle.activate();
  page.vscIPyWidgets8.load();
  const serverSettings = ServerConnection.makeSettings({
    baseUrl: 'http://kernel.invalid/',
    wsUrl: 'ws://kernel.invalid/',
    WebSocket: Socket as unknown as typeof WebSocket
  });
  const kernel = new KernelConnection({
    model: { id: 'kernel', name: 'python3' },
    serverSettings,
    handleComms: true
  });
  const element = document.getElementById('outputs')!;
  const manager = new page.vscIPyWidgets.WidgetManager(
    kernel,
    element,
    scripts(),
    () => undefined
  );
  await kernel.info;
  toPage({ kind: 'connected' });
  return manager;
}

/** The kernel's message about the model may come after the output that shows it. */
async function modelOf(manager: IManager, id: string): Promise<unknown> {
  while (!manager.has_model(id)) {
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  return manager.get_model(id);
}

async function show(manager: IManager, id: string): Promise<void> {
  const node = createOutput();
  const model = await modelOf(manager, id);
  const view = await manager.create_view(model, { el: node });
  await manager.display_view(null, view, { node });
}

function themed(theme: 'light' | 'dark'): void {
  document.body.classList.remove('vscode-light', 'vscode-dark');
  document.body.classList.add(`vscode-${theme}`);
  document.body.dataset.vscodeThemeKind = `vscode-${theme}`;
}

const manager = start();
hear(message => {
  if (message.kind === 'open') {
    Socket.latest?.open(message.protocol);
  } else if (message.kind === 'receive') {
    Socket.latest?.onmessage?.({ data: message.data, target: Socket.latest });
  } else if (message.kind === 'theme') {
    themed(message.theme);
  } else if (message.kind === 'show') {
    void manager.then(manager => show(manager, message.model));
  } else if (message.kind === 'restore') {
    const notebook = { getMetadata: () => message.metadata };
    void manager.then(async manager => {
      await manager.restoreWidgets(notebook, {
        loadKernel: false,
        loadNotebook: true
      });
      await show(manager, message.model);
    });
  }
});
themed('light');
tellHeight();
toPage({ kind: 'ready' });
