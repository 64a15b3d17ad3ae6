// @vitest-environment jsdom
import { act, cleanup, fireEvent, render } from '@testing-library/react';
import * as React from 'react';
import { afterEach, expect, test } from 'vitest';
import { useRoving } from './rovingTabindex';

afterEach(cleanup);

function Group({ isDisabled }: { isDisabled?: boolean }): JSX.Element {
  const group = React.useRef<HTMLDivElement>(null);
  useRoving(group);
  return (
    <div ref={group}>
      <button disabled={isDisabled}>one</button>
      <input type="text" defaultValue="ab" />
      <div role="note" tabIndex={0} />
      <div role="menu">
        <button>item</button>
      </div>
    </div>
  );
}

const stops = (root: HTMLElement): string[] =>
  [...root.querySelectorAll<HTMLElement>('button, input, [role=note]')]
    .filter(control => control.tabIndex === 0 && !control.matches(':disabled'))
    .map(control => control.textContent || control.tagName);

test('a toolbar is one tab stop; arrow keys cycle, text boxes and menus keep theirs', () => {
  const { container } = render(<Group />);
  expect(stops(container)).toEqual(['one', 'item']);
  const [first] = container.querySelectorAll('button');
  const input = container.querySelector('input')!;
  first.focus();
  fireEvent.keyDown(first, { key: 'ArrowRight' });
  expect(document.activeElement).toBe(input);
  expect(stops(container)).toEqual(['INPUT', 'item']);
  input.setSelectionRange(1, 1);
  fireEvent.keyDown(input, { key: 'ArrowRight' });
  expect(document.activeElement).toBe(input);
  input.setSelectionRange(2, 2);
  fireEvent.keyDown(input, { key: 'ArrowRight' });
  const toolbarNote = container.querySelector('[role=note]')!;
  expect(document.activeElement).toBe(toolbarNote);
  fireEvent.keyDown(toolbarNote, { key: 'ArrowRight', altKey: true });
  expect(document.activeElement).toBe(toolbarNote);
  fireEvent.keyDown(toolbarNote, { key: 'ArrowRight' });
  expect(document.activeElement).toBe(first);
});

test('the tab stop moves to another control when its own is disabled', async () => {
  const { container, rerender } = render(<Group />);
  await act(async () => rerender(<Group isDisabled />));
  expect(stops(container)).toEqual(['INPUT', 'item']);
});
