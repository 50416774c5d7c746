// Writes powers.json: bases, exponents and the powers of this engine, each as
// the 16 hexadecimal digits of its bits. Run: node powers.mjs > powers.json
let state = 12345;
const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
const pairs = [];
const special = [0, -0, 1, -1, NaN, Infinity, -Infinity, 2, 0.5, -2, 3, -0.5, 1e308, 5e-324, 2 ** 53, 1.0000000001, 1024, -1075];
for (const a of special) for (const b of special) pairs.push([a, b]);
for (let i = 0; i < 1200; i++) {
  switch (i % 6) {
    case 0: pairs.push([Math.floor(random() * 1000) + 1, Math.floor(random() * 60) - 10]); break;
    case 1: pairs.push([random() * 100, random() * 40 - 20]); break;
    case 2: pairs.push([Math.floor(random() * 2 ** 31), Math.floor(random() * 8)]); break;
    case 3: pairs.push([1 + random() * 1e-3, random() * 1e5]); break;
    case 4: pairs.push([1 + random() * 1e-7, random() * 1e10]); break;
    default: pairs.push([10, Math.floor(random() * 640) - 325]);
  }
}
const bits = (x) => { const b = Buffer.alloc(8); b.writeDoubleBE(x); return b.toString("hex"); };
console.log(JSON.stringify(pairs.map(([a, b]) => [bits(a), bits(b), bits(a ** b)])).replaceAll("],[", "],\n["));
