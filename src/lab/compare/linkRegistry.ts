import { Signal } from '@lumino/signaling';
import type { ILinkOptions, IViewerHandle, IViewerLink } from '../../viewer';
// Not imported from the index: the viewer itself is loaded lazily.
import { readLinkOptions } from '../../viewer/compare/linkOptions';
import type { IOnnxTracker } from '../tokens';
import type { OnnxDocument } from '../documentWidget';

/** A stored link. */
interface IRecord {
  /** Keys of the two views. */
  readonly views: readonly [string, string];
  readonly options: ILinkOptions;
}

interface IRestoredLink {
  readonly documents: readonly [OnnxDocument, OnnxDocument];
  options: ILinkOptions;
  /** Null until both viewers are mounted. */
  link: IViewerLink | null;
  /** The viewers that `live` connects. */
  viewers: readonly [IViewerHandle, IViewerHandle] | null;
}

/** Storage for links. */
export interface ILinkStore {
  load(): Promise<unknown>;
  save(records: object): void;
}

/** Maximum number of stored pairs. */
const MAX_RECORDS = 100;

function readRecords(value: unknown): IRecord[] {
  const list = (value as { links?: unknown } | null)?.links;
  return !Array.isArray(list)
    ? []
    : list.slice(0, MAX_RECORDS).flatMap((entry: unknown) => {
        const { views, options } = (entry ?? {}) as {
          views?: unknown;
          options?: unknown;
        };
        const sound =
          Array.isArray(views) &&
          views.length === 2 &&
          views.every(key => typeof key === 'string');
        return sound
          ? [
              {
                views: [String(views[0]), String(views[1])] as const,
                options: readLinkOptions(options)
              }
            ]
          : [];
      });
}

/** The links between open views; a view has one partner. Links survive a page reload. */
export class LinkRegistry {
  /** Emitted when a link was added or ended. */
  readonly changed = new Signal<this, void>(this);
  private _links: IRestoredLink[] = [];
  /** Stored links whose views have not both been restored yet. */
  private _pending: IRecord[] = [];

  constructor(
    private readonly _tracker: IOnnxTracker,
    private readonly _store: ILinkStore
  ) {
    _tracker.widgetAdded.connect((_, document) => this._add(document));
  }

  /** Restores links; `restored` resolves when no more views will be restored. */
  async restore(restored: Promise<unknown>): Promise<void> {
    this._pending = readRecords(await this._store.load());
    this._linkPending();
    await restored;
    this._pending = [];
    this._save();
  }

  partner(document: OnnxDocument): OnnxDocument | null {
    const link = this._linkOf(document);
    return link ? link.documents[link.documents[0] === document ? 1 : 0] : null;
  }

  /** Links two views and ends their previous links. */
  link(left: OnnxDocument, right: OnnxDocument, options?: ILinkOptions): void {
    if (left === right || this.partner(left) === right) {
      return;
    }
    this.unlink(left);
    this.unlink(right);
    const link: IRestoredLink = {
      documents: [left, right],
      options: options ?? readLinkOptions(null),
      link: null,
      viewers: null
    };
    this._links.push(link);
    this._connect(link);
    this._save();
  }

  unlink(document: OnnxDocument): void {
    const link = this._linkOf(document);
    if (link) {
      this._links = this._links.filter(other => other !== link);
      link.link?.end();
      this._save();
    }
  }

  private _add(document: OnnxDocument): void {
    document.disposed.connect(() => this.unlink(document));
    document.context.pathChanged.connect(() => this._save());
    document.content.handleChanged.connect(() => {
      const link = this._linkOf(document);
      if (link) {
        this._connect(link);
      }
    });
    this._linkPending();
  }

  /** Restores the stored links whose views are both open. */
  private _linkPending(): void {
    const open = new Map<string, OnnxDocument>();
    this._tracker.forEach(document => open.set(document.content.key, document));
    this._pending = this._pending.filter(({ views, options }) => {
      const [left, right] = views.map(key => open.get(key));
      if (!left || !right) {
        return true;
      }
      this.link(left, right, options);
      return false;
    });
  }

  /** Connects the viewers once both are mounted, and again if one was replaced. */
  private _connect(link: IRestoredLink): void {
    const [left, right] = link.documents.map(({ content }) => content.handle);
    if (
      !left ||
      !right ||
      (link.viewers?.[0] === left && link.viewers[1] === right)
    ) {
      return;
    }
    const before = link.link;
    link.link = null;
    before?.end();
    link.viewers = [left, right];
    const live = left.link(right, link.options, {
      onEnd: () => {
        // Ended in the viewer; if it was ended from here, it is no longer the current one.
        if (link.link === live) {
          this.unlink(link.documents[0]);
        }
      },
      onOptions: options => {
        link.options = options;
        this._save();
      }
    });
    link.link = live;
  }

  private _linkOf(document: OnnxDocument): IRestoredLink | null {
    return (
      this._links.find(({ documents }) => documents.includes(document)) ?? null
    );
  }

  private _save(): void {
    const links: IRecord[] = this._links.map(({ documents, options }) => ({
      views: [documents[0].content.key, documents[1].content.key],
      options
    }));
    this._store.save({ links: [...links, ...this._pending] });
    this.changed.emit();
  }
}
