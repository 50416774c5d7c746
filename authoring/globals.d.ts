// What the code of a tool finds in the toolwarrant runtime beside the standard
// library of the language, for editors. docs/runtime.md says what each of it
// does. `fetch` is there in any network mode but "blocked", `safety.fs` with
// fileRead or fileWrite.

/** The arguments of this call that are present, in the declared order. */
declare const args: Args;

/** The parameters of this tool; tool.d.ts fills it in. */
interface Args {}

declare const console: Console;

/** Lines go to the result of `toolwarrant run` and to the log, masked. */
interface Console {
  debug(...values: unknown[]): void;
  error(...values: unknown[]): void;
  info(...values: unknown[]): void;
  log(...values: unknown[]): void;
  warn(...values: unknown[]): void;
}

/** A value that is there at once and may be awaited all the same. */
type Now<T> = T & PromiseLike<T>;

/** Fetches a URL that the decision of this call allows. */
declare function fetch(url: string | URL, init?: FetchInit): Now<FetchResponse>;

interface FetchInit {
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
  headers?: Record<string, string> | Iterable<[string, string]>;
  /** Dropped for GET and HEAD. For an object use JSON.stringify. */
  body?: string | Uint8Array | ArrayBuffer | URLSearchParams;
  /** How many bytes of the body to return. */
  maxLength?: number;
  /** The first byte of the body to return. */
  startIndex?: number;
}

interface FetchResponse {
  readonly contentType: string | null;
  readonly headers: FetchHeaders;
  /** Where to go on when the body is truncated. */
  readonly nextStartIndex: number | null;
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly truncated: boolean;
  /** After redirects. */
  readonly url: string;
  arrayBuffer(): Now<ArrayBuffer>;
  bytes(): Now<Uint8Array>;
  /**
   * The response itself; fails when the status is none of success or the body
   * was cut. advice says what to do, by status or "truncated".
   */
  check(who?: string, advice?: Record<string, string>): this;
  json(): any;
  text(): Now<string>;
}

/** Names are in lower case. */
interface FetchHeaders extends Iterable<[string, string]> {
  entries(): IterableIterator<[string, string]>;
  forEach(each: (value: string, name: string) => void): void;
  get(name: string): string | null;
  has(name: string): boolean;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
}

declare const safety: Safety;

interface Safety {
  /**
   * The members of values that rules names, as each rule reads them; fails
   * where one is not what its rule says. What is absent, null or "" is the
   * default.
   */
  check<R extends Record<string, Rule>>(
    values: object,
    rules: R,
  ): { [K in keyof R]: Checked<R[K]> };
  readonly fs: FileSystem;
  readonly parser: Parser;
  readonly time: Time;
}

/** What a value must be, with the keywords of JSON Schema. */
interface Rule {
  default?: unknown;
  /** What follows "must be" in the message, in place of what the rule says. */
  description?: string;
  /** Of a text, the texts that it may be. */
  enum?: readonly string[];
  /**
   * Of a text: a day of the calendar as YYYY-MM-DD or YYYYMMDD, or what can
   * stand between two slashes of a URL as it is.
   */
  format?: "date" | "basic-date" | "segment";
  maximum?: number;
  minimum?: number;
  /** Text by default. A number may be written as text. */
  type?: "integer" | "number" | "string";
}

type Checked<R extends Rule> =
  | (R["type"] extends "integer" | "number" ? number : string)
  | (R extends { default: infer D } ? D : undefined);

/** Times as a calendar and the clocks of a zone have them. */
interface Time {
  /** Milliseconds since 1970 of an ISO 8601 time; name is for messages. */
  parse(text: string, name?: string): number;
  zoned(time: Date | number, zone?: string): ZonedTime;
}

interface ZonedTime {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  millisecond: number;
  weekday: string;
  offset: string;
  iso: string;
}

