import * as React from 'react';
import type { DimInfo } from '../../schema';
import { formatExact } from '../../core';
import { useDocument, useSession, useTrans, useView } from '../context';
import { isBinding } from '../state/snapshot';
import { brief, visible } from '../ui/text';

/** Reads a size; null when the text is none. */
export function parseSize(text: string): number | null {
  const value = /^\d{1,10}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return isBinding(value) ? value : null;
}

/** Positions of a slider. */
const STEPS = 200;

/** Where a dimension's slider ends: well beyond what is usual. */
function most(dim: DimInfo): number {
  return Math.max(64, 8 * dim.suggested);
}

/** Sliders are logarithmic: 1 to 2 matters as much as 512 to 1,024. */
function toStep(size: number, dim: DimInfo): number {
  return Math.round((STEPS * Math.log(size)) / Math.log(most(dim)));
}

function fromStep(step: number, dim: DimInfo): number {
  return Math.max(1, Math.round(most(dim) ** (step / STEPS)));
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
  if (session.provider.fixedDims && !session.canPreview) {
    return <FixedDims dims={dims} />;
  }
  const key = dims.map(dim => dim.name).join('\n');
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
  const values = dims.map(textOf).join(' ');
  React.useEffect(() => {
    // Values that came from elsewhere; those of a slider are in the boxes already.
    setTexts(new Map(dims.map(dim => [dim.name, textOf(dim)])));
  }, [values]);
  /** Shows a slider's size at once; a frame that is overtaken does not matter. */
  const frame = React.useRef(0);
  const slide = (dim: DimInfo, size: number): void => {
    const next = new Map(texts).set(dim.name, String(size));
    setTexts(next);
    const sizes = Object.fromEntries(
      dims.map(({ name }) => [name, parseSize(next.get(name) ?? '') ?? 0])
    );
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => void session.preview(sizes));
  };
  const fixed = session.provider.fixedDims === true;
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
    void session.preview(given).then(shown => {
      if (!shown && !fixed) {
        void session.bind(given, false);
      }
    });
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
            onSlide={
              session.canPreview && dims.every(other => other.value !== null)
                ? size => slide(dim, size)
                : null
            }
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
        {!fixed && (
          <>
            <button
              type="button"
              className="oad-Button"
              disabled={busy || dims.every(dim => dim.value === null)}
              title={trans.__(
                'Costs become unknown where they depend on a symbol'
              )}
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
          </>
        )}
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
  /** Null where other sizes need an analysis first. */
  onSlide: ((size: number) => void) | null;
}): JSX.Element {
  const trans = useTrans();
  const { dim, text, bad, onSlide } = props;
  const size = parseSize(text);
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
      {onSlide && size !== null ? (
        <input
          className="oad-Slider"
          type="range"
          aria-label={trans.__('Size of %1', brief(dim.name, 80))}
          aria-valuetext={String(size)}
          min={0}
          max={STEPS}
          value={toStep(size, dim)}
          onChange={event =>
            onSlide(fromStep(Number(event.currentTarget.value), dim))
          }
        />
      ) : (
        <span />
      )}
      <span id={`${id}-note`} className="oad-Dim-note">
        {bad ? (
          <span className="oad-mod-error">
            {trans.__('a whole number, 1 to %1', formatExact(2 ** 31))}
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
