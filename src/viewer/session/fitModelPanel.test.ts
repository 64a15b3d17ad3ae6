import { describe, expect, it } from 'vitest';
import type { IGraphView, IPane, IScene } from '../../core/types';
import { DEFAULT_SETTINGS } from '../state/api';
import { initialState } from '../state/initialState';
import { createStore } from '../state/store';
import { fitModelPanel } from './fitModelPanel';

const HEIGHT = 600;

/** A picture of `groups` open groups that is `long` in one row and wraps in a smaller pane. */
class FakeView {
  groups: readonly number[] = [1, 2];
  readonly done: string[] = [];
  boxCount = 30;
  scene: IScene;

  constructor(
    private readonly _long: number,
    private readonly _wrapped: { groups: readonly number[]; width: number }
  ) {
    this.scene = this.sized(_long);
  }

  sized(width: number): IScene {
    return { width, height: 400, boxCount: this.boxCount } as IScene;
  }

  openGroups(): readonly number[] {
    return this.groups;
  }

  hidden(): readonly number[] {
    return [];
  }

  open(pane: IPane): Promise<IScene> {
    this.done.push(`opened in ${pane.w}`);
    const isWhole = pane.w > this._long;
    this.groups = isWhole ? [1, 2] : this._wrapped.groups;
    this.scene = this.sized(isWhole ? this._long : this._wrapped.width);
    return Promise.resolve(this.scene);
  }
}

async function fitIn(
  view: FakeView,
  width: number,
  pane: number,
  first = true
): Promise<boolean | null> {
  const store = createStore(initialState(DEFAULT_SETTINGS));
  await fitModelPanel({
    view: view as unknown as IGraphView,
    store,
    host: {
      pane: () => ({ w: pane, h: HEIGHT }),
      viewerWidth: () => width,
      whenResized: () => {
        view.done.push('resized');
        return Promise.resolve();
      }
    },
    open: size => view.open(size),
    openInitial: first
      ? () => {
          view.done.push('home');
          return Promise.resolve();
        }
      : null
  });
  return store.get().modelPanelFits;
}

const SAME = { groups: [1, 2], width: 820 };

describe('inspector of the model next to the initial view', () => {
  it('opens next to a small graph', async () => {
    const view = new FakeView(800, SAME);
    expect(await fitIn(view, 1200, 1200)).toBe(true);
    expect(view.done).toEqual(['resized']);
  });

  it('opens if the same boxes fit in more rows', async () => {
    const view = new FakeView(1100, SAME);
    expect(await fitIn(view, 1200, 1200)).toBe(true);
    expect(view.done).toEqual(['opened in 870', 'resized']);
  });

  it('stays closed if fewer blocks would be expanded, or boxes would be too small', async () => {
    const fewer = new FakeView(1100, { groups: [1], width: 820 });
    expect(await fitIn(fewer, 1200, 1200)).toBeNull();
    expect(fewer.done).toEqual(['opened in 870', 'opened in 1200']);
    expect(fewer.groups).toEqual([1, 2]);
    const small = new FakeView(1100, { groups: [1, 2], width: 1000 });
    expect(await fitIn(small, 1200, 1200)).toBeNull();
    expect(small.done).toEqual(['opened in 870', 'opened in 1200']);
  });

  it('does not lay out a large graph again', async () => {
    const view = new FakeView(1100, SAME);
    view.scene = { ...view.scene, boxCount: 5000 };
    expect(await fitIn(view, 1200, 1200)).toBeNull();
    expect(view.done).toEqual([]);
  });

  it('does not lay out requested blocks again', async () => {
    const view = new FakeView(1100, SAME);
    expect(await fitIn(view, 1200, 1200, false)).toBeNull();
    expect(view.done).toEqual([]);
    expect(await fitIn(new FakeView(800, SAME), 1200, 1200, false)).toBe(true);
  });

  it('closes in a wide viewer if the graph is not entirely readable', async () => {
    const view = new FakeView(2300, SAME);
    expect(await fitIn(view, 1440, 1110)).toBe(false);
    expect(view.done).toEqual(['resized', 'home']);
    const wide = new FakeView(2000, SAME);
    expect(await fitIn(wide, 1440, 1110)).toBeNull();
    expect(wide.done).toEqual([]);
  });
});
