/** The record of an effect's outcome: what ran, by whose permission, on whose word. Signed when somebody asks. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { type Receipt, receiptQuery } from "../../api/actions.ts";
import { client } from "../../api/client.ts";
import { exactText } from "../../format/times.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { copyText, NOT_COPIED } from "../../ui/copy-text.ts";
import { Facts } from "../../ui/facts.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { Known } from "../../ui/known.tsx";
import { Principals } from "../../ui/principals.tsx";
import { saveText } from "../../ui/save-text.ts";
import { Failure, Loading } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import { toast } from "../../ui/toaster.tsx";
import { RAN_FROM } from "./action-words.ts";

function ReceiptFacts({ receipt }: { readonly receipt: Receipt }) {
  const by = receipt.approved_by;
  return (
    <Facts
      facts={[
        { name: "Outcome", value: <Badge status={receipt.status} /> },
        {
          name: "On the word of",
          value: receipt.by.startsWith("epo_") ? "the process that ran it" : <Strange text={receipt.by} />,
        },
        receipt.reason === "" ? null : { name: "Because", value: <Strange isProse text={receipt.reason} /> },
        { name: "What ran", value: RAN_FROM[receipt.executed_from] ?? receipt.executed_from },
        { name: "Permitted by", value: by.length === 0 ? "policy alone" : <Principals of={by} /> },
        { name: "Attempts", value: receipt.attempt },
        { name: "Began", value: exactText(receipt.started_at) },
        { name: "Ended", value: exactText(receipt.ended_at) },
        { name: "Effect", value: <Known id={receipt.effect_id} /> },
        { name: "Arguments", value: <Known id={receipt.args_digest} isShort /> },
        receipt.result_digest === null
          ? null
          : { name: "Result", value: <Known id={receipt.result_digest} isShort /> },
        { name: "Binding", value: <Known id={receipt.binding} isShort /> },
        { name: "In the journal", value: <Known id={`${receipt.stream}#${receipt.seq}`} /> },
      ]}
    />
  );
}

function Signed({ id }: { readonly id: string }) {
  const sign = useMutation({ mutationFn: () => client.receipts.sign(id) });
  const text = sign.data === undefined ? "" : JSON.stringify(sign.data, null, 2);
  const copy = async () => {
    if (await copyText(text)) toast("The signed receipt is copied.");
    else toast(NOT_COPIED, "stop");
  };
  if (sign.data === undefined)
    return (
      <div className="flex flex-col items-start gap-2">
        {sign.error === null ? null : <Failure error={sign.error} />}
        <Button size="small" icon="seal" isBusy={sign.isPending} onClick={() => sign.mutate()}>
          Sign this receipt
        </Button>
      </div>
    );
  return (
    <div className="flex flex-col gap-2">
      <p className="text-small text-soft">
        Signed, with the proof that the journal which holds it was sealed. Anybody can check it without this
        server: <code className="font-mono">node verifier/verify.mjs receipt.json</code>
      </p>
      <div className="flex flex-wrap gap-2">
        <Button size="small" icon="down" onClick={() => saveText(`receipt-${id}.json`, text)}>
          Download
        </Button>
        <Button size="small" icon="copy" onClick={() => void copy()}>
          Copy
        </Button>
      </div>
      <JsonView value={sign.data} label="The signed receipt" lines={6} />
    </div>
  );
}

export function ReceiptPanel({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery(receiptQuery(id));
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading lines={4} />;
  return (
    <div className="flex flex-col gap-4">
      <ReceiptFacts receipt={data} />
      <Signed id={id} />
    </div>
  );
}
