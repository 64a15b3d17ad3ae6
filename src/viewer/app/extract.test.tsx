// @vitest-environment jsdom
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { localProblem, ProblemError } from '../../providers/provider';
import type { IReportProvider } from '../../providers/provider';
import type { Extracted } from '../../schema';
import { testPayload } from '../testing/payload';
import { guardConsole, mount, flushUpdates } from '../testing/render';
import { surface } from '../testing/surface';

vi.mock('../graph/surface', async () => ({
  GraphSurface: (await import('../testing/surface')).FakeSurface
}));
vi.mock(
  '../graph/cards/cardSizer',
  async () => await import('../testing/sizer')
);

guardConsole();

const FOUND: Extracted = {
  path: 'sub/m.part.onnx',
  nodes: 2,
  inputs: ['x'],
  input_count: 1,
  outputs: ['a', 'b'],
  output_count: 2,
  widened: 1,
  convex: false,
  bytes: 2048
};

type Extract = NonNullable<IReportProvider['extract']>;

/** A viewer whose provider may write files. */
async function open(extract?: Extract) {
  const files = { added: vi.fn(), open: vi.fn() };
  const mounted = await mount(testPayload(), { extract }, { files });
  fireEvent.keyDown(mounted.root, { key: 'e', code: '' });
  await flushUpdates();
  return { ...mounted, files };
}

/** Opens the context menu of an entity and returns the entry, if present. */
function entry(entity: number): HTMLElement | null {
  act(() =>
    surface().callbacks.onContextMenu?.(
      { kind: 'entity', id: entity },
      { x: 5, y: 5 }
    )
  );
  return screen.queryByRole('menuitem', { name: /Extract to \.onnx/ });
}

test('a node, several nodes and a block send their nodes; the result can be opened', async () => {
  const extract = vi.fn<Extract>().mockResolvedValue(FOUND);
  const { files } = await open(extract);
  fireEvent.click(entry(2)!);
  await flushUpdates();
  expect(extract.mock.calls[0][0]).toEqual([2]);
  expect(extract.mock.calls[0][1]).toContain('conv_1');
  const status = screen.getByText(/Extracted to/);
  expect(status.textContent).toBe(
    'Extracted to sub/m.part.onnx: 2 nodes, 1 input, 2 outputs, 2.05 kB. ' +
      'Some of its inputs depend on its outputs: nodes between the selected ones were not included. ' +
      '1 control-flow node was taken whole.'
  );
  expect(files.added).toHaveBeenCalledWith('sub/m.part.onnx');
  fireEvent.click(screen.getByRole('button', { name: 'Open' }));
  expect(files.open).toHaveBeenCalledWith('sub/m.part.onnx');
  expect(screen.queryByText(/Extracted to/)).toBeNull();

  act(() => surface().callbacks.onSelect?.(1, { additive: false }));
  act(() => surface().callbacks.onSelect?.(3, { additive: true }));
  fireEvent.click(entry(3)!);
  await flushUpdates();
  expect(extract.mock.calls[1].slice(0, 2)).toEqual([[1, 3], '2 nodes']);

  const group = testPayload().nodes.name.length;
  fireEvent.click(entry(group)!);
  await flushUpdates();
  const [nodes, name] = extract.mock.calls[2];
  expect(nodes.length).toBeGreaterThan(1);
  expect(nodes.every(node => node < group)).toBe(true);
  expect(name).not.toBe('');
});

test('a failure shows its message and removes the progress', async () => {
  const extract = vi
    .fn<Extract>()
    .mockRejectedValue(
      new ProblemError(
        localProblem('external-missing', 't', 'w.bin is missing.', 'Get it.')
      )
    );
  const { files } = await open(extract);
  fireEvent.click(entry(2)!);
  expect(screen.getByText('Extracting 1 node…')).toBeTruthy();
  await flushUpdates();
  expect(
    screen.getByText(
      'The part could not be extracted: w.bin is missing. Get it.'
    )
  ).toBeTruthy();
  expect(screen.queryByText(/Extracting/)).toBeNull();
  expect(files.added).not.toHaveBeenCalled();
});

test('only one extraction runs at a time', async () => {
  let finish: (extracted: Extracted) => void = () => undefined;
  const extract = vi.fn<Extract>(
    () => new Promise(resolve => (finish = resolve))
  );
  const { handle } = await open(extract);
  fireEvent.click(entry(2)!);
  expect(handle.isEnabled('extract')).toBe(false);
  expect(handle.run('extract')).toBe(false);
  await act(async () => {
    finish(FOUND);
    await flushUpdates();
  });
  expect(handle.isEnabled('extract')).toBe(true);
  expect(extract).toHaveBeenCalledTimes(1);
});

test('there is no menu entry if files cannot be written, and the action explains why', async () => {
  const { handle } = await open();
  expect(entry(2)).toBeNull();
  act(() => void handle.run('extract'));
  expect(screen.getByText(/Open the model in JupyterLab/)).toBeTruthy();
});
