import * as React from 'react';
import { formatSeconds, formatShare } from '../../../core/base/numberFormat';
import type { TaskTimes, TaskVerification } from '../../../schema';
import { useDocument, useSession, useView } from '../../session/sessionContext';
import { deviceLabel } from '../../overlays/deviceLabel';
import { boardOf, RUNS, useBoard } from '../../tasks/taskBoard';
import { Problems, Progress } from '../common/TaskProgress';
import { selectNodes } from '../../session/hostSelection';
import { shortLabel, escapeInvisible } from '../../ui/safeText';
import { estimateOf, withEstimates } from './estimatedTimes';
import { Scatter } from './Scatter';
import { askProfile } from '../../tasks/taskActions';
import { useTrans } from '../../i18n/translateContext';

/** Maximum number of rows; the others are only counted. */
const MAX_ROWS = 400;
/** Attributed share of the time below which a warning is shown. */
const MIN_ATTRIBUTED_SHARE = 0.95;
const REFERENCES = ['.onnx', '.npz'];

/**
 * Runs of the model on the server, comparison of its layers with a reference, and times measured
 * elsewhere.
 */
export function RunPanel(): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const board = boardOf(session);
  const state = useBoard(board);
  const id = React.useId();
  const { running, results, visible: kind } = state;
  const isRunning = running !== null;
  const data = state.data.trim();
  const against = state.against.trim();
  const result = kind ? results[kind] : undefined;
  const choose = session.files?.choose;
  return (
    <div className="oad-Quantize oad-Run">
      <div className="oad-Tools">
        <label htmlFor={`${id}-data`}>{trans.__('Samples')}</label>
        <input
          id={`${id}-data`}
          className="oad-Input"
          type="text"
          spellCheck={false}
          placeholder={trans.__(
            'samples.npz next to the model; empty: synthetic values'
          )}
          value={state.data}
          onChange={event => board.set({ data: event.currentTarget.value })}
        />
        <button
          type="button"
          className="oad-Button"
          disabled={isRunning}
          title={trans.__('Run the model and colour the layers by time')}
          onClick={() => void board.start('measure', { data })}
        >
          {trans.__('Measure latency')}
        </button>
        <button
          type="button"
          className="oad-Button"
          disabled={isRunning}
          title={trans.__(
            'A profile from ONNX Runtime or trtexec (with its layer information), or a table of nodes and milliseconds. You can also drop it on the graph.'
          )}
          onClick={() => askProfile(session)}
        >
          {trans.__('Load a profile…')}
        </button>
      </div>
      <div className="oad-Tools">
        <label htmlFor={`${id}-against`}>{trans.__('Reference')}</label>
        <input
          id={`${id}-against`}
          className="oad-Input"
          type="text"
          spellCheck={false}
          placeholder={trans.__('another .onnx, or expected values in .npz')}
          value={state.against}
          onChange={event => board.set({ against: event.currentTarget.value })}
        />
        {choose && (
          <button
            type="button"
            className="oad-Button"
            onClick={() =>
              void choose(trans.__('Verify against'), REFERENCES).then(
                path => path !== null && board.set({ against: `/${path}` })
              )
            }
          >
            {trans.__('Choose…')}
          </button>
        )}
        <button
          type="button"
          className="oad-Button"
          disabled={isRunning || against === ''}
          title={trans.__(
            'Run both on the same values and colour the layers by error'
          )}
          onClick={() => void board.start('verify', { data, against })}
        >
          {trans.__('Verify')}
        </button>
      </div>
      <Progress state={state} onCancel={() => board.cancel()} />
      <Problems state={state} of={RUNS} />
      <div className="oad-Quantize-said">
        {result?.lines.map((line, index) => (
          <p key={index} className="oad-Quantize-line">
            {shortLabel(escapeInvisible(line), 400)}
          </p>
        ))}
      </div>
      {result?.times && <Times times={result.times} />}
      {result?.verification && <Verified verification={result.verification} />}
    </div>
  );
}

/** A layer's name, which selects it in the graph. */
function Name(props: { node: number; name: string }): JSX.Element {
  const session = useSession();
  const { nodeCount } = useDocument().model;
  const name = shortLabel(escapeInvisible(props.name), 80);
  return props.node < nodeCount ? (
    <button
      type="button"
      className="oad-Quantize-name"
      onClick={() => selectNodes(session, [props.node])}
    >
      {name}
    </button>
  ) : (
    <>{name}</>
  );
}

function More({ count }: { count: number }): JSX.Element | null {
  const trans = useTrans();
  return count > 0 ? (
    <p className="oad-Quiet">
      {trans._n(
        '%1 more layer is not shown.',
        '%1 more layers are not shown.',
        count
      )}
    </p>
  ) : null;
}

