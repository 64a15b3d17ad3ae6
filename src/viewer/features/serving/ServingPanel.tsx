import * as React from 'react';
import {
  deviceOf,
  hardwareOf,
  partOf
} from '../../../core/latency/latencyEstimate';
import {
  formatBytes,
  formatExact,
  UNKNOWN
} from '../../../core/base/numberFormat';
import type {
  ServingLimit,
  ServingPlan,
  ServingPlans,
  ServingPoint
} from '../../../schema';
import { useDocument, useSession, useView } from '../../session/sessionContext';
import { precisionText } from '../../summary/deviceText';
import { Curves, type ICurve } from '../common/Curves';
import type { ITranslate } from '../../i18n/translate';
import { shortLabel, escapeInvisible } from '../../ui/safeText';
import { curveOf, gridOf, indexRange, type Along } from './servingGrid';
import { numbersOf, type IServingNumber } from './servingNumbers';
import { usePlans } from './usePlans';
import type { IDeviceChoice } from '../../../core/types';
import { useTrans } from '../../i18n/translateContext';

/** Maximum number of curves that can be distinguished. */
const MAX_CURVES = 4;

/** Text generation with a decoder on the chosen device: prefill, decode, memory, limits. */
export function ServingPanel(): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const choice = useView(state => state.device);
  if (!session.provider.serving) {
    return (
      <p className="oad-Drawer-none">
        {trans.__(
          'Text generation cannot be planned here. Open the model in JupyterLab, or run onnx-autodoc llm MODEL --hardware ID. A page created with --hardware has the results for that device.'
        )}
      </p>
    );
  }
  if (!choice) {
    return (
      <p className="oad-Drawer-none">
        {trans.__('Tokens per second depend on the device.')}
        <button
          type="button"
          className="oad-Button"
          onClick={() => session.store.set({ deviceChooserOpen: true })}
        >
          {trans.__('Choose a device…')}
        </button>
      </p>
    );
  }
  return <PlanRequest choice={choice} />;
}

function PlanRequest({ choice }: { choice: IDeviceChoice }): JSX.Element {
  const trans = useTrans();
  const { plans, status, problem } = usePlans(choice);
  if (status === 'asking') {
    return (
      <p className="oad-Drawer-none" role="status">
        {trans.__('Planning text generation…')}
      </p>
    );
  }
  if (status === 'unknown') {
    return (
      <p className="oad-Drawer-none">
        {trans.__(
          'This page has the results for one device. For another one, run onnx-autodoc llm MODEL --hardware %1.',
          shortLabel(choice.device, 60)
        )}
      </p>
    );
  }
  const plan = plans?.plans[0];
  if (!plans || !plan || plan.reason) {
    const reasonText = problem
      ? [problem.detail, problem.hint].filter(Boolean).join(' ')
      : `${plan?.reason ?? ''}.`;
    return (
      <p className="oad-Drawer-none" role="alert">
        {shortLabel(reasonText, 400)}
      </p>
    );
  }
  return <ServingCharts choice={choice} plans={plans} plan={plan} />;
}

/** The variable along the curves, the one that distinguishes them, and the curves. */
interface ILines {
  readonly along: Along;
  readonly other: Along;
  readonly sizes: readonly number[];
  readonly lines: readonly {
    readonly value: number;
    readonly points: readonly (ServingPoint | undefined)[];
  }[];
}

function linesOf(plan: ServingPlan, along: Along): ILines {
  const grid = gridOf(plan);
  const other: Along = along === 'batch' ? 'context' : 'batch';
  const lines = indexRange(grid[other], MAX_CURVES).map(value => ({
    value,
    points: curveOf(grid, along, value)
  }));
  return { along, other, sizes: grid[along], lines };
}

