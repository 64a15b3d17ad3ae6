import * as React from 'react';

interface IErrorBoundaryProps {
  /** Called if the children cannot be rendered. */
  onError(message: string): void;
  children: React.ReactNode;
}

/** An error boundary that renders nothing after an error and reports it. */
export class ErrorBoundary extends React.Component<
  IErrorBoundaryProps,
  { failed: boolean }
> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override componentDidCatch(error: unknown): void {
    this.props.onError(error instanceof Error ? error.message : String(error));
  }

  override render(): React.ReactNode {
    return this.state.failed ? null : this.props.children;
  }
}
