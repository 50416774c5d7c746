// The greedy algorithm of Myers (1986): how far down both texts one gets with
// d differences, for each diagonal k = (lines of a) - (lines of b).
const MAX_DIFFERENCES = 300;

const linesOf = (text) => (text === "" ? [] : text.split(/\r\n|\n/));
const from = linesOf(a);
const to = linesOf(b);

let head = 0;
while (head < from.length && head < to.length && from[head] === to[head]) {
  head++;
}
let tail = 0;
while (
  tail < from.length - head &&
  tail < to.length - head &&
  from[from.length - 1 - tail] === to[to.length - 1 - tail]
) {
  tail++;
}
const height = from.length - head - tail;
const width = to.length - head - tail;

// step says whether the way to diagonal k comes from the one above it, by a
// line of b, and not from the one below, by a line of a.
const byInsertion = (reached, d, k) =>
  k === -d || (k !== d && reached[k - 1] < reached[k + 1]);

const search = () => {
  const history = [];
  const reached = { 1: 0 };
  for (let d = 0; d <= Math.min(MAX_DIFFERENCES, height + width); d++) {
    history.push({ ...reached });
    for (let k = -d; k <= d; k += 2) {
      let x = byInsertion(reached, d, k) ? reached[k + 1] : reached[k - 1] + 1;
      while (
        x < height &&
        x - k < width &&
        from[head + x] === to[head + x - k]
      ) {
        x++;
      }
      reached[k] = x;
      if (x >= height && x - k >= width) {
        return history;
      }
    }
  }
  throw new Error(
    `the texts differ in more than ${MAX_DIFFERENCES} lines; compare them in parts`,
  );
};

// Back along the way that was found.
const history = search();
const middle = [];
let x = height;
let y = width;
for (let d = history.length - 1; d >= 0; d--) {
  const k = x - y;
  const inserted = byInsertion(history[d], d, k);
  const before = inserted ? k + 1 : k - 1;
  const startX = d === 0 ? 0 : history[d][before];
  const startY = d === 0 ? 0 : startX - before;
  while (x > startX && y > startY) {
    x--;
    y--;
    middle.push({ op: "=", line: from[head + x] });
  }
  if (d > 0) {
    middle.push(
      inserted
        ? { op: "+", line: to[head + startY] }
        : { op: "-", line: from[head + startX] },
    );
    x = startX;
    y = startY;
  }
}
middle.reverse();

// Among changes without a line in common, what went stands before what came.
const same = (line) => ({ op: "=", line });
const result = from.slice(0, head).map(same);
let came = [];
for (const change of middle) {
  if (change.op === "+") {
    came.push(change);
    continue;
  }
  if (change.op === "=") {
    result.push(...came);
    came = [];
  }
  result.push(change);
}
result.push(...came);
return result.concat(from.slice(from.length - tail).map(same));
