/** The one-file page: the viewer with a model embedded in the page. Nothing is fetched. */

import * as React from 'react';
import { createRoot } from 'react-dom/client';
import { FLOWS } from '../core/types';
import { bytesOfBase64 } from '../providers/base64';
import {
  BundleProvider,
  embeddedComparison,
  readBundle
} from '../providers/bundleProvider';
import { problemOf } from '../providers/provider';
import {
  SideBySide,
  decodeViewFragment,
  type IModelViewProps,
  type IViewerHandle
} from '../viewer';
import { embeddedLayoutEngine } from '../embed/embeddedLayoutEngine';
import { printReports } from './printing';

/** The model, and possibly another one for comparison. */
const MODELS = '#autodoc-model, #autodoc-other';
/** Their alignment. */
const COMPARISON = '#autodoc-comparison';

function providersIn(page: Document): Promise<BundleProvider[]> {
  const packed = Array.from(page.querySelectorAll(MODELS));
  return Promise.all(
    packed.map(async ({ textContent }) => {
      const bytes = bytesOfBase64(textContent ?? '');
      return new BundleProvider(await readBundle(bytes));
    })
  );
}

function viewLink(view: string): string {
  const address = new URL(window.location.href);
  address.hash = view;
  return address.href;
}

async function start(host: HTMLElement): Promise<void> {
  const providers = await providersIn(document);
  const compared = document.querySelector(COMPARISON)?.textContent;
  if (compared && providers.length > 1) {
    providers[0].compare = embeddedComparison(
      () => providers[1],
      () => bytesOfBase64(compared)
    );
  }
  for (const provider of providers) {
    provider.print = () => window.print();
  }
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const root = createRoot(host);
  const state = await decodeViewFragment(window.location.hash);
  let handle: IViewerHandle | null = null;
  let printing: Promise<void> | null = null;
  const { direction, numbers } = host.dataset;
  const first: IModelViewProps = {
    provider: providers[0],
    onReady: next => {
      // The page contains only the viewer, so its keys work from the start.
      if (!handle && document.activeElement === document.body) {
        host.querySelector<HTMLElement>('.oad-Viewer')?.focus();
      }
      handle = next;
      if (numbers) {
        const values = JSON.parse(numbers);
        next.setUserValues({ ...values, values: new Map(values.values) });
      }
      printing ??= printReports(
        providers.flatMap(({ document }) => document ?? [])
      );
    }
  };
  const additionalModels = providers.slice(1).map(provider => ({ provider }));
  const models =
    additionalModels.length > 0
      ? [first, ...additionalModels]
      : // A link describes a single view.
        [{ ...first, state, linkTo: viewLink }];
  const settings = { direction: FLOWS.find(flow => flow === direction) };
  const draw = (): void => {
    document.documentElement.setAttribute(
      'data-jp-theme-light',
      String(!dark.matches)
    );
    root.render(
      <SideBySide
        models={models}
        makeLayoutEngine={embeddedLayoutEngine}
        settings={settings}
        theme={dark.matches ? 'dark' : 'light'}
      />
    );
  };
  dark.addEventListener('change', draw);
  // Pasting a link to the same page changes only the fragment.
  window.addEventListener('hashchange', () => {
    if (additionalModels.length > 0) {
      return;
    }
    void decodeViewFragment(window.location.hash).then(
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
