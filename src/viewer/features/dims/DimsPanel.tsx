import * as React from 'react';
import type { DimInfo } from '../../../schema';
import { formatExact } from '../../../core';
import { sizable } from '../../../core/expressions/rebind';
import { useDocument, useSession, useView } from '../../session/sessionContext';
import { shortLabel, escapeInvisible } from '../../ui/safeText';
import {
  withChange,
  givenSizes,
  parseSize,
  sizesOf,
  textOf,
  textsOf
} from '../../summary/dimTexts';
import { useTrans } from '../../i18n/translateContext';

/** Number of slider positions. */
const STEPS = 200;

/** Maximum of a dimension's slider, well above typical values. */
function sliderMaximum(dim: DimInfo): number {
  return Math.max(64, 8 * (dim.suggested ?? dim.value ?? 0));
}

/** Sliders are logarithmic: 1 to 2 matters as much as 512 to 1,024. */
function toStep(size: number, dim: DimInfo): number {
  return size < 1
    ? 0
    : Math.round((STEPS * Math.log(size)) / Math.log(sliderMaximum(dim)));
}

function fromStep(step: number, dim: DimInfo): number {
  return Math.max(1, Math.round(sliderMaximum(dim) ** (step / STEPS)));
}

/** Symbolic dimensions and their values; applying them updates all numbers. */
export function DimsPanel(): JSX.Element {
  const session = useSession();
  const { payload } = useDocument().model;
  const dims = sizable(payload);
  React.useEffect(() => void session.askBatch(), [session, payload]);
  if (dims.length === 0) {
    return <NoDims />;
  }
  if (
    dims === payload.dims &&
    session.provider.fixedDims &&
    !session.canPreview
  ) {
    return <FixedDims dims={dims} />;
  }
  const key = dims.map(dim => dim.name).join('\n');
  return <DimsForm key={key} dims={dims} offered={Boolean(payload.batch)} />;
}

