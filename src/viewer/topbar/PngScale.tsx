import * as React from 'react';
import { useSession, useTrans } from '../context';
import { savePng } from '../export/saving';

/** As on the command line. */
const LEAST = 0.1;
const MOST = 16;

/** A PNG at any scale. */
export function PngScale({ close }: { close: () => void }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const [text, setText] = React.useState('3');
  const scale = Number(text);
  const sound = text.trim() !== '' && scale >= LEAST && scale <= MOST;
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
          min={LEAST}
          max={MOST}
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
