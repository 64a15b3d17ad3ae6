import * as React from 'react';
import { useSession } from '../../session/sessionContext';
import { savePng } from '../../export/lazyExports';
import { useTrans } from '../../i18n/translateContext';

/** As on the command line. */
const MIN_SCALE = 0.1;
const MAX_SCALE = 16;

/** Exports a PNG at any scale. */
export function PngScale({ close }: { close: () => void }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const [text, setText] = React.useState('3');
  const scale = Number(text);
  const sound = text.trim() !== '' && scale >= MIN_SCALE && scale <= MAX_SCALE;
  return (
    <form
      className="oad-Export-row"
      onSubmit={event => {
        event.preventDefault();
        if (sound) {
          void savePng(session, scale);
          close();
        }
      }}
    >
      <label>
        {trans.__('PNG scale')}
        <input
          className="oad-Input"
          type="number"
          min={MIN_SCALE}
          max={MAX_SCALE}
          step="any"
          value={text}
          onChange={event => setText(event.target.value)}
        />
      </label>
      <button type="submit" className="oad-Button" disabled={!sound}>
        {trans.__('Save')}
      </button>
    </form>
  );
}
