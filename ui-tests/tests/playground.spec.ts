// The playground in a notebook with a real kernel: sliders act on the outputs, and steps go back.

import { expect } from '@playwright/test';
import { test } from './helpers';
import { waitUntilDrawn, notebook, runCell } from './notebooks';

test('changing a scale updates the outputs, and undo restores it', async ({
  page,
  log
}) => {
  await notebook(page, 'playground.ipynb', [
    [
      'from py_autodoc import QuantPlayground',
      "p = QuantPlayground('digits_cnn.onnx', 'digits.npz', height=560)",
      'p'
    ].join('\n'),
    "p.tensor = 'relu_1'; p.playground.set_scale('relu_1', 0.25); p.refresh()",
    "p.playground.of('relu_1')[0]"
  ]);
  await runCell(page, 0);
  const output = page.locator('.jp-OutputArea-output').first();
  await waitUntilDrawn(output);
  await expect(output.getByText('SQNR')).toContainText('dB');
  await expect(output.getByText('As in the file')).toBeVisible();
  await expect(output.getByRole('img', { name: /^Histogram/ })).toBeVisible();

  await runCell(page, 1);
  await expect(output.getByText('1 edit')).toBeVisible();
  await runCell(page, 2);
  expect(await page.notebook.getCellTextOutput(2)).toEqual(['0.25']);

  await output.getByRole('button', { name: 'Undo' }).click();
  await expect(output.getByText('As in the file')).toBeVisible();
  // The sliders of ipywidgets have no names: scale, zero point, sample.
  const zero = output.getByRole('slider').nth(1);
  await zero.focus();
  await zero.press('ArrowRight');
  await expect(output.getByText('1 edit')).toBeVisible();
  expect(log.errors).toEqual([]);
  expect(log.foreign).toEqual([]);
});
