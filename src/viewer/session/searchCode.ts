/** Query grammar, matching and error messages; loaded on first use. */

export { findMatches } from '../../core/query/queryMatcher';
export { parseQuery } from '../../core/query/queryParser';
export { queryHelp, queryMessage } from './queryMessage';
