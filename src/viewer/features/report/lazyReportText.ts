import { lazyCode } from '../../lazy/lazyCode';

/** The report as a component, for a page that prints it. */
export const reportText = lazyCode(
  async () => (await import('./ReportText')).ReportText
);
