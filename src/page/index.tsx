/** The one-file page: the viewer over a model that lies in the page itself. Nothing is fetched. */

import * as React from 'react';
import { createRoot } from 'react-dom/client';
import { BundleProvider, readBundle } from '../providers/bundle';
import { problemOf } from '../providers/provider';
import { readView, Viewer, type IViewerHandle } from '../viewer';
import { embeddedLayoutEngine } from '../embed/engine';

/** Bytes of base64 text. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const raw = atob(text.trim());
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) {
    bytes[i] = raw.charCodeAt(i);
  }
  return bytes;
}

function pageLink(view: string): string {
  const address = new URL(window.location.href);
  address.hash = view;
  return address.href;
}

async function start(host: HTMLElement): Promise<void> {
  const data = document.getElementById('autodoc-model')?.textContent ?? '';
  const bundle = await readBundle(bytesOf(data));
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const root = createRoot(host);
  const state = await readView(window.location.hash);
  let handle: IViewerHandle | null = null;
  const draw = (): void => {
    document.documentElement.setAttribute(
      'data-jp-theme-light',
      String(!dark.matches)
    );
    root.render(
      <Viewer
        provider={provider}
        makeLayoutEngine={embeddedLayoutEngine}
        theme={dark.matches ? 'dark' : 'light'}
        state={state}
        linkTo={pageLink}
        onReady={next => {
          // The page is nothing but the viewer: its keys work from the start.
          if (!handle && document.activeElement === document.body) {
            host.querySelector<HTMLElement>('.oad-Viewer')?.focus();
          }
          handle = next;
        }}
      />
    );
  };
  const provider = new BundleProvider(bundle);
  dark.addEventListener('change', draw);
  // A link pasted over the page's own address changes nothing but the fragment.
  window.addEventListener('hashchange', () => {
    void readView(window.location.hash).then(
      view => view && handle?.setState(view)
    );
  });
  draw();
}

const host = document.getElementById('autodoc')!;
start(host).catch((error: unknown) => {
  const { title, detail, hint } = problemOf(error);
  host.setAttribute('role', 'alert');
  host.textContent = [title, detail, hint].filter(Boolean).join(' ');
});
