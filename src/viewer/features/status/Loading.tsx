import * as React from 'react';
import { useSession } from '../../session/sessionContext';
import type { IProgress } from '../../../providers/provider';
import type { ITranslate } from '../../i18n/translate';
import { ProgressBar } from '../../ui/ProgressBar';
import { useTrans } from '../../i18n/translateContext';

/** The phases of an analysis in words; a phase of a newer server is shown as it is. */
function phaseText(phase: string, trans: ITranslate): string {
  const phaseTexts: ReadonlyMap<string, string> = new Map([
    ['', trans.__('Starting')],
    ['queued', trans.__('Waiting for a free worker')],
    ['probe', trans.__('Checking the file')],
    ['load', trans.__('Reading the structure')],
    ['read', trans.__('Reading the structure')],
    ['build', trans.__('Building the graph')],
    ['shapes', trans.__('Inferring shapes')],
    ['infer', trans.__('Inferring shapes')],
    ['costs', trans.__('Counting costs')],
    ['params', trans.__('Counting parameters')],
    ['memory', trans.__('Computing memory use')],
    ['structure', trans.__('Recognising blocks')],
    ['findings', trans.__('Running the rules')],
    ['payload', trans.__('Preparing the view')],
    ['report', trans.__('Preparing the view')]
  ]);
  return phaseTexts.get(phase) ?? phase;
}

function Status({ progress }: { progress: IProgress }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  return (
    <>
      <p className="oad-State-title" role="status">
        {phaseText(progress.phase, trans)}…
      </p>
      <ProgressBar label={trans.__('Analysis')} {...progress} />
      <button
        type="button"
        className="oad-Button"
        onClick={() => session.cancel()}
      >
        {trans.__('Cancel')}
      </button>
    </>
  );
}

/** Before the initial view: a placeholder graph, the phase, and a way to cancel. */
export function Loading({ progress }: { progress: IProgress }): JSX.Element {
  return (
    <div className="oad-State" aria-busy="true">
      <div className="oad-Sketch" aria-hidden="true">
        {Array.from({ length: 7 }, (_, index) => (
          <span key={index} />
        ))}
      </div>
      <div className="oad-State-box">
        <Status progress={progress} />
      </div>
    </div>
  );
}

/** While a model is analysed again, its graph stays visible. */
export function Working({ progress }: { progress: IProgress }): JSX.Element {
  return (
    <div className="oad-Banner oad-mod-working">
      <Status progress={progress} />
    </div>
  );
}
