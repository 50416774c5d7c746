// Sums up the lines of an order book: "id;day;customer;item;quantity;price".
const lines = text.split("\n").map((l) => l.trim()).filter((l) => l !== "");
if (lines.length < 2) {
  throw new Error("the text has no orders");
}
const head = lines[0].split(";");
const columns = {};
head.forEach((name, i) => {
  columns[name.toLowerCase()] = i;
});
for (const name of ["id", "day", "customer", "item", "quantity", "price"]) {
  if (!(name in columns)) {
    throw new Error(`column ${name} is missing`);
  }
}
const orders = [];
const problems = [];
for (let n = 1; n < lines.length; n++) {
  const cells = lines[n].split(";");
  const quantity = Number(cells[columns.quantity]);
  const price = Number(cells[columns.price]);
  if (!Number.isInteger(quantity) || quantity <= 0 || Number.isNaN(price)) {
    problems.push({ line: n + 1, text: lines[n] });
    continue;
  }
  orders.push({
    id: cells[columns.id],
    day: cells[columns.day],
    customer: cells[columns.customer].toLowerCase(),
    item: cells[columns.item],
    total: Math.round(quantity * price * 100) / 100,
  });
}
const seen = new Set();
const unique = orders.filter((o) => {
  const fresh = !seen.has(o.id);
  seen.add(o.id);
  return fresh;
});
const byCustomer = new Map();
for (const o of unique) {
  const c = byCustomer.get(o.customer) ?? { customer: o.customer, orders: 0, total: 0, items: {} };
  c.orders++;
  c.total += o.total;
  c.items[o.item] = (c.items[o.item] || 0) + 1;
  byCustomer.set(o.customer, c);
}
const ranking = [...byCustomer.values()]
  .map((c) => ({ ...c, total: Number(c.total.toFixed(2)), items: Object.keys(c.items).sort() }))
  .sort((a, b) => b.total - a.total || a.customer.localeCompare(b.customer));
const days = unique.map((o) => o.day).sort();
return {
  orders: unique.length,
  doubled: orders.length - unique.length,
  from: days[0],
  to: days[days.length - 1],
  best: ranking.slice(0, top ?? 3),
  problems: problems.length > 0 ? problems : undefined,
};