/** Files below the base folder. Paths are relative to it, with slashes. */
interface FileSystem {
  appendText(path: string, content: string): string;
  copy(from: string, to: string, options?: { overwrite?: boolean }): string;
  cut(
    path: string,
    options: { fields: string | number[]; delimiter?: string; regex?: boolean },
  ): string[];
  delete(path: string): boolean;
  deleteDir(path: string): number;
  editText(
    path: string,
    old: string,
    text: string,
    all?: boolean,
  ): { path: string; replacements: number };
  exists(path: string): boolean;
  find(
    dir?: string,
    glob?: string,
    options?: { maxDepth?: number; type?: "file" | "dir" },
  ): string[];
  grep(
    pattern: string,
    path: string,
    options?: { caseInsensitive?: boolean; limit?: number; numbered?: boolean },
  ): string[];
  lineCount(path: string): number;
  list(dir?: string): string[];
  move(from: string, to: string, options?: { overwrite?: boolean }): string;
  readBytes(path: string): Uint8Array;
  readRoots(): string[];
  readText(path: string): string;
  /** The same as searchInFiles. */
  search: FileSystem["searchInFiles"];
  searchInFiles(
    dir: string | undefined,
    glob: string | undefined,
    pattern: string,
    options?: { caseInsensitive?: boolean; limit?: number; maxDepth?: number },
  ): { file: string; line: number; text: string }[];
  slice(path: string, start?: number, end?: number): string[];
  sort(
    path: string,
    options?: {
      reverse?: boolean;
      numeric?: boolean;
      caseInsensitive?: boolean;
      unique?: boolean;
    },
  ): string[];
  stat(path: string): { size: number; mtime: number; directory: boolean };
  workspace(): string;
  writeBytes(path: string, bytes: Uint8Array): string;
  writeText(path: string, content: string): string;
}

interface Parser {
  csv(text: string, options?: { header?: boolean; delimiter?: string }): any[];
  /**
   * The entries of an answer of data.go.kr, in whichever form; fails where it
   * is a refusal. advice ends the message of one that is about the key; raw
   * gives an answer of no known form as it is.
   */
  dataGoKr(
    text: string,
    options?: { advice?: string; raw?: boolean },
  ): DataGoKrAnswer;
  html(text: string, baseURL?: string): HtmlDocument;
  xml(text: string): XmlElement;
  yaml(text: string): any;
}

interface DataGoKrAnswer {
  code: string | null;
  totalCount: number | null;
  pageNo: number | null;
  numOfRows: number | null;
  items: any[];
  raw: any;
}

interface XmlElement {
  tag: string;
  attrs: Record<string, string>;
  text: string;
  children: XmlElement[];
}

/** An element of a page, with the names of jsoup. */
interface HtmlElement {
  absUrl(name: string): string;
  after(html: string): this;
  append(html: string): this;
  attr(name: string): string;
  attr(name: string, value: string): this;
  attributes(): Record<string, string>;
  before(html: string): this;
  child(index: number): HtmlElement;
  children(): HtmlElements;
  childrenSize(): number;
  className(): string;
  closest(selector: string): HtmlElement | null;
  empty(): this;
  equals(other: unknown): boolean;
  firstElementChild(): HtmlElement | null;
  getElementById(id: string): HtmlElement | null;
  getElementsByAttribute(name: string): HtmlElements;
  getElementsByClass(name: string): HtmlElements;
  getElementsByTag(name: string): HtmlElements;
  hasAttr(name: string): boolean;
  hasClass(name: string): boolean;
  hasText(): boolean;
  html(): string;
  id(): string;
  is(selector: string): boolean;
  lastElementChild(): HtmlElement | null;
  next(): HtmlElement | null;
  nextElementSibling(): HtmlElement | null;
  outerHtml(): string;
  ownText(): string;
  parent(): HtmlElement | null;
  parents(): HtmlElements;
  prepend(html: string): this;
  prev(): HtmlElement | null;
  previousElementSibling(): HtmlElement | null;
  remove(): void;
  removeAttr(name: string): this;
  select(selector: string): HtmlElements;
  selectFirst(selector: string): HtmlElement | null;
  siblings(): HtmlElements;
  tagName(): string;
  text(): string;
  toJSON(): unknown;
  toString(): string;
  val(): string;
}

