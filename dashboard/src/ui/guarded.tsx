/** One part of a page that must not take the others down with it: when it cannot be drawn, something else stands in its place. */
import { Component, type ReactNode } from "react";

type Props = {
  /** What it shows: another value is tried anew. */
  readonly of: unknown;
  readonly instead: ReactNode;
  readonly children: ReactNode;
};
type State = { readonly hasFailed: boolean };

// React tells failures of drawing to classes only.
export class Guarded extends Component<Props, State> {
  override state: State = { hasFailed: false };

  static getDerivedStateFromError(): State {
    return { hasFailed: true };
  }

  override componentDidUpdate({ of }: Props): void {
    if (this.state.hasFailed && of !== this.props.of) this.setState({ hasFailed: false });
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.instead : this.props.children;
  }
}
