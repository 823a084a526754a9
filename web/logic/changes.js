// The form of changes: a field for each member of what was asked, and the changes it says.

function kindOf(value) {
  if (typeof value === "string") return "text";
  if (typeof value === "number") return "number";
  if (typeof value === "boolean") return "flag";
  return "json";
}

/** The fields of a form for `body`: { name, kind, text, value }. What is no object gets one
 *  field for JSON, named "". */
export function fieldsOf(body) {
  const isObject = body !== null && typeof body === "object" && !Array.isArray(body);
  if (!isObject || Object.keys(body).length === 0) {
    return [{ name: "", kind: "json", value: undefined, text: "{\n  \n}" }];
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

/** What was changed: { changes } with the members that differ, or { error } with the name of
 *  the field that cannot be read. */
export function readFields(fields, values) {
  const changes = {};
  for (const field of fields) {
    let value;
    try {
      value = read(field, values[field.name] ?? "");
    } catch {
      return { error: field.name === "" ? "JSON" : field.name };
    }
    if (field.name === "")
      return typeof value === "object" && value !== null ? { changes: value } : { error: "JSON" };
    if (JSON.stringify(value) !== JSON.stringify(field.value)) changes[field.name] = value;
  }
  return { changes };
}
