import * as React from 'react';
import {
  usableDeviceBytes,
  deviceOf,
  hardwareOf
} from '../../../core/latency/latencyEstimate';
import { sizable } from '../../../core/expressions/rebind';
import {
  isBatch,
  kneeOf,
  readSizes,
  sizesToTry,
  type ISweepPoint
} from '../../../core/latency/sizeSweep';
import {
  formatBytes,
  formatCount,
  formatSeconds
} from '../../../core/base/numberFormat';
import type { DimInfo } from '../../../schema';
import { METRICS } from '../../../schema/metrics';
import { useDocument, useSession, useView } from '../../session/sessionContext';
import { givenSizes, textsOf, withChange } from '../../summary/dimTexts';
import { assumption } from '../../summary/latencyTile';
import { deviceLabel } from '../../overlays/deviceLabel';
import { showTab } from '../../session/panels';
import type { Session } from '../../session/session';
import { shortLabel, escapeInvisible } from '../../ui/safeText';
import { Curves, type ICurvesProps } from '../common/Curves';
import { runSweep, sizesAt, sweepMode } from './runSweep';
import { choiceText, describePoint } from './sweepTexts';
import { useTrans } from '../../i18n/translateContext';

/** Curves over the sizes of a dimension, on the chosen device; a click sets the size. */
export function SweepPanel(): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { payload } = useDocument().model;
  const batch = useView(state => state.batch);
  const dims = sizable(payload).filter(dim => !dim.follows);
  // A batch fixed in the file may still be changeable.
  React.useEffect(() => void session.askBatch(), [session, payload]);
  if (dims.length === 0) {
    return (
      <div className="oad-Drawer-none">
        <p>
          {trans.__(
            'All dimensions of this model are fixed, so there is nothing to vary.'
          )}
        </p>
        {batch?.status === 'asking' && (
          <p role="status">
            {trans.__('Following the batch through the graph…')}
          </p>
        )}
        {batch?.status === 'none' && batch.reason && (
          <p>
            {trans.__(
              'The batch cannot be changed: %1.',
              shortLabel(batch.reason)
            )}
          </p>
        )}
      </div>
    );
  }
  if (sizable(payload).some(dim => dim.value === null)) {
    return (
      <p className="oad-Drawer-none">
        {trans.__('Curves need a value for each dimension.')}
        <button
          type="button"
          className="oad-Button"
          onClick={() => showTab(session, 'dims')}
        >
          {trans.__('Open Dimensions')}
        </button>
      </p>
    );
  }
  if (sweepMode(session) === 'none') {
    return (
      <p className="oad-Drawer-none">
        {trans.__(
          'Other values of the dimensions need an analysis. Open the model in JupyterLab, or run onnx-autodoc sweep.'
        )}
      </p>
    );
  }
  return <Sweep dims={dims} />;
}

/** The dimension of each viewer's curves. */
const dimBySession = new WeakMap<Session, string>();

function Sweep({ dims }: { dims: readonly DimInfo[] }): JSX.Element {
  const session = useSession();
  const [name, setName] = React.useState(() => dimBySession.get(session) ?? '');
  const dim =
    dims.find(dim => dim.name === name) ?? dims.find(isBatch) ?? dims[0];
  return (
    <SweepCharts
      key={dim.name}
      dims={dims}
      dim={dim}
      onDim={next => {
        dimBySession.set(session, next);
        setName(next);
      }}
    />
  );
}

