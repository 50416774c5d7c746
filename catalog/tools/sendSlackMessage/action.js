// Upstream: incoming webhooks
// (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks).
const MAX_LENGTH = 4_000;
if (!text.trim() || text.length > MAX_LENGTH) {
  throw new Error(`text must have 1 to ${MAX_LENGTH} characters`);
}
if (!slackWebhookUrl.startsWith("https://hooks.slack.com/services/")) {
  throw new Error(
    "SLACK_WEBHOOK_URL must begin with https://hooks.slack.com/services/",
  );
}

// "<!channel>" and "<https://...|other name>" would mean more than they show.
const escaped = text
  .replaceAll("&", "&amp;")
  .replaceAll("<", "&lt;")
  .replaceAll(">", "&gt;");
const resp = await fetch(slackWebhookUrl, {
  method: "POST",
  headers: { "Content-Type": "application/json; charset=utf-8" },
  body: JSON.stringify({ text: escaped }),
  maxLength: 10_000,
});
const answer = resp.text().trim();
// Slack answers with the word ok, or with a word for what is wrong.
if (!resp.ok || answer !== "ok") {
  const why = /^[a-z_]{1,60}$/.test(answer) ? `: ${answer}` : "";
  throw new Error(`Slack answered with HTTP status ${resp.status}${why}`);
}
return { status: "ok" };
