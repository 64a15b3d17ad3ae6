import * as React from 'react';
import { formatExact } from '../../../core';
import {
  otherSide,
  type MatchMode,
  type MatchRule,
  type Side
} from '../../../core/matching/matchers';
import { useSession, useView } from '../../session/sessionContext';
import { taskCode } from '../../tasks/lazyTasks';
import type { ITranslate } from '../../i18n/translate';
import { Icon } from '../../ui/Icon';
import { shortLabel, escapeInvisible } from '../../ui/safeText';
import type { ILinkedView, IComparedChanges } from '../../state/linkedViews';
import { VIEW_LABELS } from '../../state/linkedViews';
import { useTrans } from '../../i18n/translateContext';
import { ownValue } from '../../../core/base/ownValue';

function ruleText(rule: MatchRule, trans: ITranslate): string {
  return {
    none: '',
    structure: trans.__('same place in the structure'),
    name: trans.__('same name'),
    tensor: trans.__('same output name'),
    weight: trans.__('same weight'),
    module: trans.__('same place in the module'),
    wiring: trans.__('same position in the graph'),
    position: trans.__('guess, based on order only')
  }[rule];
}

/** How the counterpart of the selection was found; empty if unknown. */
function foundText({ synced }: ILinkedView, trans: ITranslate): string {
  const rule = synced.kind === 'found' ? synced.rule : null;
  return rule === null || rule === 'none'
    ? ''
    : trans.__('Counterpart: %1', ruleText(rule, trans));
}

/** Problem with the counterpart of the selection; empty if there is none. */
function problemText({ side, synced }: ILinkedView, trans: ITranslate): string {
  const other = VIEW_LABELS[otherSide(side)];
  if (synced.kind === 'found' && synced.rule === 'position') {
    return trans.__('The counterpart is a guess, based on order only');
  }
  if (synced.kind !== 'missing') {
    return '';
  }
  const counts = [formatExact(synced.missing), formatExact(synced.of)] as const;
  const name = shortLabel(synced.name, 40);
  if (synced.from === side) {
    return synced.of > 1
      ? trans.__(
          '%1 of %2 selected have no counterpart in %3',
          ...counts,
          other
        )
      : trans.__('“%1” has no counterpart in %2', name, other);
  }
  return synced.of > 1
    ? trans.__('%1 of %2 selected in %3 have no counterpart', ...counts, other)
    : trans.__('“%1” of %2 has no counterpart', name, other);
}

/** A note over the graph of a linked view if the selection has no counterpart, or an uncertain one. */
export function CounterpartNote(): JSX.Element | null {
  const trans = useTrans();
  const linkedView = useView(state => state.linkedView);
  const text = linkedView ? problemText(linkedView, trans) : '';
  return text ? (
    <div className="oad-Note oad-Compare-amiss">
      <Icon name="warning" size={14} />
      <bdi>{text}</bdi>
    </div>
  ) : null;
}

/** Bar of a linked view: the other model, how much is matched, and how. */
export function CompareBar(): JSX.Element | null {
  const trans = useTrans();
  const linkedView = useView(state => state.linkedView);
  if (linkedView === null) {
    return null;
  }
  if (linkedView.compared?.added) {
    return <MergedBar companion={linkedView} compared={linkedView.compared} />;
  }
  const other = VIEW_LABELS[otherSide(linkedView.side)];
  const text = foundText(linkedView, trans);
  return (
    <div
      className={`oad-Compare${linkedView.compared ? ' oad-mod-compared' : ''}`}
      role="group"
      aria-label={trans.__('Linked view')}
    >
      <span className="oad-Compare-letter" aria-hidden="true">
        {VIEW_LABELS[linkedView.side]}
      </span>
      <span className="oad-Compare-with">
        {trans.__('compared with %1', other)}{' '}
        <bdi title={escapeInvisible(linkedView.name)}>
          {shortLabel(linkedView.name, 80)}
        </bdi>
      </span>
      <Verdict companion={linkedView} />
      <Counts companion={linkedView} />
      <DimConflicts companion={linkedView} />
      <span className="oad-Compare-note" title={text}>
        {text}
      </span>
      <Tools companion={linkedView} />
    </div>
  );
}

