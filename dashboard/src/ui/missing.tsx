/** What was asked for by its address, and is not there. */
import { isClientError } from "holdpoint/client";
import type { ReactNode } from "react";
import { Page } from "./page.tsx";
import { Empty } from "./states.tsx";

export const isMissing = (error: unknown): boolean => isClientError(error) && error.status === 404;

type Props = {
  /** "approval", "action" … */
  readonly what: string;
  /** Where to go instead. */
  readonly children: ReactNode;
};

export function Missing({ what, children }: Props) {
  return (
    <Page title={what.slice(0, 1).toUpperCase() + what.slice(1)}>
      <Empty icon="search" title={`There is no such ${what}`}>
        It may be another tenant's, or the address is not whole. {children}
      </Empty>
    </Page>
  );
}
