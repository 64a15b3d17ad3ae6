/** Mounts a viewer in a page that may have many: created when first visible, suspended when far away. */

import { MountPool, type ISuspendable } from './mountPool';

/** Maximum number of live viewers per page. */
const MAX_LIVE_VIEWERS = 4;
/** Distance in pixels from the visible part at which a viewer is mounted. */
const MOUNT_MARGIN = '200px';
const pool = new MountPool(MAX_LIVE_VIEWERS);

/** The content to mount. */
export interface IMountContent {
  /** Called when it is visible; may already be mounted. */
  resume(): void;
  /** Called to free resources: saves its state and unmounts. */
  suspend(): void;
}

/** Watches one position in the page. */
export class LazyMount implements ISuspendable {
  private _visible = false;
  private readonly _seen: IntersectionObserver;

  constructor(
    private readonly _host: HTMLElement,
    private readonly _content: IMountContent
  ) {
    _host.classList.add('oad-LazyMount');
    // Keys belong to the focused viewer, not to the notebook's command mode.
    _host.setAttribute('data-lm-suppress-shortcuts', 'true');
    _host.addEventListener('wheel', this._pass, { capture: true });
    this._seen = new IntersectionObserver(
      entries => this._see(entries.some(entry => entry.isIntersecting)),
      { rootMargin: MOUNT_MARGIN }
    );
    this._seen.observe(_host);
  }

  get canSuspend(): boolean {
    return !this._visible && !this._inUse();
  }

  suspend(): void {
    this._content.suspend();
  }

  dispose(): void {
    this._seen.disconnect();
    this._host.removeEventListener('wheel', this._pass, { capture: true });
    pool.release(this);
  }

  private _see(visible: boolean): void {
    this._visible = visible;
    if (visible) {
      pool.activate(this);
      this._content.resume();
    }
  }

  /** The page scrolls past a viewer that is not in use. */
  private readonly _pass = (event: WheelEvent): void => {
    if (!event.ctrlKey && !this._inUse()) {
      event.stopPropagation();
    }
  };

  private _inUse(): boolean {
    const root = this._host.getRootNode() as Document | ShadowRoot;
    const focused = root.activeElement ?? null;
    return focused !== null && this._host.contains(focused);
  }
}
