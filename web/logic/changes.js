// The form of changes: a field for each member of what was asked, and the changes it says.

function kindOf(value) {
  if (typeof value === "string") return "text";
  if (typeof value === "number") return "number";
  if (typeof value === "boolean") return "flag";
  return "json";
}

/** The fields of a form for `body`: { name, kind, text, value }. What is no object gets one
 *  field, named "", for text or JSON. */
export function fieldsOf(body) {
  const isObject = body !== null && typeof body === "object" && !Array.isArray(body);
  if (!isObject || Object.keys(body).length === 0) {
    return [{ name: "", kind: "free", value: undefined, text: "" }];
  }
  return Object.entries(body).map(([name, value]) => {
    const kind = kindOf(value);
    return { name, kind, value, text: kind === "json" ? JSON.stringify(value) : String(value) };
  });
}

function read(field, given) {
  if (field.kind === "flag") return given === true || given === "on";
  if (field.kind === "text") return given;
  if (field.kind === "number") {
    const number = Number(given.trim().replace(/,/g, ""));
    if (given.trim() === "" || !Number.isFinite(number)) throw new Error(field.name);
    return number;
  }
  return JSON.parse(given);
}

// What is typed freely: an object of changes, or text for the member `text`.
function readFree(given) {
  const text = given.trim();
  if (/^[{[]/.test(text)) return JSON.parse(text);
  return text === "" ? {} : { text };
}

/** What was changed: { changes } with the members that differ, or { error } with the name of
 *  the field that cannot be read. */
export function readFields(fields, values) {
  const changes = {};
  for (const field of fields) {
    let value;
    try {
      if (field.kind === "free") return { changes: readFree(values[""] ?? "") };
      value = read(field, values[field.name] ?? "");
    } catch {
      return { error: field.name === "" ? "JSON" : field.name };
    }
    if (JSON.stringify(value) !== JSON.stringify(field.value)) changes[field.name] = value;
  }
  return { changes };
}
