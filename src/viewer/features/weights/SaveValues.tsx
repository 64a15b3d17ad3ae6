import * as React from 'react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { blobOfBase64 } from '../../../providers/base64';
import { isAbort, problemOf } from '../../../providers/provider';
import type { Problem, WeightFile, WeightValues } from '../../../schema';
import { useDocument, useSession } from '../../session/sessionContext';
import { deliverFile } from '../../export/deliverFile';
import { fileName } from '../../export/downloadFile';
import { InlineProblem } from '../../ui/InlineProblem';
import { useTrans } from '../../i18n/translateContext';

type SaveState =
  | { readonly status: 'idle' | 'reading' }
  | { readonly status: 'failed'; readonly problem: Problem }
  | { readonly status: 'saved'; readonly file: WeightFile };

const IDLE: SaveState = { status: 'idle' };

/** A button that saves all values of a constant as a NumPy file. */
export function SaveValues(props: {
  of: WeightValues;
  /** As displayed. */
  name: string;
}): JSX.Element | null {
  const trans = useTrans();
  const { tensor, sparse, elem_type } = props.of;
  const { state, save, cancel } = useSaving(tensor);
  const { provider } = useSession();
  if (!provider.weightFile) {
    return null;
  }
  if (sparse || elem_type === 'string') {
    return (
      <p className="oad-Quiet">
        {sparse
          ? trans.__('A sparse tensor cannot be saved as .npy.')
          : trans.__('Text cannot be saved as .npy.')}
      </p>
    );
  }
  const reading = state.status === 'reading';
  return (
    <>
      <button
        type="button"
        className="oad-Button oad-mod-values"
        aria-label={
          reading
            ? trans.__('Cancel saving %1', props.name)
            : trans.__('Save %1 as .npy', props.name)
        }
        onClick={reading ? cancel : save}
      >
        {reading ? trans.__('Cancel') : trans.__('Save as .npy')}
      </button>
      {reading && (
        <p className="oad-Quiet oad-Wait" role="status">
          {trans.__('Reading all values…')}
        </p>
      )}
      {state.status === 'saved' && state.file.converted && (
        <p className="oad-Quiet" role="status">
          {trans.__(
            'The file has %1: numpy lacks %2. No value was rounded.',
            state.file.dtype,
            state.file.elem_type
          )}
        </p>
      )}
      {state.status === 'failed' && (
        <InlineProblem problem={state.problem} retry={save} />
      )}
    </>
  );
}

/** Reads and downloads the file when `save` is called; abandoned requests are aborted. */
function useSaving(tensor: number): {
  state: SaveState;
  save: () => void;
  cancel: () => void;
} {
  const session = useSession();
  const document = useDocument();
  const request = useRef<AbortController | null>(null);
  const [state, setState] = useState<SaveState>(IDLE);
  const cancel = useCallback(() => {
    request.current?.abort();
    request.current = null;
    setState(IDLE);
  }, []);
  useEffect(() => cancel, [cancel, document, tensor]);
  const save = useCallback(() => {
    request.current?.abort();
    const controller = new AbortController();
    request.current = controller;
    setState({ status: 'reading' });
    const read = async (): Promise<void> => {
      try {
        const file = await session.provider.weightFile?.(
          tensor,
          controller.signal
        );
        if (file && !controller.signal.aborted) {
          const name = document.model.tensorName(tensor) || `weight-${tensor}`;
          const data = blobOfBase64(file.data, 'application/octet-stream');
          deliverFile(session, fileName(name, '.npy'), data);
          // The browser has the content now.
          setState({ status: 'saved', file: { ...file, data: '' } });
        }
      } catch (error) {
        if (!controller.signal.aborted && !isAbort(error)) {
          setState({ status: 'failed', problem: problemOf(error) });
        }
      }
    };
    void read();
  }, [session, document, tensor]);
  return { state, save, cancel };
}
