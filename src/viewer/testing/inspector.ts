/** The inspector as a reader finds it. */

import { screen, within } from '@testing-library/react';

export function panel(): HTMLElement {
  return screen.getByRole('complementary', { name: 'Inspector' });
}

/** The value beside a label. */
export function fact(label: string): string {
  const term = within(panel())
    .getAllByText(label)
    .find(element => element.tagName === 'DT');
  return term?.nextElementSibling?.textContent ?? '';
}
