import * as React from 'react';
import { formatBytes, formatExact } from '../../../../core';
import { Fact } from '../../common/facts';
import { useTrans } from '../../../i18n/translateContext';

/** A size in bytes; if null, says why it is unknown. */
export function Size(props: {
  label: string;
  bytes: number | null;
}): JSX.Element {
  const trans = useTrans();
  const { label, bytes } = props;
  return (
    <Fact
      label={label}
      note={
        bytes === null
          ? trans.__('a dimension has no value, or the data type no fixed size')
          : undefined
      }
    >
      {bytes === null || bytes < 1000
        ? formatBytes(bytes)
        : `${formatBytes(bytes)} (${formatExact(bytes)})`}
    </Fact>
  );
}
