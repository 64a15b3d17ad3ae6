// @vitest-environment jsdom
import { act, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { localProblem, ProblemError } from '../../providers/provider';
import type { SavedFile } from '../../schema';
import { testPayload } from '../testing/payload';
import { guardConsole, mount, flushUpdates } from '../testing/render';
import { saveFile } from './downloadFile';

vi.mock('../graph/surface', async () => ({
  GraphSurface: (await import('../testing/surface')).FakeSurface
}));
vi.mock(
  '../graph/cards/cardSizer',
  async () => await import('../testing/sizer')
);
vi.mock('./downloadFile', async original => ({
  ...(await original<object>()),
  saveFile: vi.fn()
}));

guardConsole();
beforeEach(() => void vi.mocked(saveFile).mockClear());

const page: SavedFile = {
  text: '<!doctype html>',
  media_type: 'text/html',
  extension: '.html',
  unnamed: 0
};

async function run(
  id: string,
  file?: (format: string, metric: string) => Promise<SavedFile>
): Promise<string> {
  const { handle } = await mount(testPayload(), file && { file });
  act(() => void handle.run(id));
  await flushUpdates();
  return screen.queryByRole('alert')?.textContent ?? '';
}

test('a page is created and saved under the name of the model', async () => {
  const file = vi.fn(async () => page);
  expect(await run('export-html', file)).toBe('');
  expect(file.mock.calls[0].slice(0, 1)).toEqual(['html']);
  const [[name, data]] = vi.mocked(saveFile).mock.calls;
  expect(name).toMatch(/\.html$/);
  expect(data.type).toBe('text/html');
  expect(data.size).toBe(page.text.length);
});

test('the Model Explorer file has the metric of the heatmap; omitted nodes are reported', async () => {
  const file = vi.fn(async () => ({ ...page, unnamed: 3 }));
  const notice = await run('export-model-explorer', file);
  expect(file.mock.calls[0].slice(0, 2)).toEqual(['model-explorer', 'macs']);
  expect(notice).toContain('Unnamed nodes not included in the file: 3');
});

test('a failure shows its reason and saves nothing', async () => {
  const problem = localProblem('gone', 'Gone', 'The file is gone.', 'Reload.');
  const notice = await run('export-netron', async () => {
    throw new ProblemError(problem);
  });
  expect(notice).toContain('The file is gone. Reload.');
  expect(saveFile).not.toHaveBeenCalled();
});

test('a hint is shown without server or kernel', async () => {
  expect(await run('export-html')).toContain('Open the model in JupyterLab');
});
