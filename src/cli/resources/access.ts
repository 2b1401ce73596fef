/** Who may do what: people, API keys and tenants. */
import type { Person } from "../../people/contract.ts";
import type { ApiKey, IssuedKey } from "../../people/keys/contract.ts";
import { loginAddress } from "../../people/rules/credential.ts";
import type { CreatedTenant, Tenant } from "../../people/tenants/contract.ts";
import { linkServer, readPerson, SERVER_FLAG } from "../login.ts";
import { type About, act, type FlagValues, listing, type Resource } from "../resource.ts";
import { usage } from "../shell/command.ts";
import { formatMoment } from "../shell/terminal.ts";

const listed = (list: readonly string[]): string => list.join(",") || "-";

/** `none` takes away what there was. */
function readMember(given: FlagValues): FlagValues {
  const read = (value: unknown) => (Array.isArray(value) && value.join() === "none" ? [] : value);
  const { mail, ...rest } = Object.fromEntries(Object.entries(given).map(([name, one]) => [name, read(one)]));
  return mail === undefined ? rest : { ...rest, mail: mail === "none" ? null : mail };
}

function readChange(given: FlagValues): FlagValues {
  if (Object.keys(given).length > 0) return readMember(given);
  throw usage("Nothing to change was said.", "Use --name, --mail, --role or --group.");
}

const personText = ({ person, name, roles, groups, mail }: Person): string =>
  [person, name, listed(roles), listed(groups), mail ?? "-"].join("  ");

const PERSON = { what: "A person's name", read: readPerson } as const;
const statement = (verb: string, done: string) =>
  act({
    ...{ flags: ["reason"], needs: ["reason"], word: PERSON },
    says: (_after, { id }) => `${done}: ${id}.`,
    json: (_after, { id }) => ({ person: id, [verb]: true }),
  });

const MEMBER = ["name", "mail", "role", "group"];
export const peopleResource: Resource = {
  name: "people",
  argument: "person",
  summary: "List, add and change people: roles, groups, mail",
  details: [
    "people (or people list) shows everybody.",
    "people add ann --role supervisor --group finance --mail ann@example.com",
    "people change ann --role supervisor --role auditor replaces the roles; --role none takes all of them away.",
    "Roles: admin, poster, executor, supervisor, verifier, auditor. There is always an admin once there was one.",
    "In a pipe each line is tab-separated: person, name, roles, groups, mail, standing, since.",
  ],
  examples: ["holdpoint people add ann --role supervisor --mail ann@example.com"],
  flags: {
    name: { value: "<text>", summary: "add and change: the name that people read" },
    mail: { value: "<address>", summary: "add and change: where messages go; none: nowhere" },
    role: {
      value: "<role>",
      field: "roles",
      summary: "add and change: what they are there for; may be repeated",
      repeatable: true,
    },
    group: {
      value: "<name>",
      field: "groups",
      summary: "add and change: a group of people; may be repeated",
      repeatable: true,
    },
    reason: { value: "<text>", summary: "remove, suspend and reinstate: why; it is recorded" },
  },
  parts: {
    list: listing<Person>({
      read: ({ hp }) => hp.people.list(),
      columns: [
        ["PERSON", ({ person }) => person],
        ["NAME", ({ name }) => name],
        ["ROLES", ({ roles }) => listed(roles)],
        ["GROUPS", ({ groups }) => listed(groups)],
        ["MAIL", ({ mail }) => mail ?? "-"],
        ["STANDING", ({ suspended }) => (suspended ? "suspended" : "good")],
        ["SINCE", ({ since }) => ({ at: since })],
      ],
      givesWay: ["SINCE", "NAME", "MAIL"],
      empty: "The list of people is empty.",
    }),
    add: act<Person>({
      flags: MEMBER,
      word: { ...PERSON, field: "person" },
      input: readMember,
      says: (person) => `In the list of people: ${personText(person)}`,
    }),
    change: act<Person>({
      flags: MEMBER,
      word: PERSON,
      input: readChange,
      says: (person) => `Changed: ${personText(person)}`,
    }),
    remove: statement("remove", "Removed: nothing that they hold is worth anything from now on"),
    suspend: statement("suspend", "Suspended: their votes, keys and sessions count for nothing from now on"),
    reinstate: statement("reinstate", "Reinstated: their votes, keys and sessions count again"),
  },
};

const until = ({ expiresAt }: ApiKey): string =>
  expiresAt === null ? "until it is revoked" : `until ${formatMoment(expiresAt)}`;

/** Only the key goes to standard output, so that it can be piped to where it is stored. */
const keyLines = ({ key, text }: IssuedKey, { where }: { readonly where: string }, said: string) => [
  { note: said },
  { exact: text },
  { note: "It is shown this once and kept nowhere. Give it to the program as HOLDPOINT_API_KEY;" },
  { note: "over HTTP it is sent as: Authorization: Bearer <key>" },
  { note: `If it gets lost: npx holdpoint keys revoke ${key.id} --reason "…"${where}` },
];

