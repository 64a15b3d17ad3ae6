/** Error messages of queries. */

import { FIELD_NAMES } from '../../core/query/queryFields';
import type { IQuerySyntaxError } from '../../core/query/queryParser';
import type { ITranslate } from '../i18n/translate';
import { shortLabel } from '../ui/safeText';

/** One or two sentences; the second says how to fix it if that is not obvious. */
export function queryMessage(
  fault: IQuerySyntaxError,
  trans: ITranslate
): string {
  const text = shortLabel(fault.text, 40);
  switch (fault.kind) {
    case 'unknown-field':
      return trans.__(
        'Unknown field “%1”. Available fields: %2. Put names with <, = or > in quotes.',
        text,
        FIELD_NAMES.join(', ')
      );
    case 'no-field':
      return trans.__('Expected a field before “%1”, as in macs>1e6.', text);
    case 'no-value':
      return trans.__('Expected a value after “%1”, as in macs>1e6.', text);
    case 'not-a-number':
      return trans.__(
        '“%1” is not a number. Write numbers as 1000, 1e6, 1.5K or 10MB.',
        text
      );
    case 'text-order':
      return trans.__('Texts support = != ~, not %1.', text);
    case 'number-part':
      return trans.__('Numbers support = != < <= > >=, not ~.');
    case 'no-term':
      return text === ''
        ? trans.__('A term is missing at the end.')
        : trans.__('A term is missing before “%1”.', text);
    case 'unclosed':
      return trans.__('Missing closing parenthesis.');
    case 'unopened':
      return trans.__('Unmatched parenthesis.');
    case 'too-deep':
      return trans.__('Parentheses are nested too deeply.');
  }
}

/** Help on queries, for tooltips. */
export function queryHelp(trans: ITranslate): string {
  return [
    trans.__(
      'Words: all must match, in names, types or shapes; "quote" exact text.'
    ),
    trans.__(
      'Conditions, joined by & | ! ( ): op=Conv & macs>1e8 & in[0].shape[1]>=256'
    ),
    trans.__(
      '= matches a whole value (* is a wildcard), ~ a part; =? finds unknown values.'
    ),
    trans.__('Fields: %1', FIELD_NAMES.join(', '))
  ].join('\n');
}
