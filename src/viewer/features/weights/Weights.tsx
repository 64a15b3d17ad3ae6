import * as React from 'react';
import { formatBytes } from '../../../core';
import { tensorBytes } from '../../../core/model/tensorBytes';
import { useDocument } from '../../session/sessionContext';
import { InlineProblem } from '../../ui/InlineProblem';
import { escapeInvisible } from '../../ui/safeText';
import { Statistics } from './Statistics';
import { SaveValues } from './SaveValues';
import { useWeights } from './useWeights';
import { useTrans } from '../../i18n/translateContext';

/** A button that reads the values of a constant tensor, and the values. */
export function Weights(props: {
  tensor: number;
  /** Renders nothing if the values cannot be read; the surroundings explain it. */
  optional?: boolean;
}): JSX.Element | null {
  const trans = useTrans();
  const { model } = useDocument();
  const { state, show, hide } = useWeights(props.tensor);
  const name = escapeInvisible(model.tensorName(props.tensor));
  switch (state.status) {
    case 'absent':
      return props.optional ? null : <WeightsUnavailable />;
    case 'idle':
      return (
        <button
          type="button"
          className="oad-Button oad-mod-values"
          aria-label={trans.__('Show values of %1', name)}
          onClick={show}
        >
          {trans.__('Show values')}
        </button>
      );
    case 'loading':
      return (
        <ReadingStatus
          bytes={tensorBytes(model, props.tensor)}
          onCancel={hide}
        />
      );
    case 'failed':
      return <InlineProblem problem={state.problem} retry={show} />;
    default:
      return (
        <div
          className="oad-Weights"
          role="group"
          aria-label={trans.__('Values of %1', name)}
        >
          <Statistics of={state.values} />
          <div className="oad-Weights-buttons">
            <button
              type="button"
              className="oad-Button oad-mod-values"
              aria-label={trans.__('Hide values of %1', name)}
              onClick={hide}
            >
              {trans.__('Hide values')}
            </button>
            <SaveValues of={state.values} name={name} />
          </div>
        </div>
      );
  }
}

/** Shown without a server or kernel. */
export function WeightsUnavailable(): JSX.Element {
  const trans = useTrans();
  return (
    <p className="oad-Quiet">
      {trans.__(
        'This view has no weights. Open the model in JupyterLab, run the notebook cell again, or call py_autodoc.read_weights(model, name). For a .npy file: numpy.save("weight.npy", py_autodoc.read_array(model, name)).'
      )}
    </p>
  );
}

function ReadingStatus(props: {
  bytes: number | null;
  onCancel: () => void;
}): JSX.Element {
  const trans = useTrans();
  return (
    <div className="oad-Weights-wait">
      <p className="oad-Quiet oad-Wait" role="status">
        {props.bytes === null
          ? trans.__('Reading the values…')
          : trans.__('Reading %1…', formatBytes(props.bytes))}
      </p>
      <button type="button" className="oad-Button" onClick={props.onCancel}>
        {trans.__('Cancel')}
      </button>
    </div>
  );
}
