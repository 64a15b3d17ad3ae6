/** A viewer in a page that may hold many: made when it is first looked at, let go of when it is far away. */

import { Shelf, type IRestable } from './shelf';

/** Viewers of one page that are alive at a time. */
const MOST_ALIVE = 4;
/** How near to what is looked at it is made, in pixels. */
const NEAR = '200px';
const shelf = new Shelf(MOST_ALIVE);

/** What comes and goes in its place. */
export interface ITenant {
  /** It is looked at; it may be there already. */
  wake(): void;
  /** Others need the room: it remembers where it stands and goes. */
  rest(): void;
}

/** Watches one place of the page. */
export class Resident implements IRestable {
  private _visible = false;
  private readonly _seen: IntersectionObserver;

  constructor(
    private readonly _host: HTMLElement,
    private readonly _tenant: ITenant
  ) {
    _host.classList.add('oad-Resident');
    // Keys belong to the viewer while it has the focus, not to the notebook's command mode.
    _host.setAttribute('data-lm-suppress-shortcuts', 'true');
    _host.addEventListener('wheel', this._pass, { capture: true });
    this._seen = new IntersectionObserver(
      entries => this._see(entries.some(entry => entry.isIntersecting)),
      { rootMargin: NEAR }
    );
    this._seen.observe(_host);
  }

  get mayRest(): boolean {
    return !this._visible && !this._inUse();
  }

  rest(): void {
    this._tenant.rest();
  }

  dispose(): void {
    this._seen.disconnect();
    this._host.removeEventListener('wheel', this._pass, { capture: true });
    shelf.drop(this);
  }

  private _see(visible: boolean): void {
    this._visible = visible;
    if (visible) {
      shelf.use(this);
      this._tenant.wake();
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
