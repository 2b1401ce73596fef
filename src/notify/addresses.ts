/**
 * Addresses that messages may be sent to. An IP address must be known to be public: of IPv6 only global unicast, and
 * none that embeds an IPv4 address. A mail address is plain: no name, list or quoting that a header or SMTP could
 * interpret.
 */
import { BlockList, isIP } from "node:net";

/** https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry. */
const NOT_PUBLIC_V4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];
const PUBLIC_V6 = ["2000::/3"];
/** Teredo, ORCHID and other protocol assignments, documentation, 6to4, the AS112 servers, SRv6. */
const NOT_PUBLIC_V6 = ["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"];
/** Networks that an operator may allow: this machine and private networks; never link-local ones. */
const PRIVATE_V4 = ["127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"];
const PRIVATE_V6 = ["::1/128", "fc00::/7"];
const LOOPBACK_V4 = ["127.0.0.0/8"];
const LOOPBACK_V6 = ["::1/128"];

type Ranges = { readonly v4: BlockList; readonly v6: BlockList };

function listOf(ranges: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", bits] = range.split("/");
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

const ranges = (v4: readonly string[], v6: readonly string[]): Ranges => ({
  v4: listOf(v4, "ipv4"),
  v6: listOf(v6, "ipv6"),
});

/** One list per family: a combined list would check IPv4-mapped addresses against its IPv4 ranges only. */
const NOT_PUBLIC = ranges(NOT_PUBLIC_V4, NOT_PUBLIC_V6);
const PUBLIC = ranges([], PUBLIC_V6);
const PRIVATE = ranges(PRIVATE_V4, PRIVATE_V6);
const LOOPBACK = ranges(LOOPBACK_V4, LOOPBACK_V6);

type AddressKind = "public" | "loopback" | "private" | "refused";

export function kindOfAddress(address: string): AddressKind {
  const family = isIP(address);
  if (family === 0 || address.includes("%")) return "refused";
  const holds = ({ v4, v6 }: Ranges) =>
    family === 4 ? v4.check(address, "ipv4") : v6.check(address, "ipv6");
  if (holds(LOOPBACK)) return "loopback";
  if (holds(PRIVATE)) return "private";
  if (holds(NOT_PUBLIC)) return "refused";
  return family === 4 || holds(PUBLIC) ? "public" : "refused";
}

/** One plain mail address: no name, list or quoting, nothing that a header or an SMTP command could interpret. */
const LOCAL = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}$/;
const DOMAIN =
  /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

export function isMailAddress(value: unknown): value is string {
  if (typeof value !== "string") return false;
  const at = value.lastIndexOf("@");
  return LOCAL.test(value.slice(0, at)) && at > 0 && DOMAIN.test(value.slice(at + 1));
}

export type ResolveHost = (hostname: string) => Promise<readonly string[]>;
