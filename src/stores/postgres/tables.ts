/**
 * The layout of the tables and the rights on them. All queries run under one role that owns nothing:
 *
 * T1. Every table with a `tid` has row-level security, forced, so that any statement of a transaction reaches only the
 *     rows of the one tenant that the transaction named in `holdpoint.tenant`.
 * T2. A transaction that named `holdpoint.reach = 'ids'` instead may read the tables that hold only ids, over all
 *     tenants: which tenants exist and which streams moved. It reads no entry, name, view, secret or artifact.
 * T3. Entries can be added and read. The role has no right to change or delete one.
 */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const TENANT = "tid = (SELECT nullif(current_setting('holdpoint.tenant', true), '')::int4)";
const IDS = "(SELECT current_setting('holdpoint.reach', true)) = 'ids'";

/** A table, its rights, and whether its rows belong to a tenant; `ids`: readable over all tenants (T2). */
type Table = { readonly name: string; readonly rights: string; readonly rows?: "tenant" | "ids" };

const TABLES: readonly Table[] = [
  { name: "hp_meta", rights: "SELECT, UPDATE" },
  { name: "hp_views", rights: "SELECT, UPDATE" },
  { name: "hp_epochs", rights: "SELECT, INSERT, UPDATE, DELETE" },
  { name: "hp_tenants", rights: "SELECT, INSERT", rows: "ids" },
  { name: "hp_streams", rights: "SELECT, INSERT, UPDATE", rows: "ids" },
  { name: "hp_moves", rights: "SELECT, INSERT", rows: "ids" },
  { name: "hp_entries", rights: "SELECT, INSERT", rows: "tenant" },
  { name: "hp_names", rights: "SELECT, INSERT, UPDATE", rows: "tenant" },
  { name: "hp_artifacts", rights: "SELECT, INSERT", rows: "tenant" },
  { name: "hp_snapshots", rights: "SELECT, INSERT, UPDATE", rows: "tenant" },
  { name: "hp_seals", rights: "SELECT, INSERT", rows: "tenant" },
  { name: "hp_secrets", rights: "SELECT, INSERT, UPDATE", rows: "tenant" },
];

/** Stream numbers are taken in blocks of this size. */
export const STREAM_NUMBERS = 64;

type TableOwner = { readonly schema: string; readonly role: string };

/**
 * Streams have integer keys. A head row is updated in place with every entry, and needs room on its page. In an index
 * that leads to one row the tenant is the last column: no plan can mistake it for a way to the rows of a tenant.
 */
