// @vitest-environment jsdom
import { act, fireEvent } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Bundle } from '../schema';
import { loadAll } from '../viewer/lazy/lazyCode';
import { guardConsole, settleDrawn } from '../viewer/testing/render';
import { FakeSurface } from '../viewer/testing/surface';
import { testPayload } from '../viewer/testing/payload';
import { FakeModel } from './fakeModel';
import { mount } from './mount';

vi.mock('../viewer/graph/surface', async () => ({
  GraphSurface: (await import('../viewer/testing/surface')).FakeSurface
}));
vi.mock(
  '../viewer/graph/cards/cardSizer',
  async () => await import('../viewer/testing/sizer')
);
// The engine on this thread.
vi.mock('../embed/embeddedLayoutEngine', () => ({
  embeddedLayoutEngine: () => undefined
}));

guardConsole();

/** Bundles being read, by model name; each resolves on request of the test. */
const reading = new Map<number, () => void>();

vi.mock('../providers/bundleProvider', async original => ({
  ...(await original<object>()),
  readBundle: async (bytes: Uint8Array): Promise<Bundle> => {
    const [blocks] = bytes;
    await new Promise<void>(resolve => reading.set(blocks, resolve));
    const payload = testPayload({ blocks });
    payload.model.name = `m${blocks}.onnx`;
    const none = { operators: [], descriptions: [], nodes: {} };
    return { version: 2, payload, ...none } as unknown as Bundle;
  }
}));

/** Simulates a visibility change. */
let setVisible: (visible: boolean) => void;

beforeEach(async () => {
  // A busy machine may take long to load the code of the initial view.
  await loadAll();
  reading.clear();
  vi.stubGlobal('matchMedia', () => ({
    matches: false,
    addEventListener: () => undefined,
    removeEventListener: () => undefined
  }));
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      constructor(callback: (entries: { isIntersecting: boolean }[]) => void) {
        setVisible = isIntersecting => callback([{ isIntersecting }]);
      }
      observe(): void {
        // The test controls visibility.
      }
      disconnect(): void {
        // Nothing is observed.
      }
    }
  );
});

const undo: (() => void)[] = [];
afterEach(() => {
  act(() => undo.splice(0).forEach(end => end()));
  document.body.replaceChildren();
});

function mountWidget(traits: Record<string, unknown> = {}): FakeModel {
  const model = new FakeModel({
    _bundle: new Uint8Array([2]),
    overlay: 'macs',
    selection: [],
    dims: {},
    view: {},
    theme: 'auto',
    direction: 'auto',
    height: 400,
    _pair: '',
    _comparison: new Uint8Array(),
    _tensors: [],
    ...traits
  });
  undo.push(mount(model, document.body, ''));
  return model;
}

/** Waits for promises, React updates and the graph. */
async function flushUpdates(): Promise<void> {
  await act(async () => {
    await new Promise(resolve => setTimeout(resolve, 20));
  });
  await settleDrawn(document.body);
}

async function read(blocks: number): Promise<void> {
  await act(async () => reading.get(blocks)!());
  await flushUpdates();
}

const NUMBERS = { label: 'ms', unit: '', values: { '1': 3.5 } };
const legend = (): string =>
  document.querySelector('.oad-Legend')?.textContent ?? '';

test('values from Python are shown whenever they arrive', async () => {
  const model = mountWidget();
  await act(async () => setVisible(true));
  // While the model is being read, right after, and once it is drawn.
  act(() => model.set('overlay', NUMBERS));
  await act(async () => reading.get(2)!());
  await flushUpdates();
  expect(legend()).toContain('3.5');
  act(() => model.set('overlay', { ...NUMBERS, values: { '1': 4.5 } }));
  expect(legend()).toContain('4.5');
  expect(model.get('overlay')).toEqual({ ...NUMBERS, values: { '1': 4.5 } });
});

test('display settings are synchronised both ways', async () => {
  const model = mountWidget({ direction: 'down' });
  await act(async () => setVisible(true));
  await read(2);
  const viewer = () => document.querySelector('.oad-Viewer')!;
  const flowIcon = () =>
    viewer()
      .querySelector(
        'button[aria-label^="Flow"] path, button[title^="Flow"] path'
      )
      ?.getAttribute('d');
  const down = flowIcon();
  act(() => model.set('direction', 'right'));
  await flushUpdates();
  expect(flowIcon()).not.toBe(down);
  fireEvent.keyDown(viewer(), { key: 'k', code: '' });
  await flushUpdates();
  expect(flowIcon()).toBe(down);
  await vi.waitFor(() => expect(model.get('direction')).toBe('down'), 5000);
});

