// safety.fs sees the workspace and nothing else. A test begins with a copy of
// the folder fixtures/.
const lines = safety.fs.readText(path).split(/\r?\n/);
const wanted = (word ?? "").toLowerCase();

const open = [];
let done = 0;
lines.forEach((line, i) => {
  const item = /^\s*- \[([ xX])\] (.*)$/.exec(line);
  if (!item) {
    return;
  }
  if (item[1] !== " ") {
    done++;
  } else if (item[2].toLowerCase().includes(wanted)) {
    open.push({ line: i + 1, text: item[2].trim() });
  }
});
return { path, open, done };
