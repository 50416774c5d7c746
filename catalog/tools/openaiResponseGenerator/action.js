// Upstream: Responses API, "Create a model response"
// (https://platform.openai.com/docs/api-reference/responses/create).
if (!prompt.trim()) {
  throw new Error("prompt must not be empty");
}
const name = (model || "").trim() || "gpt-5.4-mini";
if (!/^[\w.:-]{1,100}$/.test(name)) {
  throw new Error(`model must be the name of an OpenAI model, not "${model}"`);
}

const resp = await fetch("https://api.openai.com/v1/responses", {
  method: "POST",
  headers: {
    Authorization: `Bearer ${openaiApiKey}`,
    "Content-Type": "application/json",
    Accept: "application/json",
  },
  // What is sent is not to be kept as a conversation.
  body: JSON.stringify({ model: name, input: prompt, store: false }),
  maxLength: 2_000_000,
});
if (!resp.ok) {
  let why = "";
  try {
    why = resp.json()?.error?.message ?? "";
  } catch {
    // The status alone has to do.
  }
  throw new Error(
    `OpenAI answered with HTTP status ${resp.status}${why ? `: ${why}` : ""}`,
  );
}

const answer = resp.json();
if (answer?.status !== "completed") {
  const why =
    answer?.error?.message ?? answer?.incomplete_details?.reason ?? "";
  throw new Error(`the answer of OpenAI is not complete${why && `: ${why}`}`);
}
const items = Array.isArray(answer.output) ? answer.output : [];
const textsOf = (itemType, member, partType) =>
  items
    .filter((item) => item?.type === itemType)
    .flatMap((item) => item[member] ?? [])
    .filter((part) => part?.type === partType)
    .map((part) => part.text)
    .join("\n");
const refusal = items
  .flatMap((item) => item?.content ?? [])
  .find((part) => part?.type === "refusal");
if (refusal) {
  throw new Error(`the model refused: ${refusal.refusal}`);
}
const content = textsOf("message", "content", "output_text");
if (!content) {
  throw new Error("OpenAI answered without a text");
}
return {
  content,
  reasoning: textsOf("reasoning", "summary", "summary_text") || null,
};