const CREATE = (schema: string): string => `
CREATE TABLE ${schema}.hp_meta (key text COLLATE "C" PRIMARY KEY, value text NOT NULL);
CREATE TABLE ${schema}.hp_views (view text COLLATE "C" PRIMARY KEY, version int4 NOT NULL, built int8);
CREATE TABLE ${schema}.hp_epochs (id text COLLATE "C" PRIMARY KEY, holder text NOT NULL, until int8 NOT NULL);
CREATE TABLE ${schema}.hp_tenants (
  tid int4 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant text COLLATE "C" NOT NULL UNIQUE
);
CREATE SEQUENCE ${schema}.hp_sid INCREMENT BY ${STREAM_NUMBERS};
CREATE TABLE ${schema}.hp_streams (
  sid int8 PRIMARY KEY, tid int4 NOT NULL, key text COLLATE "C" NOT NULL, whole text,
  seq int4 NOT NULL, hash bytea NOT NULL, at int8 NOT NULL, UNIQUE (key, tid)
) WITH (fillfactor = 60);
CREATE TABLE ${schema}.hp_moves (position int8 PRIMARY KEY, tid int4 NOT NULL, sids int8[] NOT NULL);
CREATE TABLE ${schema}.hp_entries (
  position int8 NOT NULL, sid int8 NOT NULL, tid int4 NOT NULL, seq int4 NOT NULL, hash bytea NOT NULL, salt bytea,
  header text COLLATE "C" NOT NULL, body text COLLATE "C", PRIMARY KEY (sid, seq)
);
CREATE UNIQUE INDEX hp_entries_position ON ${schema}.hp_entries (tid, position);
CREATE TABLE ${schema}.hp_names (
  key text COLLATE "C" NOT NULL, tid int4 NOT NULL, stream text COLLATE "C" NOT NULL, PRIMARY KEY (key, tid)
);
CREATE TABLE ${schema}.hp_artifacts (
  tid int4 NOT NULL, hash bytea NOT NULL, packed bool NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (tid, hash)
);
ALTER TABLE ${schema}.hp_artifacts ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE TABLE ${schema}.hp_snapshots (
  sid int8 PRIMARY KEY, tid int4 NOT NULL, seq int4 NOT NULL, version int4 NOT NULL, hash bytea NOT NULL, state bytea NOT NULL
);
CREATE TABLE ${schema}.hp_seals (
  tid int4 NOT NULL, n int4 NOT NULL, at int8 NOT NULL, position int8 NOT NULL, entries int8 NOT NULL,
  jws text NOT NULL, leaves text NOT NULL, PRIMARY KEY (tid, n)
);
ALTER TABLE ${schema}.hp_seals ALTER COLUMN leaves SET STORAGE EXTERNAL;
CREATE INDEX hp_seals_position ON ${schema}.hp_seals (tid, position);
CREATE TABLE ${schema}.hp_secrets (
  tid int4 NOT NULL, key text COLLATE "C" NOT NULL, sealed bytea NOT NULL, PRIMARY KEY (tid, key)
);
`;

export function firstLayout({ schema, role }: TableOwner): string {
  return [
    CREATE(schema),
    `INSERT INTO ${schema}.hp_meta (key, value) VALUES ('base', '0');`,
    `GRANT USAGE ON SCHEMA ${schema} TO ${role};`,
    `GRANT USAGE ON SEQUENCE ${schema}.hp_sid TO ${role};`,
    ...TABLES.map((table) => guarded({ schema, role }, table)),
  ].join("\n");
}

/** A view's table. `leased`: when the claim on a row expires. */
export function viewLayout({ schema, role }: TableOwner, table: string): string {
  return `
CREATE TABLE IF NOT EXISTS ${schema}.${table} (
  sid int8 PRIMARY KEY, tid int4 NOT NULL, bucket text COLLATE "C" NOT NULL, at int8 NOT NULL, due int8, leased int8,
  data text NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX IF NOT EXISTS ${table}_bucket ON ${schema}.${table} (tid, bucket, at, sid);
CREATE INDEX IF NOT EXISTS ${table}_at ON ${schema}.${table} (tid, at, sid);
CREATE INDEX IF NOT EXISTS ${table}_due ON ${schema}.${table} (tid, due) WHERE due IS NOT NULL;
DROP POLICY IF EXISTS hp_tenant ON ${schema}.${table};
${guarded({ schema, role }, { name: table, rights: "SELECT, INSERT, UPDATE, DELETE", rows: "tenant" })}`;
}

function guarded({ schema, role }: TableOwner, { name, rights, rows }: Table): string {
  const table = `${schema}.${name}`;
  const grant = `REVOKE ALL ON ${table} FROM PUBLIC; GRANT ${rights} ON ${table} TO ${role};`;
  if (rows === undefined) return grant;
  const policy = `CREATE POLICY hp_tenant ON ${table} USING (${TENANT}) WITH CHECK (${TENANT});`;
  const ids = `CREATE POLICY hp_ids ON ${table} FOR SELECT USING (${IDS});`;
  const add = `CREATE POLICY hp_add ON ${table} FOR INSERT WITH CHECK (${IDS});`;
  const force = `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY; ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;`;
  const more = rows === "ids" ? [ids, ...(name === "hp_tenants" ? [add] : [])] : [];
  return [grant, policy, ...more, force].join("\n");
}
