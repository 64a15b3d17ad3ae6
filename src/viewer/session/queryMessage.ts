/** What is wrong with a query, in words. */

import { FIELD_NAMES, type IQueryFault } from '../../core';
import type { ITranslate } from '../translate';
import { brief } from '../ui/text';

/** One sentence or two; how to put it right where that is not plain. */
export function queryMessage(fault: IQueryFault, trans: ITranslate): string {
  const text = brief(fault.text, 40);
  switch (fault.kind) {
    case 'unknown-field':
      return trans.__(
        'There is no field “%1”. Fields: %2. A name with < = > in it goes in quotes.',
        text,
        FIELD_NAMES.join(', ')
      );
    case 'no-field':
      return trans.__('Before “%1” must stand a field, as in macs>1e6.', text);
    case 'no-value':
      return trans.__('After “%1” must stand a value, as in macs>1e6.', text);
    case 'not-a-number':
      return trans.__(
        '“%1” is no number. Numbers are written like 1000, 1e6, 1.5K or 10MB.',
        text
      );
    case 'text-order':
      return trans.__('A text is compared by =, != or ~, not by %1.', text);
    case 'number-part':
      return trans.__('A number is compared by = != < <= > >=, not by ~.');
    case 'no-term':
      return text === ''
        ? trans.__('Something is missing at the end.')
        : trans.__('Something is missing before “%1”.', text);
    case 'unclosed':
      return trans.__('A parenthesis is not closed.');
    case 'unopened':
      return trans.__('A parenthesis closes that was not opened.');
    case 'too-deep':
      return trans.__('There are too many parentheses in parentheses.');
  }
}

/** How to ask, for tooltips. */
export function queryHelp(trans: ITranslate): string {
  return [
    trans.__('Words that all must match: names, types, shapes, "exact text".'),
    trans.__(
      'Conditions, joined by & | ! ( ): op=Conv & macs>1e8 & in[0].shape[1]>=256'
    ),
    trans.__('= the whole (* for anything), ~ a part, =? unknown.'),
    trans.__('Fields: %1', FIELD_NAMES.join(', '))
  ].join('\n');
}
