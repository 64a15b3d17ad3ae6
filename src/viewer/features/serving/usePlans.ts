import * as React from 'react';
import { isAbort, problemOf } from '../../../providers/provider';
import type { Problem, ServingPlans } from '../../../schema';
import { useDocument, useSession } from '../../session/sessionContext';
import type { IDeviceChoice } from '../../../core/types';

/** What has become of the question, and the plans that answer it. */
export interface IPlansState {
  readonly plans: ServingPlans | null;
  readonly status: 'asking' | 'here' | 'unknown' | 'failed';
  readonly problem: Problem | null;
}

const ASKING: IPlansState = { plans: null, status: 'asking', problem: null };
/** Milliseconds after which sizes that a reader changes count as chosen. */
const SETTLES = 400;

/** Asks for the plans of a device whenever it, the model or one of its sizes is another one. */
export function usePlans(choice: IDeviceChoice): IPlansState {
  const { provider } = useSession();
  const { payload } = useDocument().model;
  const { device, precision, runtime } = choice;
  const [asked, setAsked] = React.useState(ASKING);
  const about = [payload.model.sha256, device, precision, runtime].join();
  // Sizes that are neither batch nor tokens are those that are shown; most changes are of these two.
  const sizes = JSON.stringify(payload.dims.map(({ value }) => value));
  const before = React.useRef('');
  React.useEffect(() => {
    const stop = new AbortController();
    const isSame = before.current === about;
    before.current = about;
    if (!isSame) {
      // Numbers of another model or device are not left standing.
      setAsked(ASKING);
    }
    const take = (found: IPlansState): void => {
      if (!stop.signal.aborted) {
        setAsked(found);
      }
    };
    const ask = (): void =>
      void provider.serving?.({ device, precision, runtime }, stop.signal).then(
        plans =>
          take({ plans, status: plans ? 'here' : 'unknown', problem: null }),
        (error: unknown) =>
          !isAbort(error) &&
          take({ plans: null, status: 'failed', problem: problemOf(error) })
      );
    const timer = setTimeout(ask, isSame ? SETTLES : 0);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `about` names device, precision and runtime
  }, [provider, about, sizes]);
  return asked;
}
