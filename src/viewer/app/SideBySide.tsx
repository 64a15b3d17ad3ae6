import * as React from 'react';
import type { IViewerHandle, IViewerProps } from '../state/api';
import { Viewer } from './Viewer';

/** One of the models, with its host's callbacks. */
export type IModelViewProps = Pick<
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

interface ISideBySideProps extends Pick<
  IViewerProps,
  'makeLayoutEngine' | 'settings' | 'theme' | 'translator'
> {
  /** One or two models. */
  readonly models: readonly IModelViewProps[];
}

/** One model, or two side by side, linked as soon as both views are mounted. */
export function SideBySide({
  models,
  ...common
}: ISideBySideProps): JSX.Element {
  const [handles, setHandles] = React.useState<
    Readonly<Record<number, IViewerHandle>>
  >({});
  const { 0: left, 1: right } = handles;
  React.useEffect(() => {
    const link = left && right ? left.link(right) : null;
    return () => link?.end();
  }, [left, right]);
  return (
    <div className="oad-SideBySide">
      {models.slice(0, 2).map((model, side) => (
        <div className="oad-SideBySide-side" key={side}>
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
