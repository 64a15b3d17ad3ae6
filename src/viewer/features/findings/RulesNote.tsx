import * as React from 'react';
import { formatExact } from '../../../core';
import type { RuleSettings } from '../../../schema';
import { useDocument } from '../../session/sessionContext';
import type { ITranslate } from '../../i18n/translate';
import { Icon } from '../../ui/Icon';
import { shortLabel, escapeInvisible } from '../../ui/safeText';
import { useTrans } from '../../i18n/translateContext';

/** Maximum number of changes shown at once; more can be expanded. */
const MAX_CHANGES = 4;

/** Shown if the findings used other than the default rules: the changes and their source. */
export function RulesNote(): JSX.Element | null {
  const trans = useTrans();
  const settings = useDocument().model.payload.rule_settings;
  if (!settings) {
    return null;
  }
  const changes = changesOf(settings, trans);
  return (
    <details
      className="oad-Section oad-RulesNote"
      open={changes.length <= MAX_CHANGES}
    >
      <summary>
        <Icon name="right" size={12} />
        <span>{headline(settings, changes.length, trans)}</span>
      </summary>
      <ul className="oad-Section-body">
        {changes.map(change => (
          <li key={change}>{change}</li>
        ))}
        {settings.read_weights && (
          <li>
            {trans.__('every weight was read for the rules about values')}
          </li>
        )}
      </ul>
    </details>
  );
}

function headline(
  { source, read_weights }: RuleSettings,
  count: number,
  trans: ITranslate
): string {
  if (count === 0 && read_weights) {
    return trans.__('Default rules; weights were read');
  }
  const sourceText = source ? shortLabel(source, 80) : trans.__('the settings');
  return trans._n(
    'Rules with %1 change from %2',
    'Rules with %1 changes from %2',
    count,
    sourceText
  );
}

function changesOf(settings: RuleSettings, trans: ITranslate): string[] {
  const { floor, disabled, severities, thresholds } = settings;
  return [
    ...(floor
      ? [trans.__('findings below %1 are not shown', escapeInvisible(floor))]
      : []),
    ...disabled.map(rule => trans.__('%1 is disabled', escapeInvisible(rule))),
    ...Object.entries(severities).map(([rule, severity]) =>
      trans.__(
        '%1: severity set to %2',
        escapeInvisible(rule),
        escapeInvisible(severity)
      )
    ),
    ...Object.entries(thresholds).flatMap(([rule, values]) =>
      Object.entries(values).map(
        ([name, value]) =>
          `${escapeInvisible(rule)}.${escapeInvisible(name)} = ${formatExact(value)}`
      )
    )
  ];
}
