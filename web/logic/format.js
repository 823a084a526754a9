// How values are shown. Pure: the language and the moment are arguments.

// Controls, and signs that reorder or hide what stands around them.
const HARMFUL =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** Text of an agent, made harmless: what reorders or hides text is shown as a sign. */
export function clean(text) {
  return String(text).replace(/\r\n?/g, "\n").replace(HARMFUL, "\ufffd");
}

/** Clean text of at most `max` characters: { text, cut } with the number left out. */
export function clip(value, max) {
  const whole = String(value);
  if (whole.length <= max) return { text: clean(whole), cut: 0 };
  let end = max;
  if ((whole.charCodeAt(end - 1) & 0xfc00) === 0xd800) end -= 1; // not through a surrogate pair
  return { text: clean(whole.slice(0, end)), cut: whole.length - end };
}

/** One line of at most `max` characters. */
export function oneLine(value, max) {
  const { text, cut } = clip(
    String(value)
      .slice(0, max * 4)
      .replace(/\s+/g, " "),
    max,
  );
  return cut > 0 || String(value).length > max * 4 ? `${text}…` : text;
}

const columnsOf = (sign) => (sign.codePointAt(0) >= 0x1100 ? 2 : 1);

/** The width of a text in columns: Chinese characters take two. */
export function widthOf(text) {
  let width = 0;
  for (const sign of text) width += columnsOf(sign);
  return width;
}

/** How much of a text, by its length, fits into `max` columns. */
export function fitting(text, max) {
  let end = 0;
  let width = 0;
  for (const sign of text) {
    width += columnsOf(sign);
    if (width > max) break;
    end += sign.length;
  }
  return end;
}

/** One line of at most `max` columns. */
export function fit(value, max) {
  const text = oneLine(value, 4 * max);
  return widthOf(text) <= max ? text : `${text.slice(0, fitting(text, max - 1))}…`;
}

/** A payload as people read it: its text, or its JSON. */
export function payloadText(payload) {
  if (payload == null) return "";
  if (typeof payload === "string") return payload;
  const keys = Object.keys(payload);
  if (keys.length === 1 && typeof payload.text === "string") return payload.text;
  return JSON.stringify(payload, null, 2);
}

/** The beginning of a payload on one line: its text, then its members by name. */
export function gist(payload, max) {
  const isObject = payload !== null && typeof payload === "object" && !Array.isArray(payload);
  const members = Object.entries(isObject ? payload : {}).slice(0, 20);
  if (members.length === 0) return oneLine(payloadText(payload), max);
  const isText = ([name, value]) => name === "text" && typeof value === "string";
  const said = ([name, value]) => `${name}: ${oneLine(payloadText(value), max)}`;
  const texts = members.filter(isText).map(([, text]) => oneLine(text, max));
  const others = members.filter((member) => !isText(member)).map(said);
  return oneLine([...texts, ...others].join(", "), max);
}

const UNITS = [
  ["d", 86400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
];

/** A duration in its largest unit alone: `2 min`. It changes less often, so it can stand still. */
export function duration(ms, unit = (name) => name) {
  if (!Number.isFinite(ms)) return "";
  const seconds = Math.floor(Math.abs(ms) / 1000);
  const [name, size] = UNITS.find(([, size]) => seconds >= size) ?? UNITS.at(-1);
  return `${Math.floor(seconds / size)} ${unit(name)}`;
}

/** ms since 1970 of a time as the API writes it, or NaN. */
export function timeMs(time) {
  return typeof time === "number" ? time : Date.parse(time);
}

// Formatters take long to make and no time to use, so each is made once.
const made = new Map();

function formatter(Kind, lang, options = {}) {
  const key = `${Kind.name} ${lang} ${Object.values(options).join(" ")}`;
  if (!made.has(key)) made.set(key, new Kind(lang, options));
  return made.get(key);
}

/** The time of day; with the date if it is not today's. */
export function clock(time, now, lang) {
  const ms = timeMs(time);
  if (Number.isNaN(ms)) return "";
  const at = new Date(ms);
  const isToday = new Date(now).toDateString() === at.toDateString();
  const hours = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
  return formatter(
    Intl.DateTimeFormat,
    lang,
    isToday ? hours : { month: "short", day: "numeric", ...hours },
  ).format(at);
}

export function number(value, lang) {
  return formatter(Intl.NumberFormat, lang).format(value);
}

/** A large number in few characters: 12.3K. */
export function compact(value, lang, more = {}) {
  const options = { notation: "compact", maximumFractionDigits: 1, ...more };
  return formatter(Intl.NumberFormat, lang, options).format(value);
}

/** Dollars, with as many digits as a small amount needs. */
export function dollars(value, lang) {
  const small = Math.abs(value) < 1;
  return formatter(Intl.NumberFormat, lang, {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
    minimumFractionDigits: small ? 4 : 2,
    maximumFractionDigits: small ? 4 : 2,
  }).format(value);
}

/** Fills `{name}` in a text. */
export function fill(text, values = {}) {
  return text.replace(/\{(\w+)\}/g, (whole, name) =>
    name in values ? String(values[name]) : whole,
  );
}
