import * as React from 'react';
import type { DimInfo } from '../../schema';
import { useDocument, useSession, useTrans, useView } from '../context';
import { isBinding } from '../state/snapshot';
import { brief, visible } from '../ui/text';

/** Reads a size; null when the text is none. */
export function parseSize(text: string): number | null {
  const value = /^\d{1,10}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return isBinding(value) ? value : null;
}

/** The text a symbol's box starts with. */
function textOf(dim: DimInfo): string {
  return dim.value === null ? '' : String(dim.value);
}

/** Free dimensions and their values; every number follows when they are applied. */
export function DimsPanel(): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { dims } = useDocument().model.payload;
  if (dims.length === 0) {
    return (
      <p className="oad-Drawer-none">
        {trans.__('This model has no free dimension: all its sizes are fixed.')}
      </p>
    );
  }
  if (session.provider.fixedDims) {
    return <FixedDims dims={dims} />;
  }
  // New values from the server start a new form.
  const key = dims.map(dim => `${dim.name}=${dim.value}`).join('\n');
  return <DimsForm key={key} dims={dims} />;
}

/** The values the model was analysed with, where they cannot be changed. */
function FixedDims({ dims }: { dims: readonly DimInfo[] }): JSX.Element {
  const trans = useTrans();
  return (
    <div className="oad-Dims">
      <p className="oad-Dims-note">
        {trans.__(
          'The model was analysed with these sizes. Open the model itself to try others.'
        )}
      </p>
      <ul>
        {dims.map(dim => (
          <li key={dim.name}>
            {visible(dim.name)} = {dim.value ?? trans.__('free')}
            {dim.assumed ? ` (${trans.__('assumed')})` : ''}
          </li>
        ))}
      </ul>
    </div>
  );
}

function DimsForm({ dims }: { dims: readonly DimInfo[] }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const busy = useView(state => state.load.status === 'loading');
  const [texts, setTexts] = React.useState(
    () => new Map(dims.map(dim => [dim.name, textOf(dim)]))
  );
  const valueOf = (dim: DimInfo): string => texts.get(dim.name) ?? '';
  const isBad = (dim: DimInfo): boolean =>
    valueOf(dim).trim() !== '' && parseSize(valueOf(dim)) === null;
  const bad = dims.some(isBad);
  const assumed = dims.some(dim => dim.assumed);
  const edited = dims.some(dim => valueOf(dim) !== textOf(dim));
  const apply = (): void => {
    // `fromEntries` makes own properties, whatever a symbol is called.
    const given = Object.fromEntries(
      dims.flatMap(dim => {
        const size = parseSize(valueOf(dim));
        return size === null ? [] : [[dim.name, size] as const];
      })
    );
    void session.bind(given, false);
  };
  return (
    <form
      className="oad-Dims"
      onSubmit={event => {
        event.preventDefault();
        if (!bad && !busy) {
          apply();
        }
      }}
    >
      {assumed && (
        <p className="oad-Dims-note">
          {trans.__(
            'Values marked as assumed were not given by anyone: confirm or change them. Costs depend on them.'
          )}
        </p>
      )}
      <div className="oad-Dims-list">
        {dims.map(dim => (
          <DimField
            key={dim.name}
            dim={dim}
            text={valueOf(dim)}
            bad={isBad(dim)}
            onChange={text => setTexts(new Map(texts).set(dim.name, text))}
          />
        ))}
      </div>
      <div className="oad-State-row">
        <button
          type="submit"
          className="oad-Button oad-mod-accept"
          disabled={bad || busy || (!edited && !assumed)}
        >
          {assumed && !edited ? trans.__('Confirm') : trans.__('Apply')}
        </button>
        <button
          type="button"
          className="oad-Button"
          disabled={busy || dims.every(dim => dim.value === null)}
          title={trans.__('Costs become unknown where they depend on a symbol')}
          onClick={() => void session.bind({}, false)}
        >
          {trans.__('Reset to symbols')}
        </button>
        <button
          type="button"
          className="oad-Button"
          disabled={busy}
          onClick={() => void session.bind({}, true)}
        >
          {trans.__('Assume usual values')}
        </button>
        {busy && (
          <span className="oad-Quiet" role="status">
            {trans.__('Counting…')}
          </span>
        )}
      </div>
    </form>
  );
}

function DimField(props: {
  dim: DimInfo;
  text: string;
  bad: boolean;
  onChange(text: string): void;
}): JSX.Element {
  const trans = useTrans();
  const { dim, text, bad } = props;
  const id = React.useId();
  const assumed = dim.assumed && text === textOf(dim);
  return (
    <div className="oad-Dim">
      <label htmlFor={id} title={brief(dim.name)}>
        <bdi>{brief(dim.name, 80)}</bdi>
      </label>
      <input
        id={id}
        className="oad-Input"
        type="text"
        inputMode="numeric"
        value={text}
        placeholder={String(dim.suggested)}
        aria-invalid={bad}
        aria-describedby={`${id}-note`}
        onChange={event => props.onChange(event.currentTarget.value)}
      />
      <span id={`${id}-note`} className="oad-Dim-note">
        {bad ? (
          <span className="oad-mod-error">
            {trans.__('a whole number, 1 or more')}
          </span>
        ) : assumed ? (
          <span className="oad-Chip-tag">
            {trans.__('assumed – confirm or change')}
          </span>
        ) : text === '' ? (
          <span className="oad-Quiet">{trans.__('stays a symbol')}</span>
        ) : null}
      </span>
      <span
        className="oad-Quiet oad-Dim-where"
        title={brief(dim.where.join(', '), 1000)}
      >
        {visible(brief(dim.where.slice(0, 4).join(', '), 160))}
        {dim.where.length > 4 && ', …'}
      </span>
    </div>
  );
}
