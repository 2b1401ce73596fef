/** The desk: put together, and started. */
import "./style/desk.css";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { isClientError } from "holdpoint/client";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { keepLive } from "./live/live.ts";
import { router } from "./router.tsx";
import { applyTheme } from "./style/theme.ts";

const MOST_TRIES = 2;

applyTheme();

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Whatever changes is told by the live stream; without it, whoever comes back to the page sees what stands.
      staleTime: 30_000,
      // Whoever is offline is told so at once: nothing waits unseen, and no decision is sent later by itself.
      networkMode: "always",
      retry: (failures, error) => failures < MOST_TRIES && (!isClientError(error) || error.retryable),
    },
    mutations: { retry: false, networkMode: "always" },
  },
});

const place = document.getElementById("root");
if (place === null) throw new Error("The page has no place for the desk.");

keepLive(queries);
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
