import * as React from 'react';
import type { IViewerHandle, IViewerProps } from '../api';
import { Viewer } from '../Viewer';

/** One of the models, and what its host wants to hear of it. */
export type IShown = Pick<
  IViewerProps,
  | 'linkTo'
  | 'onOverlay'
  | 'onReady'
  | 'onSelection'
  | 'onStateChange'
  | 'onTitle'
  | 'provider'
  | 'state'
>;

interface IBesideProps extends Pick<
  IViewerProps,
  'makeLayoutEngine' | 'settings' | 'theme' | 'translator'
> {
  /** One or two. */
  readonly models: readonly IShown[];
}

/** A model, or two beside each other: linked as soon as both views are there. */
export function Beside({ models, ...common }: IBesideProps): JSX.Element {
  const [handles, setHandles] = React.useState<
    Readonly<Record<number, IViewerHandle>>
  >({});
  const { 0: left, 1: right } = handles;
  React.useEffect(() => {
    const link = left && right ? left.link(right) : null;
    return () => link?.end();
  }, [left, right]);
  return (
    <div className="oad-Beside">
      {models.slice(0, 2).map((model, side) => (
        <div className="oad-Beside-side" key={side}>
          <Viewer
            {...common}
            {...model}
            onReady={handle => {
              setHandles(before => ({ ...before, [side]: handle }));
              model.onReady?.(handle);
            }}
          />
        </div>
      ))}
    </div>
  );
}
