/** The points of a curve, one after the other, so that the page stays alive between them. */

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

/** The sizes of all dimensions when one has this size; what follows from it does. */
export function sizesAt(
  payload: GraphPayload,
  name: string,
  size: number
): DimSizes {
  const dims = sizable(payload);
  return sizesOf(dims, withChange(dims, textsOf(dims), name, String(size)));
}

/** Whether the numbers at other sizes are computed here, analysed by somebody, or not to be had. */
export function waysOf(session: Session): 'here' | 'analysed' | 'none' {
  return session.canPreview
    ? 'here'
    : session.provider.sized
      ? 'analysed'
      : 'none';
}

/** Gives the points so far, whenever one is done. Ends early once `signal` is aborted. */
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
    await new Promise(done => setTimeout(done, 0));
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
  const here = session.at(sizes);
  if (here) {
    return pointOf(here, size, device);
  }
  try {
    const payload = await session.provider.sized?.(sizes, signal);
    return payload
      ? pointOf(decodePayload(payload), size, device)
      : unknownPoint(size, '');
  } catch (error) {
    // One size that the model refuses takes no other point away.
    return isAbort(error) ? null : unknownPoint(size, problemOf(error).detail);
  }
}
