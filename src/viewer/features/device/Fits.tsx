import * as React from 'react';
import { Icon } from '../../ui/Icon';
import { useTrans } from '../../i18n/translateContext';

/** Shows whether the model fits a device, by a word and a sign as well as by colour. */
export function Fits(props: {
  /** Null if the need or the memory is unknown. */
  fits: boolean | null;
  title?: string;
}): JSX.Element {
  const trans = useTrans();
  const { fits, title } = props;
  const [name, text] =
    fits === null
      ? (['help', trans.__('memory unknown')] as const)
      : fits
        ? (['check', trans.__('fits')] as const)
        : (['error', trans.__('does not fit')] as const);
  return (
    <span className="oad-Fits" data-fits={String(fits)} title={title}>
      <Icon name={name} size={12} />
      {text}
    </span>
  );
}
