import type { RiskSignal } from '../../../schema';

/** Number of findings of medium severity and above. */
export function seriousCount(findings: readonly RiskSignal[]): number {
  return findings.filter(({ severity }) =>
    ['high', 'medium'].includes(severity)
  ).length;
}
