/** The cases beside a policy: `refunds.test.yaml` beside `refunds.yaml`. */
import { caseKeysAt, casesSchema, type PolicyCases } from "../../core/policy/cases.ts";
import { issueFaults } from "../../core/policy/shape.ts";
import { locate, type PolicyFinding, parseYaml } from "./read-policy.ts";

export type CasesReading =
  | { readonly ok: true; readonly cases: PolicyCases; readonly lines: readonly number[] }
  | { readonly ok: false; readonly findings: readonly PolicyFinding[] };

/** With the line on which each case begins. */
export function readCases(text: string): CasesReading {
  const { faults, value, ...source } = parseYaml(text);
  if (faults.length > 0) return { ok: false, findings: faults };
  const parsed = casesSchema.safeParse(value, { reportInput: true });
  if (!parsed.success)
    return {
      ok: false,
      findings: issueFaults(parsed.error.issues, caseKeysAt).map((fault) => locate(source, fault)),
    };
  const lines = parsed.data.cases.map(
    (_, index) => locate(source, { path: ["cases", index], message: "" }).line,
  );
  return { ok: true, cases: parsed.data, lines };
}

/** `policies/refunds.test.yaml` is of `policies/refunds.yaml`, and so with `.yml` and `.json`. */
export function policyFileOf(casesFile: string): string | undefined {
  const name = casesFile.replace(/\.test\.(ya?ml|json)$/, ".$1");
  return name === casesFile ? undefined : name;
}
