import * as React from 'react';
import type { TaskLayer } from '../../../schema';
import { useDocument, useSession } from '../../session/sessionContext';
import { selectNodes } from '../../session/hostSelection';
import type { ITranslate } from '../../i18n/translate';
import { shortLabel, escapeInvisible } from '../../ui/safeText';
import {
  boardOf,
  QUANTIZING,
  useBoard,
  type ITaskBoard
} from '../../tasks/taskBoard';
import { Problems, Progress } from '../common/TaskProgress';
import { useTrans } from '../../i18n/translateContext';

/** Maximum number of rows; the others are only counted. */
const MAX_ROWS = 400;
const METHODS = [
  'static',
  'dynamic',
  'int8-weights',
  'int4-weights',
  'fp16',
  'auto'
] as const;

/**
 * Steps of quantization, each a task of the server: samples, sensitivity of the layers, a quantized file.
 */
export function QuantizePanel(): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const board = boardOf(session);
  const state = useBoard(board);
  const id = React.useId();
  const isRunning = state.running !== null;
  const samples = { data: state.data.trim() };
  return (
    <div className="oad-Quantize">
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
          onClick={() => void board.start('measure', samples)}
        >
          {trans.__('Measure latency')}
        </button>
        <button
          type="button"
          className="oad-Button"
          disabled={isRunning}
          onClick={() => void board.start('sensitivity', samples)}
        >
          {trans.__('Rank layers')}
        </button>
      </div>
      <div className="oad-Tools">
        <label htmlFor={`${id}-method`}>{trans.__('Method')}</label>
        <select
          id={`${id}-method`}
          className="oad-Select"
          value={state.method}
          onChange={event => board.set({ method: event.currentTarget.value })}
        >
          {METHODS.map(name => (
            <option key={name} value={name}>
              {methodText(name, trans)}
            </option>
          ))}
        </select>
        <label htmlFor={`${id}-out`}>{trans.__('File')}</label>
        <input
          id={`${id}-out`}
          className="oad-Input"
          type="text"
          spellCheck={false}
          value={state.outPath}
          onChange={event => board.set({ outPath: event.currentTarget.value })}
        />
        <button
          type="button"
          className="oad-Button oad-mod-accept"
          disabled={isRunning}
          onClick={() =>
            void board.start('quantize', {
              ...samples,
              out: state.outPath.trim(),
              method: state.method,
              exclude: [...state.kept],
              random_data: samples.data === ''
            })
          }
        >
          {trans.__('Quantize')}
        </button>
        <span className="oad-Quiet">
          {trans._n(
            '%1 layer stays float',
            '%1 layers stay float',
            state.kept.size
          )}
        </span>
      </div>
      <Progress state={state} onCancel={() => board.cancel()} />
      <TaskResults state={state} />
      <Layers
        layers={state.results.sensitivity?.layers ?? []}
        kept={state.kept}
        onKeep={kept => board.set({ kept })}
      />
    </div>
  );
}

function methodText(
  method: (typeof METHODS)[number],
  trans: ITranslate
): string {
  return {
    static: trans.__('8 bits, ranges from the samples'),
    dynamic: trans.__('8-bit weights, ranges from each run'),
    'int8-weights': trans.__('8-bit weights in blocks'),
    'int4-weights': trans.__('4-bit weights in blocks'),
    fp16: trans.__('float16'),
    auto: trans.__('the best of several, by accuracy, size and time')
  }[method];
}

/** Results of the tasks, the file first. */
function TaskResults({ state }: { state: ITaskBoard }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { results } = state;
  const writtenPath = results.quantize?.path;
  const path = session.provider.path;
  const finished = [results.quantize, results.sensitivity, results.measure];
  return (
    <>
      <Problems state={state} of={QUANTIZING} />
      {writtenPath && session.files && (
        <div className="oad-Tools">
          <button
            type="button"
            className="oad-Button"
            onClick={() => session.files?.open(writtenPath)}
          >
            {trans.__('Open %1', shortLabel(nameOf(writtenPath), 60))}
          </button>
          {session.files.compare && (
            <button
              type="button"
              className="oad-Button"
              onClick={() => session.files?.compare?.(writtenPath)}
            >
              {trans.__('Compare with this model')}
            </button>
          )}
          {session.files.verify && path && (
            <button
              type="button"
              className="oad-Button"
              onClick={() =>
                session.files?.verify?.(writtenPath, path, state.data.trim())
              }
            >
              {trans.__('Verify against this model')}
            </button>
          )}
        </div>
      )}
      <div className="oad-Quantize-said">
        {finished.flatMap(
          (result, run) =>
            result?.lines.map((line, index) => (
              <p key={`${run}-${index}`} className="oad-Quantize-line">
                {shortLabel(escapeInvisible(line), 400)}
              </p>
            )) ?? []
        )}
      </div>
    </>
  );
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function Layers(props: {
  layers: readonly TaskLayer[];
  kept: ReadonlySet<string>;
  onKeep: (kept: ReadonlySet<string>) => void;
}): JSX.Element | null {
  const trans = useTrans();
  const session = useSession();
  const { nodeCount } = useDocument().model;
  const { layers, kept, onKeep } = props;
  if (layers.length === 0) {
    return null;
  }
  const visibleLayers = layers.slice(0, MAX_ROWS);
  const toggle = (tensor: string): void => {
    const next = new Set(kept);
    if (!next.delete(tensor)) {
      next.add(tensor);
    }
    onKeep(next);
  };
  return (
    <div className="oad-Quantize-layers">
      <table aria-label={trans.__('Layers, most sensitive first')}>
        <thead>
          <tr>
            <th>{trans.__('Float')}</th>
            <th>{trans.__('Layer')}</th>
            <th>{trans.__('Type')}</th>
            <th>{trans.__('Error alone')}</th>
            <th>{trans.__('SQNR (dB)')}</th>
            <th>{trans.__('Agreement')}</th>
          </tr>
        </thead>
        <tbody>
          {visibleLayers.map(layer => {
            const { node } = layer;
            const name = shortLabel(escapeInvisible(layer.name), 80);
            return (
              <tr key={layer.tensor}>
                <td>
                  <input
                    type="checkbox"
                    aria-label={trans.__('Keep %1 in float', name)}
                    checked={kept.has(layer.tensor)}
                    onChange={() => toggle(layer.tensor)}
                  />
                </td>
                <td>
                  {node !== null && node < nodeCount ? (
                    <button
                      type="button"
                      className="oad-Quantize-name"
                      onClick={() => selectNodes(session, [node])}
                    >
                      {name}
                    </button>
                  ) : (
                    name
                  )}
                </td>
                <td>{shortLabel(escapeInvisible(layer.op), 40)}</td>
                <td>{layer.error?.toPrecision(3) ?? '—'}</td>
                <td>{layer.sqnr_db?.toFixed(1) ?? '—'}</td>
                <td>
                  {layer.agreement === null
                    ? '—'
                    : `${(100 * layer.agreement).toFixed(1)} %`}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {layers.length > visibleLayers.length && (
        <p className="oad-Quiet">
          {trans._n(
            '%1 more layer is not shown.',
            '%1 more layers are not shown.',
            layers.length - visibleLayers.length
          )}
        </p>
      )}
    </div>
  );
}
