/** What a call is told whose instance closes. */
import { HoldpointError } from "../kernel/errors.ts";

/** `action` where it is written down already, and may have been started. */
export function closed(action?: string): HoldpointError {
  const what = "Holdpoint was closed while the call waited.";
  if (action === undefined) return new HoldpointError("closed", what);
  const data = `${action} is written down, and may have been started; whoever comes next finds out.`;
  const next =
    "Open Holdpoint again and call with the same request id: what is there is found, not repeated.";
  return new HoldpointError("closed", what, { data, next });
}
