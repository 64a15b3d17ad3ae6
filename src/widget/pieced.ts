/**
 * The viewer's code in a notebook: one text with several modules, which stay text until needed. The
 * initial view runs the modules it needs, a panel its own when first opened. No server is needed.
 */

import { entry, pieces, version } from 'widget-pieces';
import type { IViewerModule } from './loader';
import { ownValue } from '../core/base/ownValue';

const KEY = `onnx-autodoc.pieces.${version}`;

/** Lazy imports are resolved by name at run time, since modules may form cycles. */
const LAZY_IMPORT = /\bimport\("\.\/([\w.-]+)"\)/g;
const STATIC_IMPORT = /(\bfrom|\bimport)"\.\/([\w.-]+)"/g;

const urls = new Map<string, string>();

/** URL of a piece; cached, because other pieces refer to it. */
function urlOf(name: string): string {
  let url = urls.get(name);
  if (url === undefined) {
    const text = (ownValue(pieces, name) ?? '')
      .replace(
        LAZY_IMPORT,
        (_, other: string) =>
          `import(globalThis[Symbol.for(${JSON.stringify(KEY)})](${JSON.stringify(other)}))`
      )
      .replace(
        STATIC_IMPORT,
        (_, word: string, other: string) =>
          `${word}${JSON.stringify(urlOf(other))}`
      );
    url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
    urls.set(name, url);
  }
  return url;
}

Object.assign(globalThis, { [Symbol.for(KEY)]: urlOf });

const render: IViewerModule['default']['render'] = async (context, style) => {
  const url = urlOf(entry);
  const viewer = (await import(/* @vite-ignore */ url)) as IViewerModule;
  return viewer.default.render(context, style);
};

export default { render };
