import { useMemo } from 'react';
import { useDocument } from '../../session/sessionContext';

/** Sum of the known activation bytes of all nodes. */
export function useActivationTotal(): number {
  const { model } = useDocument();
  return useMemo(() => {
    let sum = 0;
    for (const value of model.metrics.activation_bytes) {
      sum += Number.isNaN(value) ? 0 : value;
    }
    return sum;
  }, [model]);
}
