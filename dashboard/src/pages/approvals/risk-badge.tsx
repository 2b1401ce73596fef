import { Badge } from "../../ui/badge.tsx";
import { RISK_TONES } from "./words.ts";

/** How dangerous policy thinks it is. */
export function RiskBadge({ level }: { readonly level: keyof typeof RISK_TONES }) {
  return <Badge status={`${level} risk`} tone={RISK_TONES[level]} />;
}
