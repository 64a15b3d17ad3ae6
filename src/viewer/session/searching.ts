/** The grammar of queries, what matches them, and what is wrong with them: fetched when first asked. */

export { findAll } from '../../core/matcher';
export { parseQuery } from '../../core/query';
export { queryHelp, queryMessage } from './queryMessage';
