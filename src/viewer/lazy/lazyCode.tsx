/** Lazily loaded code: a panel that is never opened costs nothing. */

import * as React from 'react';
import { useTrans } from '../i18n/translateContext';
import { PanelBoundary } from './PanelBoundary';

/** Lazy code: `get` loads it once, `now` is the loaded code. A failed load is retried. */
export interface ILazyCode<T> {
  readonly now: T | null;
  get(): Promise<T>;
}

const registered: ILazyCode<unknown>[] = [];

/** Registers lazy code without loading it. */
export function lazyCode<T>(load: () => Promise<T>): ILazyCode<T> {
  let now: T | null = null;
  let pending: Promise<T> | null = null;
  const lazy: ILazyCode<T> = {
    get now() {
      return now;
    },
    get() {
      pending ??= load().then(
        code => (now = code),
        (error: unknown) => {
          pending = null;
          throw error;
        }
      );
      return pending;
    }
  };
  registered.push(lazy);
  return lazy;
}

/** Loads all registered code, so that nothing has to be waited for later. */
export async function loadAll(): Promise<void> {
  await Promise.all(registered.map(code => code.get()));
}

/**
 * A component whose code is loaded when first shown; once loaded, it renders immediately. A `quiet` one
 * renders nothing until then. A fault while it renders is shown in its place.
 */
export function lazyComponent<P extends object>(
  load: () => Promise<React.ComponentType<P>>,
  quiet = false
): React.ComponentType<P> {
  const code = lazyCode(load);
  return function Lazy(props: P): JSX.Element | null {
    const trans = useTrans();
    const [failed, setFailed] = React.useState(false);
    const [Found, setFound] = React.useState(() => code.now);
    React.useEffect(() => {
      let isMounted = true;
      if (!Found && !failed) {
        code.get().then(
          component => isMounted && setFound(() => component),
          () => isMounted && setFailed(true)
        );
      }
      return () => {
        isMounted = false;
      };
    }, [Found, failed]);
    if (Found) {
      return (
        <PanelBoundary>
          <Found {...props} />
        </PanelBoundary>
      );
    }
    if (quiet) {
      return null;
    }
    return failed ? (
      <p className="oad-Drawer-none" role="alert">
        {trans.__('This part of the viewer could not be loaded.')}{' '}
        <button
          type="button"
          className="oad-Button"
          onClick={() => setFailed(false)}
        >
          {trans.__('Try again')}
        </button>
      </p>
    ) : (
      <p className="oad-Drawer-none oad-mod-late" role="status">
        {trans.__('Loading…')}
      </p>
    );
  };
}