export const keysResource: Resource = {
  name: "keys",
  id: "key",
  argument: "principal or id",
  summary: "List, issue, rotate and revoke API keys",
  details: [
    "keys (or keys list) shows those in use; --all also those that are over.",
    "keys issue agent:mailer --name web-1 --role executor --for 90d prints the key, this once.",
    "keys rotate <id> prints another that may do the same; the old one works an hour longer, or as --overlap says.",
    "keys revoke <id> --reason <text> ends it. An agent's or service's key never decides, with any role.",
    "In a pipe each line of a list is tab-separated: id, status, principal, name, roles, scopes, expiry, issued by.",
  ],
  examples: ["holdpoint keys issue agent:refunds --name prod --for 90d"],
  flags: {
    name: { value: "<text>", summary: "issue: what tells it from others" },
    role: {
      value: "<role>",
      field: "roles",
      summary: "issue: of an agent or a service; may be repeated",
      repeatable: true,
    },
    scope: {
      value: "<scope>",
      field: "scopes",
      summary: "issue: only these of what the roles bring; may be repeated",
      repeatable: true,
    },
    for: {
      value: "<span>",
      summary:
        "issue and rotate: how long it lasts, such as 90d; until revoked, or as long as the old one, unless set",
    },
    overlap: {
      value: "<span>",
      mayBeZero: true,
      summary: "rotate: how long the old one still works, such as 2h or 0; 1h unless set",
    },
    reason: { value: "<text>", summary: "revoke: why; it is recorded" },
    of: { value: "<principal>", field: "principal", summary: "list: only theirs" },
    all: { summary: "list: also expired and revoked keys" },
    limit: { value: "<n>", summary: "list: how many to show; 50 unless set" },
  },
  parts: {
    list: listing<ApiKey>({
      flags: ["of", "all", "limit"],
      query: ({ all: _, ...query }) => query,
      keeps: ({ status }, { all }) => all === true || status === "active",
      columns: [
        ["ID", ({ id }) => id],
        ["STATUS", ({ status }) => status],
        ["PRINCIPAL", ({ principal }) => principal],
        ["NAME", ({ name }) => name],
        ["ROLES", ({ roles }) => roles.join(",") || "the person's"],
        ["SCOPES", ({ scopes }) => scopes?.join(",") ?? "all"],
        ["EXPIRES", ({ expiresAt }) => ({ at: expiresAt })],
        ["ISSUED BY", ({ by }) => by],
      ],
      givesWay: ["ISSUED BY", "SCOPES", "EXPIRES"],
      empty: "There is no key in use.",
    }),
    issue: act<IssuedKey>({
      flags: ["name", "role", "scope", "for"],
      needs: ["name"],
      word: { what: "For whom? A principal", field: "principal" },
      says: (issued, about) =>
        keyLines(issued, about, `A key for ${issued.key.principal}, ${until(issued.key)}:`),
    }),
    rotate: act<IssuedKey>({
      flags: ["overlap", "for"],
      word: "id",
      reads: "after",
      says(issued, about) {
        const { id, expiresAt } = about.item as ApiKey;
        const { key } = issued;
        const works = `${id} works until ${formatMoment(expiresAt ?? 0)}.`;
        return keyLines(issued, about, `${works} In its place, for ${key.principal}, ${until(key)}:`);
      },
    }),
    revoke: act<ApiKey>({
      flags: ["reason"],
      needs: ["reason"],
      word: "id",
      says: ({ principal }, { id }) =>
        `Revoked: ${id}, of ${principal}. A server that runs refuses it within a second.`,
    }),
  },
};

const loginUrl = ({ login }: CreatedTenant, { given, folder }: About): string =>
  loginAddress(linkServer(given["url"] as string | undefined, folder), login.link);

const TENANT = { what: "A tenant's name" } as const;

export const tenantsResource: Resource = {
  name: "tenants",
  argument: "tenant",
  summary: "List, add and close tenants",
  details: [
    "tenants (or tenants list) shows all of them, by name.",
    "tenants add acme --admin ann makes one and prints the link by which its first admin logs in, this once.",
    'tenants close acme --reason "moved away" is for good: no key or session of it works, nothing in it starts, what it holds is kept.',
    "At a server only an admin of the home tenant does this.",
    "In a pipe each line is tab-separated: tenant, home or open or closed, by, at, reason.",
  ],
  examples: ["holdpoint tenants add acme --admin ann"],
  flags: {
    admin: { value: "<person>", summary: "add: its first admin" },
    url: {
      value: "<address>",
      summary: `add: the server's address, for the link; that of --server, else ${SERVER_FLAG}, unless set`,
    },
    for: { value: "<span>", summary: "add: how long the link can be used, such as 30m; at most a day" },
    reason: { value: "<text>", summary: "close: why; it is recorded" },
  },
  parts: {
    list: listing<Tenant>({
      columns: [
        ["TENANT", ({ name }) => name],
        ["STATUS", ({ home, status }) => (home ? "home" : status)],
        ["BY", ({ by }) => by ?? "-"],
        ["AT", ({ at }) => ({ at })],
        ["REASON", ({ reason }) => reason ?? "-"],
      ],
      givesWay: ["AT", "BY"],
      empty: "There are no tenants.",
    }),
    add: act<CreatedTenant>({
      flags: ["admin", "url", "for"],
      needs: ["admin"],
      word: { ...TENANT, field: "name" },
      input({ url, admin, ...rest }, { folder }) {
        linkServer(url as string | undefined, folder);
        return { ...rest, admin: readPerson(String(admin)) };
      },
      says: (created, about) => [
        {
          note: `The tenant ${about.id} is there. ${created.admin} is its first admin and logs in with this,`,
        },
        {
          note: `once, until ${formatMoment(created.login.expiresAt)}. It is shown this once and kept nowhere:`,
        },
        { exact: loginUrl(created, about) },
      ],
      json: (created, about) => ({
        tenant: created.tenant,
        admin: created.admin,
        url: loginUrl(created, about),
        expiresAt: created.login.expiresAt,
      }),
    }),
    close: act<Tenant>({
      flags: ["reason"],
      needs: ["reason"],
      word: TENANT,
      says: (_tenant, { id }) =>
        `Closed: ${id}. All access ends and nothing starts; a server that runs refuses its keys within a second. What it holds is kept.`,
    }),
  },
};
