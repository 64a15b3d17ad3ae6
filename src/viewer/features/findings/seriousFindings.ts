import type { RiskSignal } from '../../../schema';

/** Findings that deserve attention: medium and above. */
export function seriousCount(findings: readonly RiskSignal[]): number {
  return findings.filter(({ severity }) =>
    ['high', 'medium'].includes(severity)
  ).length;
}
