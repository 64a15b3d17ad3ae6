import { piece } from '../../lazy/lazily';

/** The report as a component, for a page that prints it. */
export const reportText = piece(
  async () => (await import('./ReportText')).ReportText
);
