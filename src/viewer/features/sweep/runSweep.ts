/** Computes the points of a curve one by one, so that the page stays responsive. */

import { decodePayload } from '../../../core/model/decodePayload';
import { sizable } from '../../../core/expressions/rebind';
import {
  pointOf,
  unknownPoint,
  type ISweepPoint
} from '../../../core/latency/sizeSweep';
import { isAbort, problemOf } from '../../../providers/provider';
import type { GraphPayload } from '../../../schema';
import {
  withChange,
  sizesOf,
  textsOf,
  type DimSizes
} from '../../summary/dimTexts';
import type { Session } from '../../session/session';
import type { IDeviceChoice } from '../../../core/types';

/** The sizes of all dimensions if one has this size, including those that follow from it. */
export function sizesAt(
  payload: GraphPayload,
  name: string,
  size: number
): DimSizes {
  const dims = sizable(payload);
  return sizesOf(dims, withChange(dims, textsOf(dims), name, String(size)));
}

/** How numbers at other sizes are obtained: computed here, by an analysis, or not at all. */
export function sweepMode(session: Session): 'here' | 'analysed' | 'none' {
  return session.canPreview
    ? 'here'
    : session.provider.sized
      ? 'analysed'
      : 'none';
}

/** Calls `onPoints` with the points so far after each one. Ends early once `signal` is aborted. */
export async function runSweep(
  session: Session,
  payload: GraphPayload,
  name: string,
  sizes: readonly number[],
  device: IDeviceChoice | null,
  signal: AbortSignal,
  onPoints: (points: readonly ISweepPoint[]) => void
): Promise<void> {
  const points: ISweepPoint[] = [];
  for (const size of sizes) {
    await new Promise(resolve => setTimeout(resolve, 0));
    if (signal.aborted) {
      return;
    }
    const point = await onePoint(
      session,
      sizesAt(payload, name, size),
      size,
      device,
      signal
    );
    if (signal.aborted || point === null) {
      return;
    }
    points.push(point);
    onPoints([...points]);
  }
}

async function onePoint(
  session: Session,
  sizes: DimSizes,
  size: number,
  device: IDeviceChoice | null,
  signal: AbortSignal
): Promise<ISweepPoint | null> {
  const model = session.modelAt(sizes);
  if (model) {
    return pointOf(model, size, device);
  }
  try {
    const payload = await session.provider.sized?.(sizes, signal);
    return payload
      ? pointOf(decodePayload(payload), size, device)
      : unknownPoint(size, '');
  } catch (error) {
    // A size that the model rejects must not remove other points.
    return isAbort(error) ? null : unknownPoint(size, problemOf(error).detail);
  }
}
