import { PageConfig } from '@jupyterlab/coreutils';

/** The address that opens the model at a contents path with a view. */
export function viewAddress(path: string, view: string): string {
  // Notebook 7 has a page per document; Lab's pages have the document in their path.
  const page = PageConfig.getOption('notebookPage')
    ? window.location.href
    : PageConfig.getUrl({ treePath: path });
  const address = new URL(page, window.location.href);
  address.hash = view;
  return address.href;
}

/**
 * The fragment of the address with which the page was opened, for the document in that address. Returned
 * only once: a view that is closed and opened again uses its stored state.
 */
export class InitialViewLink {
  private _fragment: string;
  private readonly _path: string;

  constructor() {
    this._fragment = window.location.hash;
    this._path = PageConfig.getOption('treePath');
  }

  /** Empty if the address belongs to another document. */
  consume(path: string): string {
    const sameFile =
      this._path === '' || withoutSlashes(this._path) === withoutSlashes(path);
    const fragment = sameFile ? this._fragment : '';
    if (sameFile) {
      this._fragment = '';
    }
    return fragment;
  }
}

function withoutSlashes(path: string): string {
  return path.replace(/^\/+|\/+$/g, '');
}
