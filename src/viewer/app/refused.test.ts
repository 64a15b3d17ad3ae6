// @vitest-environment jsdom

import { afterEach, expect, it, vi } from 'vitest';
import { DEFAULT_SETTINGS } from '../state/api';
import { deliverFile } from '../export/deliverFile';
import { copyWithFeedback } from '../session/clipboardFeedback';
import { initialState } from '../state/initialState';
import { createStore } from '../state/store';
import { IDENTITY } from '../i18n/translate';

const session = () => ({
  store: createStore(initialState(DEFAULT_SETTINGS)),
  trans: IDENTITY
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it('shows a notice if the page cannot copy', async () => {
  const { store, trans } = session();
  vi.stubGlobal('navigator', {
    clipboard: { writeText: () => Promise.reject(new Error('NotAllowed')) }
  });
  expect(await copyWithFeedback({ store, trans }, 'node_conv_1')).toBe(false);
  expect(store.get().notice).toContain('copy the text manually');
  expect(store.get().announcement).toBe('');
});

it('announces a copy only to screen readers', async () => {
  const { store, trans } = session();
  const writeText = vi.fn(() => Promise.resolve());
  vi.stubGlobal('navigator', { clipboard: { writeText } });
  expect(await copyWithFeedback({ store, trans }, 'node_conv_1')).toBe(true);
  expect(writeText).toHaveBeenCalledWith('node_conv_1');
  expect(store.get()).toMatchObject({ notice: '', announcement: 'Copied.' });
});

it('shows an alternative to downloads inside a frame', () => {
  vi.stubGlobal('URL', {
    createObjectURL: () => 'blob:x',
    revokeObjectURL: () => undefined
  });
  const click = vi
    .spyOn(HTMLAnchorElement.prototype, 'click')
    .mockImplementation(() => undefined);
  const { store, trans } = session();
  deliverFile({ store, trans }, 'model.svg', new Blob(['<svg/>']));
  expect(store.get().notice).toBe('');
  vi.stubGlobal('top', {});
  deliverFile({ store, trans }, 'model.svg', new Blob(['<svg/>']));
  expect(click).toHaveBeenCalledTimes(2);
  expect(store.get().notice).toMatch(
    /^The download of model\.svg was started.*Python/
  );
});
