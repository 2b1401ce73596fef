/** Checks the whole journal of the tenant, and says what was checked. */
import { useMutation } from "@tanstack/react-query";
import type { AnswerOf } from "holdpoint/client";
import { client } from "../../api/client.ts";
import { may, useSession } from "../../api/session.ts";
import { countText, several } from "../../format/amounts.ts";
import { Button } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { Failure } from "../../ui/states.tsx";
import { When } from "../../ui/when.tsx";

type Verified = AnswerOf<"POST /api/journal/verify">;

const VERIFY_SECONDS = 600;

function Sealed({ verified: { counts, last_seal: last } }: { readonly verified: Verified }) {
  const open = counts["unsealed"] ?? 0;
  return (
    <>
      {open === 0 ? "All of them are sealed" : `${several(open, "entry", "entries")} not sealed yet`}
      {last === null ? "; there is no seal yet" : `; seal ${countText(last.n)}, `}
      {last === null ? null : <When at={last.at} />}.
    </>
  );
}

function Checked({ verified }: { readonly verified: Verified }) {
  const { ok, counts, findings, total } = verified;
  return (
    <div
      role="status"
      className={`flex gap-3 rounded-base p-4 text-small ${ok ? "bg-go-wash text-go" : "bg-stop-wash text-stop"}`}
    >
      <Icon name={ok ? "seal" : "warn"} className="size-6" />
      <div className="flex min-w-0 flex-col gap-1">
        <p className="font-semibold">
          {ok
            ? "The journal is whole: nothing was changed, removed or put in between."
            : `${several(total, "fault")} found`}
        </p>
        <p>
          Checked {several(counts["entries"] ?? 0, "entry", "entries")} in{" "}
          {several(counts["streams"] ?? 0, "stream")}, each hash and chain, and{" "}
          {several(counts["seals"] ?? 0, "seal")} with their signatures. <Sealed verified={verified} />
        </p>
        {ok ? null : <JsonView value={findings} label="What was found" className="mt-2 text-ink" />}
      </div>
    </div>
  );
}

export function Verify() {
  const session = useSession();
  const verify = useMutation({
    mutationFn: () => client.journal.verify({}, { timeoutSeconds: VERIFY_SECONDS }),
  });
  if (!may(session, "journal:verify")) return null;
  return (
    <div className="flex flex-col items-start gap-3">
      <Button icon="seal" isBusy={verify.isPending} onClick={() => verify.mutate()}>
        {verify.isPending ? "Checking every entry …" : "Verify the journal"}
      </Button>
      {verify.error === null ? null : <Failure error={verify.error} />}
      {verify.data === undefined ? null : <Checked verified={verify.data} />}
    </div>
  );
}
