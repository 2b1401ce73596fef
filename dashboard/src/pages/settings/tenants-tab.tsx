/** The tenants of this instance, for those who look after them. */
import { infiniteQueryOptions, useInfiniteQuery } from "@tanstack/react-query";
import type { AnswerOf } from "holdpoint/client";
import { useState } from "react";
import { client } from "../../api/client.ts";
import { byOf, nameOf, useSession } from "../../api/session.ts";
import { useDeed } from "../../api/use-deed.ts";
import { momentText } from "../../format/times.ts";
import { Asked } from "../../ui/asked.tsx";
import { Badge } from "../../ui/badge.tsx";
import { DialogButton, type Dialogue } from "../../ui/dialog-button.tsx";
import { TextField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { MoreRows } from "../../ui/more-rows.tsx";
import { Panel } from "../../ui/panel.tsx";
import { ReasonButton } from "../../ui/reason-button.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";

type Tenant = AnswerOf<"GET /api/tenants">["tenants"][number];

/** No stream of this tenant says that another one came: it is asked anew whenever the list of people is. */
const tenantsQuery = infiniteQueryOptions({
  queryKey: ["people", "tenants"],
  queryFn: ({ pageParam }) => client.tenants.list({ limit: 100, cursor: pageParam }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
});

function AddTenant({ onShow, onClose }: Dialogue) {
  const session = useSession();
  const [name, setName] = useState("");
  const [admin, setAdmin] = useState("");
  const first = admin.trim().replace(/^person:/, "");
  const deed = useDeed({
    does: () => client.tenants.add({ name: name.trim(), admin: `person:${first}`, ...byOf(session) }),
    touches: "people",
    onDone: ({ login: { link, expires_at, person } }) =>
      onShow({
        label: `Opens a session for ${person}`,
        text: `${window.location.origin}/login#${link}`,
        note: `It works once, until ${momentText(expires_at)}. Send it to the tenant's first admin and to nobody else.`,
      }),
  });
  return (
    <Form
      deed={deed}
      submit="Make the tenant"
      isReady={name.trim() !== "" && first !== ""}
      onSubmit={() => deed.run(undefined)}
      onCancel={onClose}
    >
      <TextField
        label="Name"
        hint="Small letters, digits and hyphens; for good."
        value={name}
        spellCheck={false}
        autoCapitalize="off"
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        label="Its first admin"
        placeholder="ann"
        value={admin}
        spellCheck={false}
        autoCapitalize="off"
        onChange={(event) => setAdmin(event.target.value)}
      />
    </Form>
  );
}

function AddButton() {
  return (
    <DialogButton label="Make a tenant" title="Make a tenant">
      {(dialogue) => <AddTenant {...dialogue} />}
    </DialogButton>
  );
}

function TenantRow({ of: { name, home, status, by, at, reason } }: { readonly of: Tenant }) {
  const session = useSession();
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-2 px-4 py-3 sm:px-5">
      <div className="min-w-0 grow">
        <p className="flex flex-wrap items-center gap-2">
          <Strange text={name} className="font-semibold" />
          {home ? <Badge status="home" tone="note" /> : null}
          <Badge status={status} tone={status === "open" ? "go" : "plain"} />
        </p>
        <p className="text-small text-soft">
          {by === null ? "begun by a program" : <Strange text={nameOf(by)} />}
          {at === null ? null : (
            <>
              , <When at={at} />
            </>
          )}
          {reason === null ? null : (
            <>
              : <Strange isProse text={reason} />
            </>
          )}
        </p>
      </div>
      {home || status === "closed" ? null : (
        <ReasonButton
          label="Close"
          title={`Close ${name}`}
          says="For good: no credential of it works, none is made, nothing in it starts. What it holds is kept."
          submit="Close it for good"
          touches="people"
          told="The tenant is closed."
          does={(why) => client.tenants.close(name, { reason: why, ...byOf(session) })}
        />
      )}
    </li>
  );
}

export function TenantsTab() {
  const list = useInfiniteQuery(tenantsQuery);
  return (
    <Panel isFlush title="Tenants" aside={<AddButton />}>
      <Asked query={list}>
        {({ pages }) => (
          <ul className="divide-y divide-line">
            {pages
              .flatMap((page) => page.tenants)
              .map((tenant) => (
                <TenantRow key={tenant.name} of={tenant} />
              ))}
          </ul>
        )}
      </Asked>
      <MoreRows list={list} />
    </Panel>
  );
}