/** The points so far; they stay until others of the same curve arrive. */
function usePoints(
  dim: DimInfo,
  sizes: readonly number[]
): { points: readonly ISweepPoint[]; start: (() => void) | null } {
  const session = useSession();
  const { payload } = useDocument().model;
  const device = useView(state => state.device);
  const [points, setPoints] = React.useState<readonly ISweepPoint[]>([]);
  const mode = sweepMode(session);
  const [isRequested, setRequested] = React.useState(false);
  // The current size of the dimension itself affects no other point.
  const otherDims = JSON.stringify(
    Object.entries(sizesAt(payload, dim.name, sizes[0]))
  );
  const key = [
    otherDims,
    sizes.join(),
    device?.device,
    device?.precision,
    device?.runtime
  ].join();
  const before = React.useRef('');
  React.useEffect(() => {
    if (mode === 'analysed' && !isRequested) {
      return undefined;
    }
    const stop = new AbortController();
    const isSame = before.current === key;
    before.current = key;
    void runSweep(
      session,
      payload,
      dim.name,
      sizes,
      device,
      stop.signal,
      points => {
        if (!isSame || points.length === sizes.length) {
          setPoints(points);
        }
      }
    );
    return () => stop.abort();
    // A file that was analysed again may have become another one.
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `key` names sizes and device
  }, [session, key, mode, isRequested, payload.model.sha256]);
  const waits = mode === 'analysed' && !isRequested;
  return { points, start: waits ? () => setRequested(true) : null };
}

function SweepCharts(props: {
  dims: readonly DimInfo[];
  dim: DimInfo;
  onDim(name: string): void;
}): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { model } = useDocument();
  const { payload } = model;
  const { dims, dim } = props;
  const choice = useView(state => state.device);
  // eslint-disable-next-line react-hooks/exhaustive-deps -- the sizes to try stay while the value changes
  const first = React.useMemo(() => sizesToTry(dim), [dim.name]);
  const [text, setText] = React.useState(() => first.join(', '));
  const requestedSizes = readSizes(text);
  const last = React.useRef<readonly number[]>(first);
  if (requestedSizes && requestedSizes.join() !== last.current.join()) {
    last.current = requestedSizes;
  }
  const sizes = last.current;
  const { points, start } = usePoints(dim, sizes);
  const [index, setIndex] = React.useState(-1);
  const bind = (point: number): void => {
    const pointed = points[point];
    if (pointed) {
      void bindSize(session, dim.name, pointed.size);
    }
  };
  const id = React.useId();
  const label = deviceLabel(model) || choice?.device || '';
  const note =
    index >= 0 && points[index]
      ? describePoint(dim.name, points[index], trans)
      : isBatch(dim)
        ? choiceText(dim.name, points, trans)
        : '';
  return (
    <div className="oad-Sweep">
      <div className="oad-Tools">
        <select
          className="oad-Select"
          aria-label={trans.__('Dimension')}
          value={dim.name}
          onChange={event => props.onDim(event.currentTarget.value)}
        >
          {dims.map(({ name }) => (
            <option key={name} value={name}>
              {shortLabel(name, 60)}
            </option>
          ))}
        </select>
        <label htmlFor={id}>{trans.__('Values')}</label>
        <input
          id={id}
          className="oad-Input"
          type="text"
          inputMode="numeric"
          spellCheck={false}
          value={text}
          aria-invalid={requestedSizes === null}
          onChange={event => setText(event.currentTarget.value)}
        />
        <span className="oad-Quiet" role="status">
          {requestedSizes === null
            ? trans.__('Write up to 64 whole numbers from 1, as 1, 2, 4.')
            : start
              ? ''
              : points.length < sizes.length
                ? trans.__('%1 of %2 values', points.length, sizes.length)
                : ''}
        </span>
        {start && (
          <button type="button" className="oad-Button" onClick={start}>
            {trans._n('Analyse %1 size', 'Analyse %1 sizes', sizes.length)}
          </button>
        )}
        <span className="oad-Quiet oad-DeviceTable-about">
          {label ? (
            `${escapeInvisible(label)} · ${assumption(trans, model.latency)}`
          ) : (
            <button
              type="button"
              className="oad-Button"
              onClick={() => session.store.set({ deviceChooserOpen: true })}
            >
              {trans.__('Choose a device for latencies…')}
            </button>
          )}
        </span>
      </div>
      <p className="oad-Sweep-note" aria-live="off">
        {note || trans.__('Click a point to show the model at that size.')}
      </p>
      <div className="oad-Charts">
        {chartsOf(useCharts(dim, points), {
          sizes: points.map(({ size }) => size),
          describe: point =>
            points[point] ? describePoint(dim.name, points[point], trans) : '',
          small: points.map(({ fits }) => fits === false),
          activeIndex: points.findIndex(
            ({ size }) => size === dimNow(payload, dim)
          ),
          index: Math.min(index, points.length - 1),
          onAt: setIndex,
          onPick: bind
        })}
      </div>
    </div>
  );
}

