/**
 * Who may be meant by a request. A page of another site, or a name that somebody has pointed at this address, is not.
 *
 * H1. `Host` is a loopback name, the very address the connection came in on, or a name the server was told.
 * H2. `Origin`, where there is one, is the same host and port as `Host`, or a name the server was told.
 */
import { HoldpointError } from "../../kernel/errors.ts";

export type Hosts = {
  /** Names beside loopback, in lower case: `name` or `name:port`. */
  readonly allowed: readonly string[];
};

export type Reached = {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** The address of this end of the connection. */
  readonly localAddress: string | undefined;
};

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::(\d{1,5}))?$/;

type Name = { readonly name: string; readonly port: string | undefined; readonly text: string };

function parse(host: string): Name | undefined {
  const text = host.toLowerCase();
  const [, name, port] = HOST.exec(text) ?? [];
  return name === undefined ? undefined : { name: name.replace(/\.$/, ""), port, text };
}

const isTold = ({ allowed }: Hosts, { name, text }: Name): boolean =>
  allowed.includes(name) || allowed.includes(text);

/** An IPv4 address that came in on an IPv6 socket has a prefix. */
function isSame(localAddress: string | undefined, name: string): boolean {
  if (localAddress === undefined) return false;
  const plain = localAddress.replace(/^::ffff:/, "");
  return name === plain || name === `[${plain}]`;
}

function originName(origin: string): Name | undefined {
  const [, host] = /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase()) ?? [];
  return host === undefined ? undefined : parse(host);
}

function isOwnOrigin(hosts: Hosts, host: Name, origin: string): boolean {
  const name = originName(origin);
  return name !== undefined && (name.text === host.text || isTold(hosts, name));
}

const foreign = (header: string): HoldpointError =>
  new HoldpointError("foreign_origin", `The request's ${header} is not a name of this server.`);

export function checkHost(hosts: Hosts, { host, origin, localAddress }: Reached): void {
  const name = host === undefined ? undefined : parse(host);
  const isOwn =
    name !== undefined && (LOOPBACK.has(name.name) || isTold(hosts, name) || isSame(localAddress, name.name));
  if (!isOwn) throw foreign("Host");
  if (origin !== undefined && !isOwnOrigin(hosts, name, origin)) throw foreign("Origin");
}
