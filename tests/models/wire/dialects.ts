/** One answer in each of the protocols: OpenAI's chat completions and responses, and Anthropic's messages. */
export type Dialect = "chat" | "responses" | "messages";
export type Said = { readonly text: string; readonly finish: "stop" | "length"; readonly model: string };

const TOKENS = { input: 120, output: 30 };

const chat = ({ text, finish, model }: Said) => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1_772_000_000,
  model: `${model}-2026`,
  choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: finish }],
  usage: { prompt_tokens: TOKENS.input, completion_tokens: TOKENS.output, total_tokens: 150 },
});

const responses = ({ text, finish, model }: Said) => ({
  id: "resp_1",
  object: "response",
  created_at: 1_772_000_000,
  status: finish === "stop" ? "completed" : "incomplete",
  incomplete_details: finish === "stop" ? null : { reason: "max_output_tokens" },
  model: `${model}-2026`,
  output: [
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [] }],
    },
  ],
  usage: { input_tokens: TOKENS.input, output_tokens: TOKENS.output, total_tokens: 150 },
});

const messages = ({ text, finish, model }: Said) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: `${model}-2026`,
  content: [{ type: "text", text }],
  stop_reason: finish === "stop" ? "end_turn" : "max_tokens",
  stop_sequence: null,
  usage: { input_tokens: TOKENS.input, output_tokens: TOKENS.output },
});

export function wholeOf(dialect: Dialect, said: Said): object {
  return { chat, responses, messages }[dialect](said);
}

export function errorBody(dialect: Dialect, message: string): object {
  const error = { type: "an_error", message, code: null, param: null };
  return dialect === "messages" ? { type: "error", error } : { error };
}

/** A text in pieces of a few characters. */
const piecesOf = (text: string): readonly string[] => text.match(/[\s\S]{1,7}/g) ?? [];

const event = (data: object, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;

function chatStream(said: Said): string {
  const { id, created, model, usage } = chat(said);
  const chunk = (choices: readonly object[], more: object = {}) =>
    event({ id, object: "chat.completion.chunk", created, model, choices, ...more });
  return [
    ...piecesOf(said.text).map((content) =>
      chunk([{ index: 0, delta: { role: "assistant", content }, finish_reason: null }]),
    ),
    chunk([{ index: 0, delta: {}, finish_reason: said.finish }]),
    chunk([], { usage }),
    "data: [DONE]\n\n",
  ].join("");
}

function responsesStream(said: Said): string {
  const response = responses(said);
  const [item] = response.output;
  const typed = (type: string, more: object) => event({ type, ...more }, type);
  return [
    typed("response.created", { response: { ...response, output: [], usage: null } }),
    typed("response.output_item.added", { output_index: 0, item: { ...item, content: [] } }),
    ...piecesOf(said.text).map((delta) =>
      typed("response.output_text.delta", { item_id: "msg_1", output_index: 0, content_index: 0, delta }),
    ),
    typed("response.output_item.done", { output_index: 0, item }),
    typed("response.completed", { response }),
  ].join("");
}

function messagesStream(said: Said): string {
  const { content: _, usage, stop_reason, ...start } = messages(said);
  const typed = (type: string, more: object = {}) => event({ type, ...more }, type);
  return [
    typed("message_start", { message: { ...start, content: [], stop_reason: null, usage } }),
    typed("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ...piecesOf(said.text).map((text) =>
      typed("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
    ),
    typed("content_block_stop", { index: 0 }),
    typed("message_delta", {
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: usage.output_tokens },
    }),
    typed("message_stop"),
  ].join("");
}

export function streamOf(dialect: Dialect, said: Said): string {
  return { chat: chatStream, responses: responsesStream, messages: messagesStream }[dialect](said);
}