function dimNow(
  payload: Parameters<typeof sizable>[0],
  { name }: DimInfo
): number | null {
  return sizable(payload).find(dim => dim.name === name)?.value ?? null;
}

/** Shows the model at this size, as the Dimensions tab does. */
async function bindSize(
  session: Session,
  name: string,
  size: number
): Promise<void> {
  const { document, bindings } = session.store.get();
  if (!document) {
    return;
  }
  const { payload } = document.model;
  const dims = sizable(payload);
  const texts = withChange(dims, textsOf(dims), name, String(size));
  const bound = { ...givenSizes(dims, texts, bindings), [name]: size };
  const isShown = await session.preview(sizesAt(payload, name, size), bound);
  if (!isShown && !session.provider.fixedDims && !payload.batch) {
    await session.bind(bound, true);
  }
}

type Own = Pick<
  ICurvesProps,
  'title' | 'curves' | 'marks' | 'limit' | 'log' | 'format'
>;

/** The charts for which there are numbers. */
function useCharts(dim: DimInfo, points: readonly ISweepPoint[]): Own[] {
  const trans = useTrans();
  const { payload } = useDocument().model;
  const choice = useView(state => state.device);
  return React.useMemo(() => {
    const values = (of: (point: ISweepPoint) => number): number[] =>
      points.map(of);
    const none = Number.NaN;
    const knee = isBatch(dim) ? kneeOf(points) : -1;
    const marks = [{ at: knee, label: trans.__('knee') }];
    const hardware = hardwareOf(payload);
    const device = hardware ? deviceOf(hardware, choice?.device ?? '') : -1;
    const usable = device >= 0 ? usableDeviceBytes(hardware!, device) : none;
    const timed = points.some(({ time }) => time && time.seconds > 0);
    const charts: (Own | false)[] = [
      timed && {
        title: METRICS.latency.label(trans),
        log: true,
        format: formatSeconds,
        marks,
        curves: [
          {
            label: 'latency',
            color: 3,
            values: values(({ time }) => time?.seconds ?? none),
            low: values(({ time }) =>
              time?.unknown ? none : (time?.low ?? none)
            ),
            high: values(({ time }) =>
              time?.unknown ? none : (time?.high ?? none)
            )
          }
        ]
      },
      timed &&
        isBatch(dim) && {
          title: trans.__('Items per second'),
          log: false,
          format: value => formatCount(value),
          marks,
          curves: [
            {
              label: 'items',
              color: 1,
              values: values(({ itemsPerSecond }) => itemsPerSecond)
            }
          ]
        },
      device >= 0 && {
        title: trans.__('Memory used'),
        log: true,
        format: formatBytes,
        marks: [],
        limit: Number.isNaN(usable)
          ? undefined
          : { value: usable, label: trans.__('memory of the device') },
        curves: [
          {
            label: 'memory',
            color: 4,
            values: values(({ time }) => time?.required ?? none)
          }
        ]
      },
      device < 0 && {
        title: METRICS.peak.label(trans),
        log: true,
        format: formatBytes,
        marks: [],
        curves: [{ label: 'peak', color: 4, values: values(p => p.peak) }]
      },
      {
        title: METRICS.macs.label(trans),
        log: true,
        format: value => formatCount(value),
        marks: [],
        curves: [{ label: 'macs', color: 2, values: values(p => p.macs) }]
      }
    ];
    return charts.filter(chart => chart !== false);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- other values of the same dimension draw the same curves
  }, [trans, dim.name, points, payload.hardware, choice]);
}

function chartsOf(
  charts: readonly Own[],
  shared: Omit<ICurvesProps, keyof Own>
): JSX.Element[] {
  return charts.map(curve => (
    <Curves key={curve.title} {...curve} {...shared} />
  ));
}
