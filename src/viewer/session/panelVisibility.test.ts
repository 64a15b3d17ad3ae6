import { describe, expect, it } from 'vitest';
import { initialState } from '../state/initialState';
import { DEFAULT_SETTINGS } from '../state/api';
import type { IViewerState } from '../state/types';
import { isShown, paneBeside, WIDE } from './panelVisibility';

const state = (change: Partial<IViewerState> = {}): IViewerState => ({
  ...initialState(DEFAULT_SETTINGS),
  ...change
});
const NODE = { kind: 'node', id: 0 } as const;
const GROUP = { kind: 'group', id: 0 } as const;
const LINKED = {} as IViewerState['linkedView'];

describe('inspector of the model', () => {
  it('opens by the width until the initial view is laid out', () => {
    expect(isShown('inspector', state(), WIDE)).toBe(true);
    expect(isShown('inspector', state(), WIDE - 1)).toBe(false);
    expect(isShown('inspector', state({ modelPanelFits: true }), 1000)).toBe(
      true
    );
    expect(isShown('inspector', state({ modelPanelFits: true }), 700)).toBe(
      false
    );
    expect(isShown('inspector', state({ modelPanelFits: false }), 2000)).toBe(
      false
    );
  });

  it('depends only on the width next to another model', () => {
    const linked = { linkedView: LINKED, modelPanelFits: true };
    expect(isShown('inspector', state(linked), 1000)).toBe(false);
    expect(isShown('inspector', state(linked), WIDE)).toBe(true);
  });

  it('follows the choice of the user, and the selection', () => {
    const { panels } = state();
    const closed = { ...panels, inspector: 'closed' } as const;
    const decided = { panels: closed, modelPanelFits: true };
    expect(isShown('inspector', state(decided), 2000)).toBe(false);
    const no = { modelPanelFits: false };
    expect(isShown('inspector', state({ ...no, selection: NODE }), 600)).toBe(
      true
    );
    expect(isShown('inspector', state({ ...no, selection: GROUP }), 600)).toBe(
      false
    );
    expect(isShown('inspector', state({ ...no, selection: GROUP }), 900)).toBe(
      true
    );
  });

  it('does not affect the outline', () => {
    expect(isShown('outline', state({ modelPanelFits: true }), 1000)).toBe(
      false
    );
    expect(isShown('outline', state({ modelPanelFits: false }), WIDE)).toBe(
      true
    );
  });
});

describe('room for the initial view', () => {
  const pane = { w: 1200, h: 640 };

  it('is the pane without the inspector', () => {
    expect(paneBeside(pane, state(), 1200)).toEqual({ w: 870, h: 640 });
    expect(paneBeside({ ...pane, w: 1129 }, state(), 1129)).toBeNull();
  });

  it('is the pane in a wide viewer, where the inspector is open', () => {
    expect(paneBeside({ w: 700, h: 300 }, state(), WIDE)).toEqual({
      w: 700,
      h: 300
    });
  });

  it('is not computed if the inspector is already decided', () => {
    const { panels } = state();
    const open = state({ panels: { ...panels, inspector: 'open' } });
    expect(paneBeside(pane, open, 1200)).toBeNull();
    expect(paneBeside(pane, state({ selection: NODE }), 1200)).toBeNull();
    expect(paneBeside(pane, state({ linkedView: LINKED }), 1200)).toBeNull();
  });
});
