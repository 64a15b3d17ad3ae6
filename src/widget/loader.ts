/**
 * Loads the viewer in each widget. The code itself is in a single separate widget, which is saved with
 * the notebook; hosts that cannot reach it ask the kernel. No CDN.
 */

import { unpacked } from '../providers/unpack';
import {
  bytesOf,
  messageOf,
  resolveModelRef,
  sendMessage,
  type IWidgetModel
} from './model';

export interface ILoaderContext {
  readonly model: IWidgetModel;
  readonly el: HTMLElement;
}

interface ICode {
  readonly code: string;
  readonly style: string;
  readonly version: string;
}

export interface IViewerModule {
  readonly default: {
    /** Returns a function that removes the viewer. */
    render(
      context: ILoaderContext,
      style: string
    ): (() => void) | Promise<() => void>;
  };
}

interface ILoaded {
  readonly module: Promise<IViewerModule>;
  readonly style: string;
}

/** Milliseconds that a kernel has to answer: it may be busy with the next cell. */
const KERNEL_TIMEOUT_MS = 120_000;
const TYPE = 'autodoc:code';
const CACHE = Symbol.for('onnx-autodoc.widget.code');

/** One copy per version and page, shared by all widgets. */
function loadViewer({ code, style, version }: ICode): ILoaded {
  const page = globalThis as { [CACHE]?: Map<string, ILoaded> };
  const cache = (page[CACHE] ??= new Map());
  let loading = cache.get(version);
  if (!loading) {
    const url = URL.createObjectURL(
      new Blob([code], { type: 'text/javascript' })
    );
    const module = import(/* @vite-ignore */ url) as Promise<IViewerModule>;
    void module.finally(() => URL.revokeObjectURL(url)).catch(() => undefined);
    loading = { module, style };
    cache.set(version, loading);
  }
  return loading;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

async function codeOf(model: IWidgetModel): Promise<ICode> {
  const shared = await resolveModelRef(model, '_code');
  const packed = bytesOf(shared?.get('code'));
  return shared && packed.length > 0
    ? {
        code: await new Response(unpacked(packed)).text(),
        style: text(shared.get('style')),
        version: text(shared.get('version'))
      }
    : requestCode(model);
}

function requestCode(model: IWidgetModel): Promise<ICode> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      model.off('msg:custom', onMessage);
    };
    const fail = (): void => {
      end();
      reject(
        new Error(
          'This notebook has no viewer, and no kernel is responding. Run the cell again.'
        )
      );
    };
    const onMessage = (content: unknown): void => {
      const message = messageOf(content, TYPE);
      if (message) {
        end();
        const code = text(message.code);
        resolve({
          code,
          style: text(message.style),
          version: text(message.version)
        });
      }
    };
    const timer = setTimeout(fail, KERNEL_TIMEOUT_MS);
    model.on('msg:custom', onMessage);
    if (!sendMessage(model, { type: TYPE })) {
      fail();
    }
  });
}

async function render(context: ILoaderContext): Promise<() => void> {
  try {
    const { module, style } = loadViewer(await codeOf(context.model));
    return await (await module).default.render(context, style);
  } catch (error) {
    const alert = document.createElement('p');
    alert.setAttribute('role', 'alert');
    alert.textContent = error instanceof Error ? error.message : String(error);
    context.el.append(alert);
    return () => alert.remove();
  }
}

export default { render };
