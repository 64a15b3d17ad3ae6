import { useCallback, useEffect, useState } from 'react';
import { isAbort, problemOf } from '../../../providers/provider';
import type { NodeDetails, Problem } from '../../../schema';
import { useSession, useView } from '../../session/sessionContext';

export type DetailsState =
  | { readonly status: 'loading' }
  | { readonly status: 'failed'; readonly problem: Problem }
  | { readonly status: 'ready'; readonly details: NodeDetails };

const LOADING: DetailsState = { status: 'loading' };

/** Details of a node; outdated requests are aborted. */
export function useDetails(node: number): {
  state: DetailsState;
  retry: () => void;
} {
  const { details: cache } = useSession();
  const document = useView(view => view.document);
  const [attempt, setAttempt] = useState(0);
  const [result, setResult] = useState<{ node: number; state: DetailsState }>({
    node: -1,
    state: LOADING
  });
  useEffect(() => {
    if (cache.peek(node)) {
      return undefined;
    }
    const request = new AbortController();
    setResult({ node, state: LOADING });
    cache.read(node, request.signal).then(
      details => {
        if (!request.signal.aborted) {
          setResult({ node, state: { status: 'ready', details } });
        }
      },
      (error: unknown) => {
        if (!request.signal.aborted && !isAbort(error)) {
          setResult({
            node,
            state: { status: 'failed', problem: problemOf(error) }
          });
        }
      }
    );
    return () => request.abort();
  }, [cache, document, node, attempt]);
  const cached = cache.peek(node);
  const state: DetailsState = cached
    ? { status: 'ready', details: cached }
    : result.node === node
      ? result.state
      : LOADING;
  const retry = useCallback(() => setAttempt(count => count + 1), []);
  return { state, retry };
}
