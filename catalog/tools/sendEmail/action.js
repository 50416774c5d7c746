const addresses = (label, list) => {
  const found = (list || "")
    .split(",")
    .map((address) => address.trim())
    .filter(Boolean);
  for (const address of found) {
    if (
      !/^[^\s@<>,;:"()[\]\\]{1,64}@[^\s@<>,;:"()[\]\\]{1,255}$/.test(address)
    ) {
      throw new Error(
        `${label} must be addresses such as alice@example.com, not "${address}"`,
      );
    }
  }
  return found.join(", ");
};

if (!subject.trim() || /[\r\n]/.test(subject)) {
  throw new Error("subject must be one line that is not empty");
}
if (!body.trim()) {
  throw new Error("body must not be empty");
}
const draft = { type: "email", subject, body };
for (const [name, list] of [
  ["to", to],
  ["cc", cc],
]) {
  const checked = addresses(name, list);
  if (checked) {
    draft[name] = checked;
  }
}

// The code fence tells the client to show the draft to its user. Backticks
// are written as escapes, so that no text can end the fence.
const json = JSON.stringify(draft).replaceAll("`", "\\u0060");
return `The e-mail is ready to be checked and sent.\n\n\`\`\`saip-action-return-direct\n${json}\n\`\`\``;
