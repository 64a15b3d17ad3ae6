// A picture in rows, like text: what is opened stays where it was, and K goes round.

import type { Page } from '@playwright/test';
import { box, expect, graph, open, rectOf, setOpen, test } from './pages';

const inside = (page: Page, name: RegExp) => async () => {
  const pane = await rectOf(graph(page));
  const { x, y, width, height } = await rectOf(box(page, name));
  return (
    x >= pane.x &&
    y >= pane.y &&
    x + width <= pane.x + pane.width &&
    y + height <= pane.y + pane.height
  );
};

test('a network much longer than the pane is entirely in view', async ({
  page
}) => {
  await open(page, 'resnet50.onnx', { width: 1100, height: 820 });
  const stages = [0, 1, 2, 3].map(stage => new RegExp(`stages\\.${stage}\\b`));
  for (const stage of stages) {
    await expect.poll(inside(page, stage)).toBe(true);
  }
  // The last stands below the first and begins left of its end.
  const first = await rectOf(box(page, stages[0]));
  const last = await rectOf(box(page, stages[3]));
  expect(last.y).toBeGreaterThan(first.y + first.height);
  // Opened where it was.
  const before = await rectOf(box(page, stages[1]));
  await setOpen(page, stages[1], true);
  const after = await rectOf(box(page, stages[1]));
  expect(Math.abs(after.x - before.x)).toBeLessThan(2);
  expect(Math.abs(after.y - before.y)).toBeLessThan(2);
});

test('K cycles through one row, top to bottom, rows and automatic', async ({
  page
}) => {
  await open(page, 'resnet50.onnx', { width: 1100, height: 820 });
  const first = () => rectOf(box(page, /stages\.0\b/));
  const last = () => rectOf(box(page, /stages\.3\b/));
  const below = async () => {
    const [a, b] = [await first(), await last()];
    return b.y > a.y + a.height;
  };
  const isBeside = async () => {
    const [a, b] = [await first(), await last()];
    return b.x > a.x + a.width && Math.abs(b.y - a.y) < 4;
  };
  const { x, y } = await first();
  // Browsers add up the places of boxes in single precision.
  const distance = async () => {
    const rect = await first();
    return Math.max(Math.abs(rect.x - x), Math.abs(rect.y - y));
  };
  await graph(page).focus();
  await page.keyboard.press('k');
  await page.keyboard.press('f');
  await expect.poll(isBeside).toBe(true);
  await page.keyboard.press('k');
  await page.keyboard.press('f');
  await expect
    .poll(async () => Math.abs((await first()).x - (await last()).x))
    .toBeLessThan(60);
  await page.keyboard.press('k');
  await expect.poll(below).toBe(true);
  await page.keyboard.press('k');
  await page.keyboard.press('o');
  await expect.poll(distance).toBeLessThan(0.01);
});
