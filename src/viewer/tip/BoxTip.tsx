/** What a box is, told while the pointer rests on it. */

import * as React from 'react';
import { BoxKind } from '../../core/types';
import { useDocument, useSession, useTrans, useView } from '../context';
import type { IHover } from '../graph/api';
import { boxRect, type IRect, toScreen } from '../graph/camera';
import { settingOf } from '../graph/card';
import { exactBox } from '../graph/entities';
import { ancestors } from '../inspector/Breadcrumb';
import { OVERLAYS, type IOverlayDefinition } from '../overlays';
import { overlayText } from '../overlays/painted';
import { lacksParts } from '../overlays/metric';
import type { Session } from '../session/session';
import { brief } from '../ui/text';
import { factsOf, type IFact } from './facts';
import { placeOf } from './place';

/** Milliseconds the pointer rests before the first tip; from one box to the next it comes at once. */
const REST = 500;
const NEXT = 80;
/** Milliseconds for which the next tip still counts as the next one. */
const LINGER = 300;

/** A card in the picture and where it is in the pane. */
interface IPlaced {
  readonly entity: number;
  readonly rect: IRect;
}

/** The box of an entity on the screen; null for an open group, whose frame is around what it holds. */
function placed(session: Session, entity: number): IPlaced | null {
  const { surface } = session.stage;
  const scene = surface?.scene;
  const box = scene ? exactBox(scene, entity) : -1;
  if (!surface || !scene || box < 0) {
    return null;
  }
  if (scene.boxKind[box] === BoxKind.OpenGroup) {
    return null;
  }
  const { x, y, w, h } = boxRect(scene, box);
  const at = toScreen(surface.camera, surface.view, x, y);
  const { k } = surface.camera;
  return { entity, rect: { ...at, w: w * k, h: h * k } };
}

/** The card under the pointer, after a while; null while the picture moves or is being worked on. */
function useRested(session: Session): IPlaced | null {
  const [shown, show] = React.useState<IPlaced | null>(null);
  React.useEffect(() => {
    let timer = 0;
    let there = false;
    let gone = 0;
    const hide = (): void => {
      window.clearTimeout(timer);
      if (there) {
        there = false;
        gone = performance.now();
        show(null);
      }
    };
    const follower = {
      onPicture: hide,
      onCamera: hide,
      onHover(what: IHover): void {
        hide();
        if (what?.kind === 'entity') {
          const soon = gone > 0 && performance.now() - gone < LINGER;
          timer = window.setTimeout(
            () => {
              const next = placed(session, what.id);
              there = next !== null;
              show(next);
            },
            soon ? NEXT : REST
          );
        }
      }
    };
    session.followers.add(follower);
    // A click is an answer to the tip; Escape is for who does not want it.
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') {
        hide();
      }
    };
    document.addEventListener('pointerdown', hide, true);
    document.addEventListener('keydown', onKey, true);
    return () => {
      hide();
      session.followers.delete(follower);
      document.removeEventListener('pointerdown', hide, true);
      document.removeEventListener('keydown', onKey, true);
    };
  }, [session]);
  return shown;
}

export function BoxTip(): JSX.Element | null {
  const session = useSession();
  const shown = useRested(session);
  const { tree } = useDocument();
  const known = shown && shown.entity < tree.model.nodeCount + tree.groupCount;
  return known ? <Tip key={shown.entity} {...shown} /> : null;
}

function Tip({ entity, rect }: IPlaced): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { model, tree } = useDocument();
  const overlay = useView(state => state.overlay);
  const frame = React.useRef<HTMLDivElement>(null);
  React.useLayoutEffect(() => {
    // Measured where it may be as wide as it likes, then put beside the box.
    const { current } = frame;
    const view = session.stage.surface?.view;
    if (current && view) {
      const size = { w: current.offsetWidth, h: current.offsetHeight };
      const at = placeOf(rect, size, view);
      current.style.visibility = at ? 'visible' : 'hidden';
      current.style.left = `${at?.x ?? 0}px`;
      current.style.top = `${at?.y ?? 0}px`;
    }
  });
  const group = entity - model.nodeCount;
  const isNode = group < 0;
  const type = isNode
    ? model.opType(entity)
    : tree.groupType[group] || tree.groupRole[group];
  const name = isNode ? model.nodeName(entity) : tree.groupLabel[group];
  const path = ancestors(tree, entity).map(one => tree.groupLabel[one]);
  return (
    <div ref={frame} className="oad-Tip" role="tooltip">
      <p className="oad-Tip-head">
        <strong>{brief(type || name, 80)}</strong>
        {isNode && settingOf(model, entity) && (
          <span>{settingOf(model, entity)}</span>
        )}
        {type && name && <bdi>{brief(name, 160)}</bdi>}
      </p>
      {path.length > 0 && (
        <p className="oad-Quiet">
          <bdi>{brief(path.join(' › '), 200)}</bdi>
        </p>
      )}
      <dl>
        {factsOf(tree, entity, trans, painted()).map(({ label, text }) => (
          <React.Fragment key={label}>
            <dt>{label}</dt>
            <dd>{text}</dd>
          </React.Fragment>
        ))}
      </dl>
    </div>
  );

  /** The number that colours the box. */
  function painted(): IFact | null {
    if (overlay === null) {
      return null;
    }
    const definition: IOverlayDefinition = OVERLAYS[overlay];
    const value = definition.value(tree, entity);
    if (!(value > 0)) {
      return null;
    }
    const least = lacksParts(tree, overlay, entity) ? '≥ ' : '';
    return {
      label: definition.label(trans, tree),
      text: least + overlayText(definition, value)
    };
  }
}
