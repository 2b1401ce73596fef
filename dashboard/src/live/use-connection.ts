import { useSyncExternalStore } from "react";
import { connectionNow, onConnection } from "./connection.ts";
import type { Connection } from "./one-stream.ts";

export const useConnection = (): Connection => useSyncExternalStore(onConnection, connectionNow);
