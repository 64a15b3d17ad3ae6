import { createContext, useContext } from 'react';
import { IDENTITY, type ITranslate } from './translate';

export const TranslateContext = createContext<ITranslate>(IDENTITY);

export function useTrans(): ITranslate {
  return useContext(TranslateContext);
}
