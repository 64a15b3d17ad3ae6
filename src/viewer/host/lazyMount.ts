/** A viewer in a page that may hold many: made when it is first looked at, let go of when it is far away. */

import { MountPool, type ISuspendable } from './mountPool';

/** Viewers of one page that are alive at a time. */
const MAX_LIVE_VIEWERS = 4;
/** How near to what is looked at it is made, in pixels. */
const MOUNT_MARGIN = '200px';
const pool = new MountPool(MAX_LIVE_VIEWERS);

/** What comes and goes in its place. */
export interface IMountContent {
  /** It is looked at; it may be there already. */
  resume(): void;
  /** Others need the room: it remembers where it stands and goes. */
  suspend(): void;
}

/** Watches one place of the page. */
export class LazyMount implements ISuspendable {
  private _visible = false;
  private readonly _seen: IntersectionObserver;

  constructor(
    private readonly _host: HTMLElement,
    private readonly _content: IMountContent
  ) {
    _host.classList.add('oad-LazyMount');
    // Keys belong to the viewer while it has the focus, not to the notebook's command mode.
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

  /** The page scrolls past a viewer that nobody is using. */
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
