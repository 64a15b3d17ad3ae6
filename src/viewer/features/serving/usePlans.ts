import * as React from 'react';
import { isAbort, problemOf } from '../../../providers/provider';
import type { Problem, ServingPlans } from '../../../schema';
import { useDocument, useSession } from '../../session/sessionContext';
import type { IDeviceChoice } from '../../../core/types';

/** State of a request, and the resulting plans. */
export interface IPlansState {
  readonly plans: ServingPlans | null;
  readonly status: 'asking' | 'here' | 'unknown' | 'failed';
  readonly problem: Problem | null;
}

const ASKING: IPlansState = { plans: null, status: 'asking', problem: null };
/** Milliseconds without a change after which sizes count as chosen. */
const SETTLE_MS = 400;

/** Requests the plans for a device whenever the device, the model or one of its sizes changes. */
export function usePlans(choice: IDeviceChoice): IPlansState {
  const { provider } = useSession();
  const { payload } = useDocument().model;
  const { device, precision, runtime } = choice;
  const [plansState, setPlansState] = React.useState(ASKING);
  const about = [payload.model.sha256, device, precision, runtime].join();
  // Sizes other than batch and tokens are the current ones; most changes are of those two.
  const sizes = JSON.stringify(payload.dims.map(({ value }) => value));
  const before = React.useRef('');
  React.useEffect(() => {
    const stop = new AbortController();
    const isSame = before.current === about;
    before.current = about;
    if (!isSame) {
      // Results for another model or device must not stay visible.
      setPlansState(ASKING);
    }
    const applyState = (state: IPlansState): void => {
      if (!stop.signal.aborted) {
        setPlansState(state);
      }
    };
    const requestPlans = (): void =>
      void provider.serving?.({ device, precision, runtime }, stop.signal).then(
        plans =>
          applyState({
            plans,
            status: plans ? 'here' : 'unknown',
            problem: null
          }),
        (error: unknown) =>
          !isAbort(error) &&
          applyState({
            plans: null,
            status: 'failed',
            problem: problemOf(error)
          })
      );
    const timer = setTimeout(requestPlans, isSame ? SETTLE_MS : 0);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `about` names device, precision and runtime
  }, [provider, about, sizes]);
  return plansState;
}
