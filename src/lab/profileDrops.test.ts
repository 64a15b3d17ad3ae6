// @vitest-environment jsdom
import { expect, test, vi } from 'vitest';
import { draggedProfiles, takeLabDrops } from './profileDrops';

const dragged = (paths: unknown) => ({
  hasData: (kind: string) => kind === 'application/x-jupyter-icontents',
  getData: () => paths
});

test('profiles are recognised by file name, and every dragged file has to be one', () => {
  const of = (paths: unknown) => draggedProfiles({ mimeData: dragged(paths) });
  expect(of(['a/times.JSON', 'layers.json'])).toEqual([
    'a/times.JSON',
    'layers.json'
  ]);
  expect(of(['a.csv', 'b.onnx'])).toEqual([]);
  expect(of('a.csv')).toEqual([]);
  const other = { hasData: () => false, getData: () => ['a.csv'] };
  expect(draggedProfiles({ mimeData: other })).toEqual([]);
});

test('a drop is handled, and JupyterLab does not open the file', () => {
  const [node, onLabDrop, onDrop] = [
    document.createElement('div'),
    vi.fn(),
    vi.fn()
  ];
  const viewer = document.createElement('div');
  viewer.className = 'oad-Viewer';
  node.append(viewer);
  document.body.append(node);
  document.body.addEventListener('lm-drop', onLabDrop);
  takeLabDrops(node, onDrop);
  const send = (type: string, paths: string[]) => {
    const event = new Event(type, { bubbles: true, cancelable: true });
    const drag = { mimeData: dragged(paths), proposedAction: 'copy' };
    viewer.dispatchEvent(Object.assign(event, drag, { dropAction: 'none' }));
    return event as Event & { dropAction: string };
  };
  expect(send('lm-dragover', ['t.csv']).dropAction).toBe('copy');
  expect(viewer.hasAttribute('data-drop')).toBe(true);
  send('lm-drop', ['t.csv']);
  expect(onDrop).toHaveBeenCalledExactlyOnceWith(['t.csv']);
  expect(viewer.hasAttribute('data-drop')).toBe(false);
  expect(onLabDrop).not.toHaveBeenCalled();
  expect(send('lm-drop', ['m.onnx']).defaultPrevented).toBe(false);
  expect(onDrop).toHaveBeenCalledOnce();
  expect(onLabDrop).toHaveBeenCalledOnce();
});