function ServingCharts(props: {
  choice: IDeviceChoice;
  plans: ServingPlans;
  plan: ServingPlan;
}): JSX.Element {
  const trans = useTrans();
  const { choice, plans, plan } = props;
  const hardware = hardwareOf(useDocument().model.payload);
  const [along, setAlong] = React.useState<Along>('batch');
  const [pointed, setPointed] = React.useState({ id: '', at: -1 });
  const lines = React.useMemo(() => linesOf(plan, along), [plan, along]);
  const numbers = React.useMemo(() => numbersOf(trans), [trans]);
  const id = React.useId();
  const { at } = pointed;
  const number = numbers.find(number => number.id === pointed.id);
  const part =
    hardware &&
    partOf(hardware, deviceOf(hardware, choice.device), choice.runtime);
  const runtime =
    part?.runtime === plans.runtime ? part.runtime_label : plans.runtime;
  return (
    <div className="oad-Sweep oad-Serving">
      <div className="oad-Tools">
        <label htmlFor={id}>{trans.__('Curves over')}</label>
        <select
          id={id}
          className="oad-Select"
          value={along}
          onChange={event => {
            setAlong(event.currentTarget.value as Along);
            setPointed({ id: '', at: -1 });
          }}
        >
          <option value="batch">{trans.__('Batch')}</option>
          <option value="context">{trans.__('Context')}</option>
        </select>
        <ul className="oad-Plot-legend oad-PlotBox" aria-hidden="true">
          {lines.lines.map(({ value }, index) => (
            <li key={value} data-color={index + 1}>
              <span className={index % 2 === 1 ? 'oad-mod-dashed' : ''} />
              {sizeText(lines.other, value, trans)}
            </li>
          ))}
        </ul>
        <span className="oad-Quiet oad-DeviceTable-about">
          {[
            escapeInvisible(plan.device_name),
            plan.precision ? precisionText(plan.precision) : '',
            runtime
          ]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </div>
      <p className="oad-Sweep-note" aria-live="off">
        {number && at >= 0
          ? `${number.title}, ${describe(lines, number, at, trans)}`
          : factsOf(plan, trans)}
      </p>
      <div className="oad-Charts">
        {numbers.map(number => (
          <Chart
            key={number.id}
            {...{ plan, lines, index: at }}
            number={number}
            onAt={next => setPointed({ id: number.id, at: next })}
          />
        ))}
        <LimitTable
          title={trans.__('Longest context that fits')}
          head={[trans.__('Batch'), trans.__('Longest context')]}
          rows={plan.longest_context.map(limit => [
            formatExact(limit.batch),
            limitText(limit, limit.context, trans)
          ])}
        />
        <LimitTable
          title={trans.__('Largest batch that fits')}
          head={[trans.__('Context'), trans.__('Largest batch')]}
          rows={plan.largest_batch.map(limit => [
            formatExact(limit.context),
            limitText(limit, limit.batch, trans)
          ])}
        />
        <Notes plans={plans} plan={plan} />
      </div>
    </div>
  );
}

function factsOf(plan: ServingPlan, trans: ITranslate): string {
  const lines = [
    trans.__('Weights %1', formatBytes(plan.weight_bytes)),
    trans.__(
      'KV cache %1 per token',
      formatBytes(plan.kv_cache_bytes_per_token)
    ),
    trans.__('usable memory %1', formatBytes(plan.available_bytes))
  ];
  const computing = plan.compute_bound.find(({ batch }) => batch !== null);
  if (computing !== undefined) {
    lines.push(
      trans.__(
        'decode at context %1 is bound by compute from batch %2',
        formatExact(computing.context ?? 0),
        formatExact(computing.batch ?? 0)
      )
    );
  }
  const service = plan.service;
  if (
    service !== null &&
    service.users_per_replica !== null &&
    service.users_per_replica > 0
  ) {
    lines.push(
      trans.__(
        '%1 users at once (prompts of %2 and answers of %3 tokens)',
        formatExact(service.users_per_replica),
        formatExact(service.input_tokens),
        formatExact(service.output_tokens)
      )
    );
  }
  return `${lines.join(', ')}.`;
}

/** `batch 8` or `context 1,024`. */
function sizeText(name: Along, value: number, trans: ITranslate): string {
  const size = formatExact(value);
  return name === 'batch'
    ? trans.__('batch %1', size)
    : trans.__('context %1', size);
}

/** All curves at one position in words: `batch 8: context 512 336 (286–386); …`. */
function describe(
  { along, other, sizes, lines }: ILines,
  number: IServingNumber,
  index: number,
  trans: ITranslate
): string {
  const texts = lines.map(({ value, points }) => {
    const point = points[index];
    const text = point ? number.text(point) : UNKNOWN;
    return trans.__('%1 with %2', text, sizeText(other, value, trans));
  });
  return `${sizeText(along, sizes[index], trans)}: ${texts.join('; ')}`;
}

function Chart(props: {
  plan: ServingPlan;
  lines: ILines;
  number: IServingNumber;
  index: number;
  onAt(index: number): void;
}): JSX.Element {
  const trans = useTrans();
  const { plan, lines, number, index: at } = props;
  const curves = lines.lines.map(({ value, points }, index): ICurve => {
    const of = (read: IServingNumber['value']): number[] =>
      points.map(point => (point ? read(point) : Number.NaN));
    const { low, high } = number;
    return {
      label: sizeText(lines.other, value, trans),
      color: index + 1,
      dashed: index % 2 === 1,
      values: of(number.value),
      small: points.map(point => point?.fits === false),
      // Ranges of several curves would overlap; all of them are described in words.
      ...(index === 0 && low && high && { low: of(low), high: of(high) })
    };
  });
  const { available_bytes: usable } = plan;
  return (
    <Curves
      title={number.title}
      log={number.log}
      format={number.format}
      curves={curves}
      sizes={lines.sizes}
      marks={[]}
      limit={
        number.id === 'memory' && usable !== null
          ? { value: usable, label: trans.__('memory of the device') }
          : undefined
      }
      describe={index => describe(lines, number, index, trans)}
      small={[]}
      activeIndex={-1}
      index={at}
      onAt={props.onAt}
    />
  );
}

function limitText(
  { limited_by, reason }: ServingLimit,
  value: number | null,
  trans: ITranslate
): string {
  if (value === null) {
    return trans.__('unknown: %1', shortLabel(reason, 120));
  }
  if (value === 0) {
    return trans.__('none fits');
  }
  const size = formatExact(value);
  return limited_by === 'model'
    ? trans.__('%1 (the model’s own limit)', size)
    : limited_by === 'search'
      ? trans.__('%1 or more', size)
      : size;
}

/** The longest context by batch, or the largest batch by context. */
function LimitTable(props: {
  title: string;
  head: readonly string[];
  rows: readonly (readonly string[])[];
}): JSX.Element {
  return (
    <section className="oad-Chart oad-Serving-limits">
      <table aria-label={props.title}>
        <thead>
          <tr>
            {props.head.map(text => (
              <th key={text} scope="col">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map(row => (
            <tr key={row[0]}>
              <th scope="row">{row[0]}</th>
              <td>{row[1]}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Quality of the times, unknown parts, and assumptions. */
function Notes({
  plans,
  plan
}: {
  plans: ServingPlans;
  plan: ServingPlan;
}): JSX.Element {
  const trans = useTrans();
  const unique = (texts: readonly string[]): string[] => [
    ...new Set(texts.filter(Boolean))
  ];
  const prefill = unique(
    plan.points.map(({ prefill_label, prefill_method }) =>
      prefill_label
        ? prefill_method === 'formula'
          ? trans.__('%1, by formula', prefill_label)
          : trans.__('%1, by the kernels of the model', prefill_label)
        : ''
    )
  );
  const decode = unique(plan.points.map(({ decode_label }) => decode_label));
  const notes = [
    prefill.length > 0 && trans.__('Prefill: %1.', prefill.join('; ')),
    decode.length > 0 && trans.__('Decode: %1.', decode.join('; ')),
    trans.__(
      'The shaded range is the likely one of the first curve; × does not fit.'
    ),
    ...unique(plan.points.map(({ reason }) => reason)).map(reason =>
      trans.__('Unknown: %1.', shortLabel(reason, 200))
    ),
    ...plan.warnings.map(text => escapeInvisible(text)),
    ...plans.assumptions.map(text =>
      trans.__('Assumed: %1.', escapeInvisible(text))
    )
  ];
  return (
    <section
      className="oad-Chart oad-Serving-notes"
      aria-label={trans.__('Accuracy')}
    >
      <ul>{notes.map(text => text && <li key={text}>{text}</li>)}</ul>
    </section>
  );
}
