import * as React from 'react';

interface IErrorBoundaryProps {
  /** What is inside cannot be drawn. */
  onFault(why: string): void;
  children: React.ReactNode;
}

/** Keeps a fault in what it holds from its surroundings: shows nothing then, and tells. */
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
