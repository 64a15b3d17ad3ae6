// @vitest-environment jsdom
import { afterEach, describe, expect, test } from 'vitest';
import { buildTree, decodePayload } from '../../core';
import { stateChangeMessage } from './announcements';
import { DEFAULT_SETTINGS } from '../state/api';
import { initialState } from '../state/initialState';
import type { IViewerState } from '../state/types';
import { testPayload } from '../testing/payload';
import { IDENTITY } from '../i18n/translate';

const model = decodePayload(testPayload());
const document_ = { model, tree: buildTree(model) };
const START: IViewerState = {
  ...initialState(DEFAULT_SETTINGS),
  overlay: 'macs',
  document: document_
};

/** The announcement for a state change, with the focus on an element. */
function announce(
  change: Partial<IViewerState>,
  focused: Element | null = null,
  before: Partial<IViewerState> = {}
): string | null {
  const first = { ...START, ...before };
  return stateChangeMessage(first, { ...first, ...change }, focused, IDENTITY);
}

/** An element with these attributes, inside one with a role. */
function element(role: string, attributes: Record<string, string>): Element {
  const parent = document.createElement('div');
  parent.setAttribute('role', role);
  const child = document.createElement('b');
  for (const [name, value] of Object.entries(attributes)) {
    child.setAttribute(name, value);
  }
  parent.append(child);
  document.body.append(parent);
  return child;
}

afterEach(() => document.body.replaceChildren());

describe('announcements', () => {
  test('name the heatmap, its end and its scale', () => {
    expect(announce({ overlay: 'params' })).toBe('Heatmap: Parameters');
    expect(announce({ overlay: null })).toBe('Heatmap off');
    expect(announce({ scale: 'log' })).toBe('Colours: log');
    expect(
      announce({ scale: 'log', overlay: null }, null, { overlay: null })
    ).toBe(null);
  });

  test('name a selected node, block or tensor, or the number selected', () => {
    expect(announce({ selection: { kind: 'node', id: 0 } })).toBe(
      'Selected: conv_0'
    );
    expect(announce({ selection: { kind: 'group', id: 0 } })).toBe(
      `Selected: ${document_.tree.groupLabel[0]}`
    );
    const tensor = model.outputs[0];
    expect(announce({ selection: { kind: 'tensor', id: tensor } })).toBe(
      `Selected: ${model.tensorName(tensor)}`
    );
    expect(
      announce({ selection: { kind: 'node', id: 0 }, moreSelected: [1, 2] })
    ).toBe('3 selected');
  });

  test('are empty for a removed selection, another model, or no change', () => {
    const selection = { kind: 'node', id: 0 } as const;
    expect(announce({})).toBe(null);
    expect(announce({ selection: { kind: 'none' } }, null, { selection })).toBe(
      null
    );
    expect(announce({ selection, document: { ...document_ } })).toBe(null);
    expect(announce({ helpOpen: true })).toBe(null);
  });

  test('are empty for what the focused element announces', () => {
    const selection = { kind: 'node', id: 0 } as const;
    const box = element('group', { 'data-entity': '0' });
    expect(announce({ selection }, box)).toBe(null);
    expect(announce({ selection: { kind: 'node', id: 1 } }, box)).toBe(
      `Selected: ${model.nodeName(1)}`
    );
    const row = element('grid', {});
    expect(announce({ selection }, row)).toBe(null);
    // No row announces that several are selected.
    expect(announce({ selection, moreSelected: [1] }, row)).toBe('2 selected');
  });

  test('truncate a long name', () => {
    const payload = testPayload();
    payload.nodes.name[0] = 'x'.repeat(500);
    const long = decodePayload(payload);
    const state = {
      ...START,
      document: { model: long, tree: buildTree(long) }
    };
    const now = { ...state, selection: { kind: 'node', id: 0 } as const };
    const text = stateChangeMessage(state, now, null, IDENTITY)!;
    expect(text.length).toBeLessThan(100);
    expect(text).toContain('…');
  });
});
