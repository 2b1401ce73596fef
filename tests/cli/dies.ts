// A program whose process is killed while its effect runs.
import { holdpoint } from "../../src/index.ts";

const hp = holdpoint({ agent: "mortal" });
const run = () => process.kill(process.pid, "SIGKILL");
await hp.gate({ name: "dies", policy: "approve", run })({}, { requestId: "d-1" });
