/** Queries of the inspector for tests. */

import { screen, within } from '@testing-library/react';

export function panel(): HTMLElement {
  return screen.getByRole('complementary', { name: 'Inspector' });
}

/** The value next to a label. */
export function factText(label: string): string {
  const term = within(panel())
    .getAllByText(label)
    .find(element => element.tagName === 'DT');
  return term?.nextElementSibling?.textContent ?? '';
}
