if (!title.trim()) {
  throw new Error("title must not be empty");
}
const begins = safety.time.parse(start, "start");
const ends = safety.time.parse(end, "end");
if (ends <= begins) {
  throw new Error("end must be after start");
}
const draft = {
  type: "calendar",
  title,
  start: new Date(begins).toISOString(),
  end: new Date(ends).toISOString(),
};
if (location) {
  draft.location = location;
}
if (description) {
  draft.description = description;
}

// The code fence tells the client to show the draft to its user. Backticks
// are written as escapes, so that no text can end the fence.
const json = JSON.stringify(draft).replaceAll("`", "\\u0060");
return `The event is ready to be checked and added to the calendar.\n\n\`\`\`saip-action-return-direct\n${json}\n\`\`\``;
