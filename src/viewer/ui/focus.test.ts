// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { activeIn, focusedElement } from './focus';

test('the focus is found in nested shadow trees', () => {
  const host = document.body.appendChild(document.createElement('div'));
  const inner = host
    .attachShadow({ mode: 'open' })
    .appendChild(document.createElement('div'));
  const button = inner
    .attachShadow({ mode: 'open' })
    .appendChild(document.createElement('button'));
  expect(focusedElement()).toBe(document.body);
  button.focus();
  expect(document.activeElement).toBe(host);
  expect(focusedElement()).toBe(button);
  expect(activeIn(inner)).toBe(inner);
  button.blur();
  expect(focusedElement()).toBe(document.body);
});
