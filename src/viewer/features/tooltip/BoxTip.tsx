/** The tooltip of a box, shown while the pointer or the keyboard focus rests on it. */

import * as React from 'react';
import type { IGroupTree } from '../../../core';
import {
  pillText,
  pillTensorRef,
  tensorIdsOf
} from '../../../core/tree/tensorSeries';
import { BoxKind, type IScene } from '../../../core/types';
import { useDocument, useSession, useView } from '../../session/sessionContext';
import { displayedEntity } from '../../../core/tree/chips';
import { chipsOn } from '../../graph/draw/drawChips';
import type { OverlayId } from '../../overlays';
import type { ITranslate } from '../../i18n/translate';
import { activeIn } from '../../ui/focus';
import { shortLabel } from '../../ui/safeText';
import { factsOf, tensorFacts, type IFact } from './tooltipFacts';
import { placeTooltip } from './tooltipPlace';
import { type IHoveredBox, useHovered } from './useHovered';
import { settingOf } from '../../graph/cards/cardContents';
import { useTrans } from '../../i18n/translateContext';

/** Contents of a tooltip. */
interface ITip {
  readonly kind: string;
  /** Scalars and other short settings of an operator: `0 … 6`. */
  readonly setting?: string;
  readonly name: string;
  readonly facts: readonly IFact[];
}

/** `now` is the target when the tooltip's code has been loaded. */
export function BoxTip(props: {
  now: { readonly current: Pick<IHoveredBox, 'box' | 'byKey'> };
}): JSX.Element | null {
  const session = useSession();
  const hovered = useHovered(session, props.now);
  const scene = session.graph.surface?.scene;
  return hovered && scene && hovered.box < scene.boxCount ? (
    <Tip key={hovered.box} hovered={hovered} scene={scene} />
  ) : null;
}

function Tip(props: { hovered: IHoveredBox; scene: IScene }): JSX.Element {
  const { hovered, scene } = props;
  const trans = useTrans();
  const session = useSession();
  const { tree } = useDocument();
  const overlay = useView(state => state.overlay);
  const frame = React.useRef<HTMLDivElement>(null);
  const id = React.useId();
  React.useLayoutEffect(() => {
    // Measured without width limits, then placed next to the box.
    const { current } = frame;
    const view = session.graph.surface?.view;
    if (current && view) {
      const size = { w: current.offsetWidth, h: current.offsetHeight };
      const above = scene.boxKind[hovered.box] === BoxKind.OpenGroup;
      const position = placeTooltip(hovered.rect, size, view, above);
      current.style.visibility = position ? 'visible' : 'hidden';
      current.style.left = `${position?.x ?? 0}px`;
      current.style.top = `${position?.y ?? 0}px`;
    }
  });
  React.useEffect(() => {
    const root = session.graph.surface?.root;
    const owner = hovered.byKey && root ? activeIn(root) : null;
    if (!owner || !root?.contains(owner)) {
      return undefined;
    }
    owner.setAttribute('aria-describedby', id);
    return () => owner.removeAttribute('aria-describedby');
  }, [session, hovered, id]);
  const { kind, setting, name, facts } = tipOf(
    tree,
    scene,
    hovered.box,
    trans,
    overlay
  );
  return (
    <div ref={frame} id={id} className="oad-Tip" role="tooltip">
      <p className="oad-Tip-head">
        <strong>{shortLabel(kind || name, 80)}</strong>{' '}
        {setting && <span>{setting}</span>}{' '}
        {kind && name && <bdi>{shortLabel(name, 160)}</bdi>}
      </p>
      <dl>
        {facts.map(({ label, text }) => (
          <React.Fragment key={label}>
            <dt>{label}</dt>
            <dd>
              <bdi>{text}</bdi>
            </dd>
          </React.Fragment>
        ))}
      </dl>
    </div>
  );
}

function tipOf(
  tree: IGroupTree,
  scene: IScene,
  box: number,
  trans: ITranslate,
  overlay: OverlayId | null
): ITip {
  const { model } = tree;
  const id = scene.boxEntity[box];
  const boxKind: BoxKind = scene.boxKind[box];
  if (boxKind === BoxKind.Input || boxKind === BoxKind.Output) {
    const tensors = tensorIdsOf(tree.series, pillTensorRef(tree.series, id));
    const isInput = boxKind === BoxKind.Input;
    const label = isInput ? trans.__('Input') : trans.__('Output');
    const many = isInput
      ? trans.__('Grouped inputs')
      : trans.__('Grouped outputs');
    return {
      kind: tensors.length > 1 ? many : label,
      name: pillText(tree, id),
      facts: tensorFacts(tree, tensors, trans)
    };
  }
  const group = id - model.nodeCount;
  const chips = chipsOn({ scene, tree }, box);
  const facts = factsOf(tree, id, trans, overlay, chips);
  const face = displayedEntity(tree, id);
  return face < model.nodeCount
    ? {
        kind: operator(tree, face),
        setting: settingOf(model, face),
        name: model.nodeName(face),
        facts
      }
    : {
        kind: tree.groupRole[group] || tree.groupType[group],
        name: tree.groupLabel[group],
        facts
      };
}

/** The operator, with its domain unless that is ONNX's own. */
function operator({ model }: IGroupTree, node: number): string {
  const domain = model.payload.ops[model.nodeOp[node]]?.domain ?? '';
  const type = model.opType(node);
  return domain === '' || domain === 'ai.onnx' ? type : `${domain}.${type}`;
}
