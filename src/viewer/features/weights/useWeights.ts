import { useCallback, useEffect, useRef, useState } from 'react';
import { isAbort, problemOf } from '../../../providers/provider';
import type { Problem, WeightValues } from '../../../schema';
import { useDocument, useSession } from '../../session/sessionContext';
import type { IDocument } from '../../state/types';

export type WeightsState =
  | { readonly status: 'absent' | 'idle' | 'loading' }
  | { readonly status: 'failed'; readonly problem: Problem }
  | { readonly status: 'ready'; readonly values: WeightValues };

/** Values that were read, by loaded model. */
const weightCaches = new WeakMap<IDocument, Map<number, WeightValues>>();

function knownOf(document: IDocument): Map<number, WeightValues> {
  let values = weightCaches.get(document);
  if (!values) {
    values = new Map();
    weightCaches.set(document, values);
  }
  return values;
}

/** Values of a constant tensor, read when `show` is called; abandoned requests are aborted. */
export function useWeights(tensor: number): {
  state: WeightsState;
  show: () => void;
  hide: () => void;
} {
  const { provider } = useSession();
  const document = useDocument();
  const request = useRef<AbortController | null>(null);
  const [state, setState] = useState<WeightsState>({ status: 'idle' });
  const drop = useCallback(() => {
    request.current?.abort();
    request.current = null;
  }, []);
  useEffect(() => {
    setState({ status: 'idle' });
    return drop;
  }, [drop, document, tensor]);
  const show = useCallback(() => {
    const weight = knownOf(document).get(tensor);
    if (weight) {
      setState({ status: 'ready', values: weight });
      return;
    }
    drop();
    const controller = new AbortController();
    request.current = controller;
    setState({ status: 'loading' });
    provider.weights?.(tensor, controller.signal).then(
      values => {
        if (!controller.signal.aborted) {
          knownOf(document).set(tensor, values);
          setState({ status: 'ready', values });
        }
      },
      (error: unknown) => {
        if (!controller.signal.aborted && !isAbort(error)) {
          setState({ status: 'failed', problem: problemOf(error) });
        }
      }
    );
  }, [provider, document, tensor, drop]);
  const hide = useCallback(() => {
    drop();
    setState({ status: 'idle' });
  }, [drop]);
  return {
    state: provider.weights ? state : { status: 'absent' },
    show,
    hide
  };
}
