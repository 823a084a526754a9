// Validates an OpenAPI document: node openapi.mjs MODULES FILE
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(process.argv[2] + "/"));
const { Validator } = await import(
  pathToFileURL(require.resolve("@seriousme/openapi-schema-validator")).href
);
const result = await new Validator().validate(JSON.parse(readFileSync(process.argv[3], "utf8")));
if (!result.valid) {
  console.error(JSON.stringify(result.errors, null, 2));
  process.exit(1);
}
console.log("valid");
