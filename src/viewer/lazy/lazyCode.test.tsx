// @vitest-environment jsdom
import {
  act,
  cleanup,
  fireEvent,
  render,
  screen
} from '@testing-library/react';
import * as React from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { loadAll, lazyComponent, lazyCode } from './lazyCode';
import { SubjectContext } from './PanelBoundary';

afterEach(cleanup);

const Panel = ({ name }: { name: string }): JSX.Element => <b>{name}</b>;

async function nextTask(): Promise<void> {
  await act(async () => {
    await Promise.resolve();
  });
}

test('code is fetched once, on first use', async () => {
  const load = vi.fn(async () => 'code');
  const code = lazyCode(load);
  expect(code.now).toBeNull();
  expect(load).not.toHaveBeenCalled();
  expect(await Promise.all([code.get(), code.get()])).toEqual(['code', 'code']);
  expect(code.now).toBe('code');
  expect(load).toHaveBeenCalledTimes(1);
});

test('a panel waits for its code only once', async () => {
  const load = vi.fn(async () => Panel);
  const Lazy = lazyComponent(load);
  expect(load).not.toHaveBeenCalled();
  render(<Lazy name="first" />);
  expect(screen.getByRole('status').textContent).toBe('Loading…');
  await nextTask();
  expect(screen.getByText('first')).toBeTruthy();
  render(<Lazy name="second" />);
  expect(screen.getByText('second')).toBeTruthy();
  expect(load).toHaveBeenCalledTimes(1);
});

test('a failed fetch is shown and can be retried', async () => {
  const load = vi
    .fn<() => Promise<typeof Panel>>()
    .mockRejectedValueOnce(new TypeError('Failed to fetch'))
    .mockResolvedValue(Panel);
  const Lazy = lazyComponent(load);
  render(<Lazy name="panel" />);
  await nextTask();
  expect(screen.getByRole('alert').textContent).toContain(
    'This part of the viewer could not be loaded.'
  );
  fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
  await nextTask();
  expect(screen.getByText('panel')).toBeTruthy();
});

test('all code can be prefetched', async () => {
  const code = lazyCode(async () => 'ahead');
  await loadAll();
  expect(code.now).toBe('ahead');
});

test('a panel that fails shows its fault and can be tried again, alone', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  let broken = true;
  const Fragile = (): JSX.Element => {
    if (broken) {
      throw new TypeError('x is not a function');
    }
    return <b>whole</b>;
  };
  const Lazy = lazyComponent(async () => Fragile);
  const shown = (subject: number): JSX.Element => (
    <SubjectContext.Provider value={subject}>
      <i>beside</i>
      <Lazy />
    </SubjectContext.Provider>
  );
  const { rerender } = render(shown(1));
  await nextTask();
  expect(screen.getByRole('alert').textContent).toContain(
    'This part of the viewer failed: x is not a function'
  );
  expect(screen.getByText('beside')).toBeTruthy();
  fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(screen.getByRole('alert')).toBeTruthy();
  broken = false;
  fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(screen.getByText('whole')).toBeTruthy();
  broken = true;
  rerender(shown(1));
  rerender(shown(2));
  expect(screen.getByRole('alert')).toBeTruthy();
  broken = false;
  rerender(shown(3));
  expect(screen.getByText('whole')).toBeTruthy();
  log.mockRestore();
});
