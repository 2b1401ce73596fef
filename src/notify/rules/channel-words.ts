/** Made by `npm run generate` from `channels.ts`: the words of each channel, for the terminal and the desk. */
export const CHANNEL_WORDS = {
  webhook: {
    kind: "webhook",
    title: "Webhook",
    address: "shown",
    example: "https://example.com/holdpoint",
    hint: "Messages are signed. The secret is shown once, when the endpoint is added.",
  },
  mail: {
    kind: "mail",
    title: "Mail",
    address: "people",
    example: "approvers, role:supervisor, ann@example.com",
    hint: "Addresses, person:, role:, group:, or approvers: the people who may decide.",
  },
  slack: {
    kind: "slack",
    title: "Slack",
    address: "secret",
    example: "https://hooks.slack.com/services/…",
    hint: "The address of an incoming webhook.",
  },
  teams: {
    kind: "teams",
    title: "Teams",
    address: "secret",
    example: "https://….logic.azure.com/workflows/…",
    hint: "The address of a workflow that starts when a webhook request is received.",
  },
} as const;
