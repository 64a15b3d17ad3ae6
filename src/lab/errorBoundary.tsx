import * as React from 'react';

interface IErrorBoundaryProps {
  /** Called if the children cannot be rendered. */
  onFault(why: string): void;
  children: React.ReactNode;
}

/** An error boundary that renders nothing after an error and reports it. */
export class ErrorBoundary extends React.Component<
  IErrorBoundaryProps,
  { blown: boolean }
> {
  override state = { blown: false };

  static getDerivedStateFromError(): { blown: boolean } {
    return { blown: true };
  }

  override componentDidCatch(error: unknown): void {
    this.props.onFault(error instanceof Error ? error.message : String(error));
  }

  override render(): React.ReactNode {
    return this.state.blown ? null : this.props.children;
  }
}
