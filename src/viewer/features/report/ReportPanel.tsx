import * as React from 'react';
import { isAbort, problemOf } from '../../../providers/provider';
import type { GraphPayload, Problem, ReportDocument } from '../../../schema';
import { useDocument, useSession } from '../../session/sessionContext';
import { InlineProblem } from '../../ui/InlineProblem';
import { ReportText } from './ReportText';
import { useTrans } from '../../i18n/translateContext';
import { ownValue } from '../../../core/base/ownValue';

type ReportAnswer =
  | { readonly status: 'asking' }
  | { readonly status: 'failed'; readonly problem: Problem }
  | { readonly status: 'ready'; readonly document: ReportDocument };

const ASKING: ReportAnswer = { status: 'asking' };

/**
 * True if the current sizes differ from those of the report, because others were tried since the
 * analysis.
 */
function isOfOtherSizes(
  { sizes }: ReportDocument,
  { dims, batch }: GraphPayload
): boolean {
  return dims.some(({ name, value }) => {
    const of = ownValue(sizes, name) ?? batch?.dim.value;
    return value !== null && value !== of;
  });
}

/** The sections of the model card and the PDF, for reading and printing. */
export function ReportPanel(): JSX.Element {
  const trans = useTrans();
  const { provider } = useSession();
  const { payload } = useDocument().model;
  const [report, setReport] = React.useState(ASKING);
  const [attempt, setAttempt] = React.useState(0);
  const id = React.useId();
  React.useEffect(() => {
    const request = new AbortController();
    void provider.sections?.(request.signal).then(
      document =>
        !request.signal.aborted && setReport({ status: 'ready', document }),
      (error: unknown) =>
        !request.signal.aborted &&
        !isAbort(error) &&
        setReport({ status: 'failed', problem: problemOf(error) })
    );
    return () => request.abort();
  }, [provider, payload, attempt]);
  if (report.status === 'failed') {
    const retry = (): void => {
      setReport(ASKING);
      setAttempt(attempt + 1);
    };
    return <InlineProblem problem={report.problem} retry={retry} />;
  }
  if (report.status === 'asking') {
    return (
      <p className="oad-Drawer-none oad-mod-late" role="status">
        {trans.__('Loading…')}
      </p>
    );
  }
  const { document } = report;
  const goTo = (section: string): void => {
    const title = window.document.getElementById(`${id}-${section}`);
    title?.scrollIntoView({ block: 'start' });
  };
  return (
    <div className="oad-Report">
      <div className="oad-Tools">
        <select
          className="oad-Select"
          aria-label={trans.__('Section')}
          defaultValue={document.sections[0]?.id}
          onChange={event => goTo(event.currentTarget.value)}
        >
          {document.sections.map(section => (
            <option key={section.id} value={section.id}>
              {section.title}
            </option>
          ))}
        </select>
        {provider.print && (
          <button
            type="button"
            className="oad-Button"
            onClick={() => provider.print?.()}
          >
            {trans.__('Print')}
          </button>
        )}
        {isOfOtherSizes(document, payload) && (
          <span className="oad-Quiet" role="note">
            {trans.__('The report uses the dimensions of the analysis.')}
          </span>
        )}
      </div>
      <div
        className="oad-Scroll oad-Report-page"
        tabIndex={0}
        role="region"
        aria-label={trans.__('Report')}
      >
        <ReportText document={document} id={id} />
      </div>
    </div>
  );
}
