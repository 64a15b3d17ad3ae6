/** The functions that JSX compiles to in our bundles: as variables, they take less code than as members. */
import * as React from 'react';

export const createElement = React.createElement;
export const Fragment = React.Fragment;