test('a model shown twice while loading is drawn once', async () => {
  mountWidget();
  await act(async () => setVisible(true));
  const first = reading.get(2)!;
  await act(async () => {
    setVisible(false);
    setVisible(true);
  });
  await act(async () => first());
  await flushUpdates();
  const { last } = FakeSurface;
  await read(2);
  expect(FakeSurface.last).toBe(last);
  expect(last!.disposed).toBe(false);
});

test('the later of two models is shown, whichever is loaded first', async () => {
  const model = mountWidget();
  await act(async () => setVisible(true));
  await read(2);
  // The last block is the heaviest, in thousands of MACs.
  expect(legend()).toContain('2.0');
  act(() => model.set('_bundle', new Uint8Array([3])));
  act(() => model.set('_bundle', new Uint8Array([1])));
  await read(1);
  await read(3);
  expect(legend()).toContain('1.0');
});

test('values that arrive with another model belong to that model', async () => {
  const model = mountWidget();
  await act(async () => setVisible(true));
  await read(2);
  act(() => model.set('_bundle', new Uint8Array([3])));
  act(() => model.set('overlay', NUMBERS));
  await read(3);
  expect(legend()).toContain('3.5');
  expect(model.get('overlay')).toEqual(NUMBERS);
});

test('an error in another listener does not stop updates', async () => {
  const model = mountWidget();
  await act(async () => setVisible(true));
  await read(2);
  const fail = (): void => {
    throw new Error('not ours');
  };
  model.on('change:selection', fail);
  expect(() =>
    act(() => FakeSurface.last!.callbacks.onSelect!(0, { additive: false }))
  ).toThrow('not ours');
  model.off('change:selection', fail);
  act(() => model.set('overlay', NUMBERS));
  expect(legend()).toContain('3.5');
});

test('a selection from Python is not sent back', async () => {
  const model = mountWidget();
  await act(async () => setVisible(true));
  await read(2);
  const changes: unknown[] = [];
  model.on('change:selection', () => changes.push(model.get('selection')));
  act(() => model.set('selection', [3, 1]));
  await flushUpdates();
  expect(changes).toEqual([[3, 1]]);
  expect(model.saved).toBe(0);
});

test('show() brings a node into view again', async () => {
  const model = mountWidget({ selection: [1] });
  await act(async () => setVisible(true));
  await read(2);
  const { zoomed } = FakeSurface.last!;
  const before = zoomed.length;
  act(() => model.emit('msg:custom', { type: 'autodoc:show' }));
  await flushUpdates();
  expect(zoomed.slice(before)).toEqual([1]);
});

test('a view that follows another one does not change it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const settled = async (): Promise<void> => {
    await act(async () => {
      await vi.advanceTimersByTimeAsync(3000);
    });
  };
  const model = mountWidget();
  await act(async () => setVisible(true));
  await act(async () => reading.get(2)!());
  await settled();
  const surface = FakeSurface.last!;
  const view = model.get('view') as { camera?: object };
  const panned = { ...view, camera: { x: 70, y: 7, k: 0.5 } };
  const changes: unknown[] = [];
  model.on('change:view', () => changes.push(model.get('view')));
  act(() => model.set('view', panned));
  await settled();
  expect(surface.camera).toEqual(panned.camera);
  // A pane of another size may have another camera.
  surface.camera = { x: 71, y: 7, k: 0.5 };
  act(() => surface.callbacks.onCameraChange!(surface.camera));
  await settled();
  expect(changes).toEqual([panned]);
  // Until the user moves it.
  document
    .querySelector('.oad-GraphHost')!
    .dispatchEvent(new Event('wheel', { bubbles: true }));
  surface.camera = { x: 80, y: 7, k: 0.5 };
  act(() => surface.callbacks.onCameraChange!(surface.camera));
  await settled();
  expect(changes).toHaveLength(2);
  vi.useRealTimers();
});

test('the echo of a followed view does not undo a later selection from Python', async () => {
  const model = mountWidget();
  await act(async () => setVisible(true));
  await read(2);
  const other = { version: 1, camera: { x: 70, y: 7, k: 0.5 } };
  act(() => model.set('view', other));
  await flushUpdates();
  act(() => model.set('selection', [1]));
  await flushUpdates();
  // Managers compare with the object that was sent, which has more keys.
  act(() => model.emit('change:view', undefined));
  await flushUpdates();
  expect(model.get('selection')).toEqual([1]);
});
