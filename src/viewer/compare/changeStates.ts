/** States of nodes relative to the other model of a comparison, each with a colour and a sign. */

import type { ChangeState } from '../../core/matching/alignmentChanges';
import type { IScene } from '../../core/types';
import type { IStateLook, IStates } from '../overlays/types';
import type { ITranslate } from '../i18n/translate';

/** Changes of one of the linked models. */
export interface IEntityChanges {
  /** True for the second model: what only it has was added. */
  readonly second: boolean;
  /**
   * For both models as one graph: true if only the second has the entity. Entities that only the first
   * has are drawn as outlines.
   */
  readonly added?: (entity: number) => boolean;
  /**
   * For both models as one graph: by edge of a scene, 1 if only the first model has it, 2 if only the
   * second.
   */
  readonly wires?: (scene: IScene) => Uint8Array;
  readonly trans: ITranslate;
  state(entity: number): ChangeState;
  /** The changes in a word or two; empty if the state says enough. */
  about(entity: number): string;
}

/** For entities only in the second model, when those only in the first are in the same graph. */
const ADDED = 0.875;

/** Position on the ramp; unchanged entities are plain. */
const PLACES: Readonly<Record<ChangeState, number>> = {
  none: 0,
  same: 0,
  precision: 0.25,
  fused: 0.5,
  changed: 0.75,
  only: 1
};

/** Colours by position, which also differ in lightness: light theme, dark theme. */
const COLOURS: Readonly<Record<number, readonly [string, string]>> = {
  0: ['#e8eaed', '#3c4043'],
  2: ['#8cc4ec', '#2f77ab'],
  4: ['#6fc3a6', '#1f7f62'],
  6: ['#f0b429', '#b97f0c'],
  7: ['#3d5a1e', '#a8d672'],
  8: ['#a03070', '#d673ad']
};

/**
 * Wires that only one model has, as numbered by `IEntityChanges.wires`; distinguishable without colour.
 */
const WIRES = [
  { position: 1, dash: [5, 4] },
  { position: ADDED, dash: [9, 3, 1.5, 3] }
] as const;

function colour(position: number, dark: boolean): string {
  return (COLOURS[Math.round(position * 8)] ?? COLOURS[0])[dark ? 1 : 0];
}

function isAdded(changes: IEntityChanges, entity: number): boolean {
  return changes.added?.(entity) ?? changes.second;
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

function stateLooks({
  second,
  trans,
  added
}: IEntityChanges): readonly IStateLook[] {
  const looks = (
    ['same', 'precision', 'fused', 'changed', 'only'] as const
  ).map(state => ({
    position: PLACES[state],
    sign: sign(state, second),
    label: stateLabel(state, second, trans)
  }));
  if (!added) {
    return looks;
  }
  const label = stateLabel('only', true, trans);
  const allLooks = [
    ...looks,
    { position: ADDED, sign: sign('only', true), label }
  ];
  return allLooks.map(look => ({
    ...look,
    dash: WIRES.find(({ position }) => position === look.position)?.dash
  }));
}

/** The states of one of the two models, or of both as one graph. */
export function changeStates(changes: IEntityChanges): IStates {
  const { trans, added, wires } = changes;
  const signOf = (entity: number): string =>
    sign(changes.state(entity), isAdded(changes, entity));
  return {
    merged: added !== undefined,
    about: trans.__('Values of weights are not compared.'),
    looks: stateLooks(changes),
    value: entity => {
      const state = changes.state(entity);
      return state === 'only' && added?.(entity) ? ADDED : PLACES[state];
    },
    color: colour,
    text: entity => {
      const state = changes.state(entity);
      if (state === 'none') {
        return '';
      }
      const second = isAdded(changes, entity);
      const about = changes.about(entity) || stateLabel(state, second, trans);
      return `${signOf(entity)} ${about}`;
    },
    sign: entity => (changes.state(entity) === 'same' ? '' : signOf(entity)),
    ghost: entity =>
      added !== undefined && changes.state(entity) === 'only' && !added(entity),
    wires:
      wires &&
      ((scene, dark) => {
        const sides = wires(scene);
        const styles = WIRES.map(({ position, dash }) => ({
          color: colour(position, dark),
          dash
        }));
        return edge => styles[sides[edge] - 1] ?? null;
      })
  };
}
