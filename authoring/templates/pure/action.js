// The body of an async function: the parameters are variables, and what is
// returned is the result. What is thrown is told to the model.
const pace = wordsPerMinute ?? 220;
if (pace < 50 || pace > 1000) {
  throw new Error("wordsPerMinute must be from 50 to 1000");
}

const words = text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
if (words.length === 0) {
  throw new Error("text holds no words");
}

return {
  words: words.length,
  sentences: (text.match(/[.!?]+(\s|$)/g) ?? []).length || 1,
  minutes: Math.ceil(words.length / pace),
};