interface HtmlDocument extends HtmlElement {
  body(): HtmlElement;
  head(): HtmlElement;
  title(): string;
}

interface HtmlElements extends Iterable<HtmlElement> {
  attr(name: string): string;
  each(each: (element: HtmlElement, index: number) => void): this;
  eachAttr(name: string): string[];
  eachText(): string[];
  eq(index: number): HtmlElements;
  filter(keep: (element: HtmlElement, index: number) => boolean): HtmlElement[];
  first(): HtmlElement | null;
  forEach(each: (element: HtmlElement, index: number) => void): void;
  get(index: number): HtmlElement;
  hasAttr(name: string): boolean;
  hasClass(name: string): boolean;
  html(): string;
  is(selector: string): boolean;
  isEmpty(): boolean;
  last(): HtmlElement | null;
  readonly length: number;
  map<T>(to: (element: HtmlElement, index: number) => T): T[];
  next(): HtmlElements;
  not(selector: string): HtmlElements;
  outerHtml(): string;
  prev(): HtmlElements;
  remove(): this;
  select(selector: string): HtmlElements;
  size(): number;
  text(): string;
  toArray(): HtmlElement[];
  toJSON(): unknown;
  toString(): string;
}

declare const Java: Java;

/** Host classes that the decision of this call allows. */
interface Java {
  type(className: string): any;
}

declare const crypto: Crypto;

interface Crypto {
  getRandomValues<T extends ArrayBufferView>(array: T): T;
  randomUUID(): string;
  readonly subtle: SubtleCrypto;
}

type HashName = "SHA-1" | "SHA-256" | "SHA-384" | "SHA-512";
type Hash = HashName | { name: HashName };
type Data = string | ArrayBuffer | ArrayBufferView;

interface SubtleCrypto {
  digest(hash: Hash, data: Data): Now<Uint8Array>;
  importKey(
    format: "raw",
    key: Data,
    algorithm: { name: "HMAC"; hash: Hash },
    extractable: boolean,
    usages: ("sign" | "verify")[],
  ): Now<HmacKey>;
  sign(
    algorithm: "HMAC" | { name: "HMAC" },
    key: HmacKey,
    data: Data,
  ): Now<Uint8Array>;
  verify(
    algorithm: "HMAC" | { name: "HMAC" },
    key: HmacKey,
    signature: Data,
    data: Data,
  ): boolean;
}

interface HmacKey {
  readonly hmac: unique symbol;
}

declare function atob(text: string): string;
declare function btoa(text: string): string;
declare function queueMicrotask(task: () => void): void;
declare function structuredClone<T>(
  value: T,
  options?: { transfer?: ArrayBuffer[] },
): T;
/** At most 1,000 wait at once; those that wait when the code ends do not run. */
declare function setTimeout(
  task: (...values: any[]) => void,
  milliseconds?: number,
  ...values: any[]
): number;
declare function clearTimeout(id?: number): void;

declare class TextEncoder {
  readonly encoding: string;
  encode(text?: string): Uint8Array;
  encodeInto(text: string, into: Uint8Array): { read: number; written: number };
}

declare class TextDecoder {
  constructor(
    label?: string,
    options?: { fatal?: boolean; ignoreBOM?: boolean },
  );
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(
    data?: ArrayBuffer | ArrayBufferView,
    options?: { stream?: boolean },
  ): string;
}

declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string, base?: string): boolean;
  static parse(url: string, base?: string): URL | null;
  hash: string;
  host: string;
  hostname: string;
  href: string;
  readonly origin: string;
  password: string;
  pathname: string;
  port: string;
  protocol: string;
  search: string;
  readonly searchParams: URLSearchParams;
  username: string;
  toJSON(): string;
  toString(): string;
}

declare class URLSearchParams implements Iterable<[string, string]> {
  constructor(
    init?: string | Record<string, string> | Iterable<[string, string]>,
  );
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  entries(): IterableIterator<[string, string]>;
  forEach(
    each: (value: string, name: string, all: URLSearchParams) => void,
  ): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  keys(): IterableIterator<string>;
  set(name: string, value: string): void;
  sort(): void;
  toString(): string;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}