/** All dimensions are fixed; whether the batch can still be changed is determined when this is shown. */
function NoDims(): JSX.Element {
  const trans = useTrans();
  const batch = useView(state => state.batch);
  return (
    <div className="oad-Drawer-none">
      <p>
        {trans.__(
          'This model has no symbolic dimensions: all input shapes are fixed.'
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

/** The values of the analysis, if they cannot be changed. */
function FixedDims({ dims }: { dims: readonly DimInfo[] }): JSX.Element {
  const trans = useTrans();
  return (
    <div className="oad-Dims">
      <p className="oad-Dims-note">
        {trans.__(
          'The model was analysed with these values. Open the model itself to try others.'
        )}
      </p>
      <ul>
        {dims.map(dim => (
          <li key={dim.name}>
            {escapeInvisible(dim.name)} = {dim.value ?? trans.__('free')}
            {dim.assumed ? ` (${trans.__('assumed')})` : ''}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Milliseconds without a change before an analysis starts, for sizes that need one. */
const REANALYSIS_DELAY_MS = 800;

function DimsForm(props: {
  dims: readonly DimInfo[];
  /** A batch fixed in the file: costs are those of the model rewritten for another batch. */
  offered: boolean;
}): JSX.Element {
  const { dims, offered } = props;
  const trans = useTrans();
  const session = useSession();
  const isLoading = useView(state => state.load.status === 'loading');
  const [texts, setTexts] = React.useState(() => textsOf(dims));
  const values = dims.map(textOf).join(' ');
  React.useEffect(() => {
    // Values from elsewhere; those of a slider are already in the inputs.
    setTexts(textsOf(dims));
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a list of the same values changes nothing
  }, [values]);
  /** Applies a slider's size at once; skipped frames do not matter. */
  const frame = React.useRef(0);
  const previewTimer = React.useRef<ReturnType<typeof setTimeout>>();
  React.useEffect(() => () => clearTimeout(previewTimer.current), []);
  const slide = (dim: DimInfo, size: number): void => {
    const next = withChange(dims, texts, dim.name, String(size));
    setTexts(next);
    const bound = givenSizes(dims, next, session.store.get().bindings);
    const show = async (): Promise<void> => {
      const isShown = await session.preview(sizesOf(dims, next), bound);
      if (!isShown && !fixed) {
        previewTimer.current = setTimeout(
          () => void session.bind(bound, true),
          REANALYSIS_DELAY_MS
        );
      }
    };
    clearTimeout(previewTimer.current);
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => void show());
  };
  const fixed = session.provider.fixedDims === true || offered;
  const valueOf = (dim: DimInfo): string => texts.get(dim.name) ?? '';
  const isBad = (dim: DimInfo): boolean =>
    valueOf(dim).trim() !== '' && parseSize(valueOf(dim)) === null;
  const bad = dims.some(isBad);
  const assumed = dims.some(dim => dim.assumed);
  const edited = dims.some(dim => valueOf(dim) !== textOf(dim));
  const apply = (): void => {
    const sizes = sizesOf(dims, texts);
    // Without an edit, the assumed sizes are confirmed; empty inputs stay symbols.
    const assumeOthers =
      edited && dims.every(({ name }) => Object.hasOwn(sizes, name));
    const { bindings } = session.store.get();
    const bound = assumeOthers ? givenSizes(dims, texts, bindings) : sizes;
    void session
      .preview(sizes, assumeOthers ? bound : undefined)
      .then(isShown => {
        if (!isShown && !fixed) {
          void session.bind(bound, assumeOthers);
        }
      });
  };
  return (
    <form
      className="oad-Dims"
      onSubmit={event => {
        event.preventDefault();
        if (!bad && !isLoading) {
          apply();
        }
      }}
    >
      {offered && (
        <p className="oad-Dims-note">
          {trans.__(
            'The batch is fixed in the file. Other values show the costs of the model rewritten for them (onnx-autodoc rebatch).'
          )}
        </p>
      )}
      {assumed && (
        <p className="oad-Dims-note">
          {trans.__(
            'Costs depend on these values. Those marked “assumed” are defaults; confirm or change them.'
          )}
        </p>
      )}
      <div className="oad-Dims-list">
        {leadersFirst(dims).map(dim => (
          <DimField
            key={dim.name}
            dim={dim}
            offered={offered}
            text={valueOf(dim)}
            bad={isBad(dim)}
            onChange={text => setTexts(withChange(dims, texts, dim.name, text))}
            onSlide={
              !dim.follows &&
              session.canPreview &&
              dims.every(other => other.value !== null)
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
          disabled={bad || isLoading || (!edited && !assumed)}
        >
          {assumed && !edited ? trans.__('Confirm') : trans.__('Apply')}
        </button>
        {!fixed && (
          <>
            <button
              type="button"
              className="oad-Button"
              disabled={isLoading || dims.every(dim => dim.value === null)}
              title={trans.__(
                'Clear all values; costs that depend on them become unknown'
              )}
              onClick={() => void session.bind({}, false)}
            >
              {trans.__('Clear values')}
            </button>
            <button
              type="button"
              className="oad-Button"
              disabled={isLoading}
              onClick={() => void session.bind({}, true)}
            >
              {trans.__('Use typical values')}
            </button>
          </>
        )}
        {isLoading && (
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
  offered: boolean;
  text: string;
  bad: boolean;
  onChange(text: string): void;
  /** Null if other sizes need an analysis first. */
  onSlide: ((size: number) => void) | null;
}): JSX.Element {
  const trans = useTrans();
  const { dim, text, bad, onSlide } = props;
  const size = parseSize(text);
  const id = React.useId();
  const assumed = dim.assumed && text === textOf(dim);
  return (
    <div className="oad-Dim">
      <label htmlFor={id} title={shortLabel(dim.name)}>
        <bdi>{shortLabel(dim.name, 80)}</bdi>
      </label>
      <input
        id={id}
        className="oad-Input"
        type="text"
        inputMode="numeric"
        value={text}
        placeholder={dim.suggested === null ? '' : String(dim.suggested)}
        readOnly={Boolean(dim.follows) && text !== ''}
        aria-invalid={bad}
        aria-describedby={`${id}-note`}
        onChange={event => props.onChange(event.currentTarget.value)}
      />
      {onSlide && size !== null ? (
        <input
          className="oad-Slider"
          type="range"
          aria-label={trans.__('Size of %1', shortLabel(dim.name, 80))}
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
            {trans.__('a whole number, 0 to %1', formatExact(2 ** 31))}
          </span>
        ) : dim.follows && text !== '' ? (
          <span className="oad-Quiet">{leaderNames(dim.follows, trans)}</span>
        ) : assumed ? (
          <span className="oad-Chip-tag">
            {trans.__('assumed – confirm or change')}
          </span>
        ) : props.offered ? (
          <span className="oad-Chip-tag">{trans.__('not in the file')}</span>
        ) : text === '' ? (
          <span className="oad-Quiet">{trans.__('stays a symbol')}</span>
        ) : null}
      </span>
      <span
        className="oad-Quiet oad-Dim-where"
        title={shortLabel(dim.where.join(', '), 1000)}
      >
        {escapeInvisible(shortLabel(dim.where.slice(0, 4).join(', '), 160))}
        {dim.where.length > 4 && ', …'}
      </span>
    </div>
  );
}

/** The dimensions that a size follows. */
function leaderNames(
  { factors }: NonNullable<DimInfo['follows']>,
  trans: ReturnType<typeof useTrans>
): string {
  const names = Object.keys(factors).map(name =>
    escapeInvisible(shortLabel(name, 40))
  );
  return names.length === 0
    ? trans.__('decided by the model')
    : trans.__('moves with %1', names.join(', '));
}

/** Independent dimensions before those that follow others. */
function leadersFirst(dims: readonly DimInfo[]): DimInfo[] {
  return [
    ...dims.filter(dim => !dim.follows),
    ...dims.filter(dim => dim.follows)
  ];
}
