import * as React from 'react';
import { TranslateContext } from '../i18n/translateContext';

/** What panels show. A panel that failed is tried again when it changes. */
export const SubjectContext = React.createContext<unknown>(null);

interface IPanelBoundaryState {
  readonly fault: string | null;
  readonly subject: unknown;
}

/** The fault of one panel, in its place, and a way to try again: the rest of the viewer goes on. */
export function PanelBoundary(props: React.PropsWithChildren): JSX.Element {
  return <Boundary {...props} subject={React.useContext(SubjectContext)} />;
}

class Boundary extends React.Component<
  React.PropsWithChildren<{ subject: unknown }>,
  IPanelBoundaryState
> {
  static override contextType = TranslateContext;
  declare context: React.ContextType<typeof TranslateContext>;
  override state: IPanelBoundaryState = {
    fault: null,
    subject: this.props.subject
  };

  static getDerivedStateFromError(error: unknown): { fault: string } {
    return { fault: error instanceof Error ? error.message : String(error) };
  }

  static getDerivedStateFromProps(
    { subject }: { subject: unknown },
    state: IPanelBoundaryState
  ): IPanelBoundaryState | null {
    return Object.is(subject, state.subject) ? null : { fault: null, subject };
  }

  override render(): React.ReactNode {
    const { fault } = this.state;
    if (fault === null) {
      return this.props.children;
    }
    return (
      <p className="oad-Drawer-none" role="alert">
        {this.context.__('This part of the viewer failed: %1', fault)}{' '}
        <button
          type="button"
          className="oad-Button"
          onClick={() => this.setState({ fault: null })}
        >
          {this.context.__('Try again')}
        </button>
      </p>
    );
  }
}
