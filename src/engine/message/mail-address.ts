/** One plain mail address: no name, no list, no quoting, nothing that a header or an SMTP command could read as more. */
const LOCAL = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}$/;
const DOMAIN =
  /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

export function isMailAddress(value: unknown): value is string {
  if (typeof value !== "string") return false;
  const at = value.lastIndexOf("@");
  return LOCAL.test(value.slice(0, at)) && at > 0 && DOMAIN.test(value.slice(at + 1));
}