/** Bar over a graph of both models. */
function MergedBar(props: {
  companion: ILinkedView;
  compared: IComparedChanges;
}): JSX.Element {
  const trans = useTrans();
  const { companion: linkedView, compared } = props;
  const [removed, added] = linkedView.counts?.only ?? [0, 0];
  return (
    <div
      className="oad-Compare oad-mod-compared"
      role="group"
      aria-label={trans.__('Merged graph')}
    >
      <span className="oad-Compare-with">
        {trans.__('Both as one graph:')}{' '}
        <bdi title={escapeInvisible(linkedView.name)}>
          {shortLabel(linkedView.name, 120)}
        </bdi>
      </span>
      <Verdict companion={linkedView} />
      <span className="oad-Compare-count">
        {trans.__('%1 removed', `− ${formatExact(removed)}`)}
      </span>
      <span className="oad-Compare-count">
        {trans.__('%1 added', `+ ${formatExact(added)}`)}
      </span>
      <span className="oad-Compare-tools">
        <ChangeNavigation compared={compared} side={linkedView.side} />
        <button
          type="button"
          className="oad-Button"
          onClick={linkedView.toggleMerged}
        >
          {trans.__('Side by side')}
        </button>
      </span>
    </div>
  );
}

function Counts({
  companion: linkedView
}: {
  companion: ILinkedView;
}): JSX.Element {
  const trans = useTrans();
  const { counts, side, model } = linkedView;
  if (counts === null) {
    return (
      <span className="oad-Quiet">
        {model === null
          ? trans.__('Waiting for the other model…')
          : trans.__('Matching…')}
      </span>
    );
  }
  const other = otherSide(side);
  const matched = trans.__(
    '%1 of %2 matched',
    formatExact(counts.matched),
    formatExact(counts.nodes[side])
  );
  const about = [
    trans.__(
      'Nodes in this model: %1, in the other: %2, matched pairs: %3.',
      formatExact(counts.nodes[side]),
      formatExact(counts.nodes[other]),
      formatExact(counts.matched)
    ),
    counts.guessed > 0
      ? trans.__(
          'Pairs guessed from order only: %1.',
          formatExact(counts.guessed)
        )
      : ''
  ];
  const only = counts.only[side];
  return (
    <>
      {!linkedView.compared && (
        <span
          className="oad-Compare-count"
          title={about.filter(line => line).join('\n')}
        >
          {matched}
          {counts.guessed > 0 && (
            <span className="oad-Compare-guess">
              {' '}
              {trans.__('(%1 guessed)', formatExact(counts.guessed))}
            </span>
          )}
        </span>
      )}
      <button
        type="button"
        className="oad-Jump oad-Compare-count"
        disabled={only === 0}
        title={trans.__('Select the nodes found only in this model')}
        onClick={linkedView.selectUnmatched}
      >
        {trans.__('%1 only here', formatExact(only))}
      </button>
      <span className="oad-Compare-count oad-Compare-there">
        {trans.__(
          '%1 only in %2',
          formatExact(counts.only[other]),
          VIEW_LABELS[other]
        )}
      </span>
    </>
  );
}

/** Totals at different sizes are not comparable. */
function DimConflicts({
  companion: linkedView
}: {
  companion: ILinkedView;
}): JSX.Element | null {
  const trans = useTrans();
  const { conflicts } = linkedView;
  if (conflicts.length === 0) {
    return null;
  }
  const sizes = conflicts
    .slice(0, 3)
    .map(
      ({ name, here, there }) =>
        `${escapeInvisible(name)} ${here ?? trans.__('free')} | ${there ?? trans.__('free')}`
    )
    .join(', ');
  return (
    <span
      className="oad-Compare-note oad-mod-warn"
      title={trans.__('The totals were computed with these values.')}
    >
      {trans.__('Dimensions differ: %1', sizes)}
    </span>
  );
}

