// Reads requests of OTLP as lines of JSON { body } from stdin, and decodes each body with the
// code generated from OpenTelemetry's definitions. Prints the spans, one per line. Fails where
// the definitions know a member that was sent by another type, or do not know it.
import { createRequire } from "module";
import assert from "assert";

const require = createRequire(process.argv[2] + "/index.js");
const root = require("@opentelemetry/otlp-transformer/build/src/generated/root");
const Request = root.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;

const IDS = ["traceId", "spanId", "parentSpanId"];

// In JSON, OTLP writes ids in hexadecimal; the generated code expects base64.
function recode(request, from, to) {
  for (const resource of request.resourceSpans)
    for (const scope of resource.scopeSpans)
      for (const span of scope.spans)
        for (const id of IDS)
          if (span[id] !== undefined) span[id] = Buffer.from(span[id], from).toString(to);
  return request;
}

let text = "";
for await (const chunk of process.stdin) text += chunk;
for (const line of text.split("\n")) {
  if (line === "") continue;
  const sent = JSON.parse(JSON.parse(line).body);
  const message = Request.fromObject(recode(structuredClone(sent), "hex", "base64"));
  assert.strictEqual(Request.verify(message), null);
  const decoded = Request.decode(Request.encode(message).finish());
  const got = Request.toObject(decoded, { longs: String, bytes: String });
  assert.deepStrictEqual(recode(structuredClone(got), "base64", "hex"), sent);
  for (const resource of sent.resourceSpans) {
    const service = resource.resource.attributes.find((a) => a.key === "service.name");
    assert.ok(service.value.stringValue.length > 0);
    for (const scope of resource.scopeSpans)
      for (const span of scope.spans) console.log(JSON.stringify(span));
  }
}
