// Whether this container can work, as an exit status: asks the server's readiness, or the address that is given.
const port = process.env.HOLDPOINT_PORT || "8000";
const [address = `http://127.0.0.1:${port}/api/ready`] = process.argv.slice(2);

try {
  const { ok, status } = await fetch(address, { signal: AbortSignal.timeout(4_000) });
  if (!ok) throw new Error(`status ${status}`);
} catch (error) {
  console.error(`${address}: ${error.cause?.code ?? error.message}`);
  process.exitCode = 1;
}
