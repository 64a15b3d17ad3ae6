/** Prints the page's reports instead of the viewer, which is not suited to paper. */

import * as React from 'react';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import type { ReportDocument } from '../schema';
import { reportText } from '../viewer';

/**
 * Inserts the reports into the page while it is printed. Call it once, after the initial view is drawn.
 */
export async function printReports(
  documents: readonly ReportDocument[]
): Promise<void> {
  if (documents.length === 0) {
    return;
  }
  // A page about to be printed does not wait for code to load.
  const Text = await reportText.get();
  const host = document.createElement('div');
  host.id = 'autodoc-print';
  document.body.append(host);
  const root = createRoot(host);
  const show = (models: readonly ReportDocument[]): void =>
    flushSync(() =>
      root.render(
        models.map((model, index) =>
          React.createElement(Text, {
            key: index,
            document: model,
            id: `autodoc-print-${index}`
          })
        )
      )
    );
  window.addEventListener('beforeprint', () => show(documents));
  window.addEventListener('afterprint', () => show([]));
  document.documentElement.toggleAttribute('data-oad-prints', true);
}