/** Navigation from change to change, and the filter. */
function ChangeNavigation(props: {
  compared: IComparedChanges;
  side: Side;
}): JSX.Element {
  const trans = useTrans();
  const { compared, side } = props;
  const only = useView(state => state.trace?.kind === 'changes');
  return (
    <>
      <button
        type="button"
        className="oad-Button oad-Compare-only"
        aria-pressed={only}
        title={`${trans.__('Dim nodes that are equal in both')} (V)`}
        onClick={() => compared.toggleOnly(side)}
      >
        {trans.__('Only changes')}
      </button>
      <button
        type="button"
        className="oad-IconButton"
        aria-label={trans.__('Previous change')}
        title={`${trans.__('Previous change')} (Shift+C)`}
        onClick={() => compared.step(side, -1)}
      >
        <Icon name="up" size={14} />
      </button>
      <button
        type="button"
        className="oad-IconButton"
        aria-label={trans.__('Next change')}
        title={`${trans.__('Next change')} (C)`}
        onClick={() => compared.step(side, 1)}
      >
        <Icon name="down" size={14} />
      </button>
    </>
  );
}

/** How the models relate, by core operators: a quantized twin is the same model. */
function Verdict({
  companion: linkedView
}: {
  companion: ILinkedView;
}): JSX.Element | null {
  const trans = useTrans();
  const columns = linkedView.compared?.columns;
  if (!columns) {
    return null;
  }
  const ruleTexts: Readonly<Record<string, string>> = {
    'same architecture': trans.__('Same architecture'),
    'similar architecture': trans.__('Similar architecture'),
    'different architectures': trans.__('Different architectures')
  };
  const { verdict, core_matched, core_operators } = columns;
  return (
    <span className="oad-Compare-count" data-verdict={verdict}>
      {ownValue(ruleTexts, verdict) ?? verdict}:{' '}
      {trans.__(
        '%1 of %2 core operators',
        formatExact(core_matched),
        formatExact(core_operators[linkedView.side])
      )}
    </span>
  );
}

function Tools({
  companion: linkedView
}: {
  companion: ILinkedView;
}): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { options, setOptions, compared, side } = linkedView;
  const against = linkedView.provider.path;
  const modes: Record<MatchMode, string> = {
    auto: compared ? trans.__('Structure') : trans.__('Best match'),
    name: trans.__('Name'),
    tag: trans.__('Module')
  };
  return (
    <span className="oad-Compare-tools">
      {compared && <ChangeNavigation compared={compared} side={side} />}
      {compared && (
        <button
          type="button"
          className="oad-Button"
          title={trans.__('Show both models as one graph')}
          onClick={linkedView.toggleMerged}
        >
          {trans.__('Merge')}
        </button>
      )}
      {session.provider.task && against && (
        <button
          type="button"
          className="oad-Button"
          title={trans.__(
            'Run both models and compare their layers; %1 is the reference',
            VIEW_LABELS[otherSide(side)]
          )}
          onClick={() =>
            void taskCode
              .get()
              .then(code =>
                code.startTask(session, { kind: 'verify', against })
              )
          }
        >
          {trans.__('Verify')}
        </button>
      )}
      <select
        className="oad-Select"
        aria-label={trans.__('Match by')}
        title={trans.__('How counterparts are found')}
        value={options.match}
        onChange={event => {
          const value = event.currentTarget.value;
          const match = (Object.keys(modes) as MatchMode[]).find(
            mode => mode === value
          );
          if (match) {
            setOptions({ match });
          }
        }}
      >
        {Object.entries(modes).map(([mode, label]) => (
          <option key={mode} value={mode}>
            {label}
          </option>
        ))}
      </select>
      <button
        type="button"
        className="oad-IconButton"
        aria-label={trans.__('Move and zoom both views together')}
        aria-pressed={options.camera}
        title={trans.__('Move and zoom both views together')}
        onClick={() => setOptions({ camera: !options.camera })}
      >
        <Icon name="together" />
      </button>
      <button
        type="button"
        className="oad-IconButton"
        aria-label={trans.__('Unlink the views')}
        title={trans.__('Unlink the views')}
        onClick={linkedView.end}
      >
        <Icon name="close" size={14} />
      </button>
    </span>
  );
}
