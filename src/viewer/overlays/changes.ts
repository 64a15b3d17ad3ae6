/** What became of each node in the other model of a comparison: a colour and a sign a state. */

import type { ChangeState } from '../../core/matchingGiven';
import type { ITree } from '../../core/types';
import type { ITranslate } from '../translate';
import type { IOverlayDefinition, IStateLook } from './types';

/** What a link tells of one of its models. */
export interface IEntityChanges {
  /** The second of the two: what only it has was added. */
  readonly second: boolean;
  /** Where both are one graph: whether only the second has it. What only the first has is drawn as a ghost. */
  readonly added?: (entity: number) => boolean;
  readonly trans: ITranslate;
  state(entity: number): ChangeState;
  /** In a word or two, what changed; empty where the state tells enough. */
  about(entity: number): string;
}

const kept = new WeakMap<ITree, IEntityChanges>();

/** Sets or, with null, takes away what a comparison found. */
export function setChanges(tree: ITree, given: IEntityChanges | null): void {
  if (given === null) {
    kept.delete(tree);
  } else {
    kept.set(tree, given);
  }
}

/** Whether the tree is that of two models as one graph. */
export function isMerged(tree: ITree): boolean {
  return kept.get(tree)?.added !== undefined;
}

/** Of what only the second has, where what only the first has stands in the same picture. */
const ADDED = 0.875;

/** Along the ramp: what is the same is quiet. */
const PLACES: Readonly<Record<ChangeState, number>> = {
  none: 0,
  same: 0,
  precision: 0.25,
  fused: 0.5,
  changed: 0.75,
  only: 1
};

/** Colours that differ in lightness too, by place: light theme, dark theme. */
const COLOURS: Readonly<Record<number, readonly [string, string]>> = {
  0: ['#e8eaed', '#3c4043'],
  2: ['#8cc4ec', '#2f77ab'],
  4: ['#6fc3a6', '#1f7f62'],
  6: ['#f0b429', '#b97f0c'],
  7: ['#3d5a1e', '#a8d672'],
  8: ['#a03070', '#d673ad']
};

function isAdded(given: IEntityChanges, entity: number): boolean {
  return given.added?.(entity) ?? given.second;
}

function sign(state: ChangeState, second: boolean): string {
  return {
    none: '',
    same: '=',
    precision: '◐',
    fused: '⊕',
    changed: '≠',
    only: second ? '+' : '−'
  }[state];
}

function stateLabel(
  state: ChangeState,
  second: boolean,
  trans: ITranslate
): string {
  return {
    none: '',
    same: trans.__('same'),
    precision: trans.__('other precision'),
    fused: trans.__('fused'),
    changed: trans.__('changed'),
    only: second ? trans.__('added') : trans.__('removed')
  }[state];
}

function looks(tree: ITree): readonly IStateLook[] {
  const given = kept.get(tree);
  if (!given) {
    return [];
  }
  const { second, trans, added } = given;
  const made = (['same', 'precision', 'fused', 'changed', 'only'] as const).map(
    state => ({
      place: PLACES[state],
      sign: sign(state, second),
      label: stateLabel(state, second, trans)
    })
  );
  return added
    ? [
        ...made,
        {
          place: ADDED,
          sign: sign('only', true),
          label: stateLabel('only', true, trans)
        }
      ]
    : made;
}

/** Offered only while two models are compared by structure. */
export const changes: IOverlayDefinition<'changes'> = {
  id: 'changes',
  label: trans => trans.__('Changes'),
  about: tree =>
    kept.get(tree)?.trans.__('Values of weights are not compared.') ?? '',
  unit: '',
  additive: false,
  available: tree => kept.has(tree),
  value: (tree, entity) => {
    const given = kept.get(tree);
    const state = given?.state(entity) ?? 'none';
    return state === 'only' && given?.added?.(entity) ? ADDED : PLACES[state];
  },
  states: {
    looks,
    color: (place, dark) =>
      (COLOURS[Math.round(place * 8)] ?? COLOURS[0])[dark ? 1 : 0],
    text: (tree, entity) => {
      const given = kept.get(tree);
      const state = given?.state(entity) ?? 'none';
      if (!given || state === 'none') {
        return '';
      }
      const { trans } = given;
      const second = isAdded(given, entity);
      const about = given.about(entity) || stateLabel(state, second, trans);
      return `${sign(state, second)} ${about}`;
    },
    sign: (tree, entity) => {
      const given = kept.get(tree);
      const state = given?.state(entity) ?? 'none';
      return given && state !== 'same'
        ? sign(state, isAdded(given, entity))
        : '';
    },
    ghost: (tree, entity) => {
      const given = kept.get(tree);
      return (
        given?.added !== undefined &&
        given.state(entity) === 'only' &&
        !given.added(entity)
      );
    }
  }
};
