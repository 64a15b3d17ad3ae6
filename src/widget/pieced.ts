/**
 * The viewer's code of a notebook: one text of several modules, which stays text until it is needed. The
 * first picture runs what it needs, a panel its own when it is opened first. No server has to be there.
 */

import { entry, pieces, version } from 'widget-pieces';
import type { IViewerModule } from './loader';

const KEY = `onnx-autodoc.pieces.${version}`;

/** What is fetched later names itself while the code runs: names of modules may be a circle there. */
const LATER = /\bimport\("\.\/([\w.-]+)"\)/g;
const FIRST = /(\bfrom|\bimport)"\.\/([\w.-]+)"/g;

const urls = new Map<string, string>();

/** Where the page finds a piece; kept, because others name it later. */
function urlOf(name: string): string {
  let url = urls.get(name);
  if (url === undefined) {
    const text = (pieces[name] ?? '')
      .replace(
        LATER,
        (_, other: string) =>
          `import(globalThis[Symbol.for(${JSON.stringify(KEY)})](${JSON.stringify(other)}))`
      )
      .replace(
        FIRST,
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