/** Kernels by time, the time without a node, and the total compared with the estimate. */
function Times({ times }: { times: TaskTimes }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { model } = useDocument();
  const { kernels, lost, total_ms, attributed_ms } = times;
  // Choosing a device changes the model's estimates in place.
  useView(state => state.device);
  const compared = withEstimates(model, kernels);
  const timed = model.latency !== null;
  const share = total_ms > 0 ? attributed_ms / total_ms : 1;
  return (
    <>
      {share < MIN_ATTRIBUTED_SHARE && (
        <p className="oad-Quantize-line oad-mod-warn">
          {trans.__(
            '%1 of the time (%2) belongs to no node of this model. It is listed last and not painted.',
            formatShare(1 - share),
            formatSeconds((total_ms - attributed_ms) / 1e3)
          )}
        </p>
      )}
      <div className="oad-Run-parts">
        <div className="oad-Quantize-layers">
          <table aria-label={trans.__('Kernels, slowest first')}>
            <thead>
              <tr>
                <th>{trans.__('Layer')}</th>
                <th>{trans.__('Type')}</th>
                <th>{trans.__('Measured')}</th>
                <th>{trans.__('Share')}</th>
                {timed && <th>{trans.__('Estimated')}</th>}
                <th>{trans.__('Nodes')}</th>
              </tr>
            </thead>
            <tbody>
              {kernels.slice(0, MAX_ROWS).map(kernel => (
                <tr key={kernel.node}>
                  <td>
                    <Name node={kernel.node} name={kernel.name} />
                  </td>
                  <td>{shortLabel(escapeInvisible(kernel.op), 40)}</td>
                  <td>{formatSeconds(kernel.ms / 1e3)}</td>
                  <td>
                    {total_ms > 0 ? formatShare(kernel.ms / total_ms) : '—'}
                  </td>
                  {timed && <td>{formatSeconds(estimateOf(model, kernel))}</td>}
                  <td>{kernel.nodes.length}</td>
                </tr>
              ))}
              {lost.map(kernel => (
                <tr key={`lost ${kernel.name}`} className="oad-Quiet">
                  <td>{shortLabel(escapeInvisible(kernel.name), 80)}</td>
                  <td>{trans.__('no node')}</td>
                  <td>{formatSeconds(kernel.ms / 1e3)}</td>
                  <td>
                    {total_ms > 0 ? formatShare(kernel.ms / total_ms) : '—'}
                  </td>
                  {timed && <td>—</td>}
                  <td>—</td>
                </tr>
              ))}
            </tbody>
          </table>
          <More count={kernels.length - MAX_ROWS} />
        </div>
        {compared.length > 0 ? (
          <Scatter compared={compared} device={deviceLabel(model)} />
        ) : (
          !timed && (
            <p className="oad-Run-none oad-Quiet">
              {trans.__('An estimate to compare with needs a device.')}{' '}
              <button
                type="button"
                className="oad-Button"
                onClick={() => session.store.set({ deviceChooserOpen: true })}
              >
                {trans.__('Choose a device…')}
              </button>
            </p>
          )
        )}
      </div>
    </>
  );
}

/** Layers in execution order, or those that add the largest errors first. */
function Verified({
  verification
}: {
  verification: TaskVerification;
}): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const [worst, setWorst] = React.useState(true);
  const { layers, first } = verification;
  const order = React.useMemo(() => {
    const sorted = layers.map((_, layer) => layer);
    const size = (layer: number): number => layers[layer].error ?? Infinity;
    return worst ? sorted.sort((a, b) => size(b) - size(a)) : sorted;
  }, [layers, worst]);
  return (
    <div className="oad-Quantize-layers">
      <div className="oad-Run-tools">
        {first !== null && (
          <button
            type="button"
            className="oad-Button"
            onClick={() => selectNodes(session, [layers[first].node])}
          >
            {trans.__('Select the first layer that diverges')}
          </button>
        )}
        <label className="oad-Check">
          <input
            type="checkbox"
            checked={worst}
            onChange={event => setWorst(event.currentTarget.checked)}
          />
          {trans.__('Largest errors first')}
        </label>
      </div>
      <table aria-label={trans.__('Layers compared with the reference')}>
        <thead>
          <tr>
            <th>{trans.__('Layer')}</th>
            <th>{trans.__('Type')}</th>
            <th>{trans.__('Relative error')}</th>
            <th>{trans.__('Input error')}</th>
            <th>{trans.__('SQNR (dB)')}</th>
            <th>{trans.__('Tolerance')}</th>
          </tr>
        </thead>
        <tbody>
          {order.slice(0, MAX_ROWS).map(layer => {
            const row = layers[layer];
            return (
              <tr
                key={row.tensor}
                className={layer === first ? 'oad-mod-first' : undefined}
              >
                <td>
                  <Name node={row.node} name={row.name} />
                </td>
                <td>{shortLabel(escapeInvisible(row.op), 40)}</td>
                <td>{row.error?.toPrecision(2) ?? '∞'}</td>
                <td>{row.error_before.toPrecision(2)}</td>
                <td>{row.sqnr_db?.toFixed(1) ?? '—'}</td>
                <td>
                  {layer === first
                    ? trans.__('✗ diverges first')
                    : row.diverges
                      ? trans.__('✗ beyond')
                      : trans.__('within')}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <More count={layers.length - MAX_ROWS} />
    </div>
  );
}
