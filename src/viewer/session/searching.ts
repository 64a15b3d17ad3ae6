/** The grammar of queries, what matches them, and what is wrong with them: fetched when first asked. */

export { findMatches } from '../../core/query/queryMatcher';
export { parseQuery } from '../../core/query/queryParser';
export { queryHelp, queryMessage } from './queryMessage';
